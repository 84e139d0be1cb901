import type { AllowanceConsumer, SharedLimit } from '../../contracts/allowance.ts';
import { placeOf, systemOf } from '../../contracts/allowance.ts';
import type { Ledger } from './ledger.ts';
import { inUseOf, isRecovering, usedElsewhere } from './ledger.ts';

/** What the run is doing; the search attribute DroverPhase carries it. */
export type AllowancePhase =
  /** Nothing is granted until the outside world was read, or until every consumer has reported what it holds. */
  | 'Observing'
  | 'Allocating'
  /** More is in use than there may be. */
  | 'Draining'
  /** There is no member; the run is about to end. */
  | 'Unused';

/** The answer of the query `progress`. */
export type AllowanceProgress = SharedLimit & {
  phase: AllowancePhase;
  /** What the run waits for, as a sentence. */
  waitingFor: string;
  /** RFC 3339: when the run observes the world by itself. */
  nextWakeUp: string;
  /** Null until it is known. */
  limit: number | null;
  /** What may be in use at this moment: by consumers that are open, by closed ones, by others. */
  inUse: number;
  consumers: (Pick<AllowanceConsumer, 'consumer' | 'host' | 'want' | 'using' | 'allowance' | 'deadline' | 'closed'> & {
    /** RFC 3339: since when it has had an allowance, or has had none. */
    since: string;
  })[];
  /** What is in progress and belongs to no consumer: migrations by source host, tasks by endpoint. */
  elsewhere: Record<string, number>;
};

export function progressOf(shared: SharedLimit, ledger: Ledger, nowMs: number): AllowanceProgress {
  const limit = ledger.world?.limit ?? null;
  const inUse = inUseOf(ledger);
  const phase = phaseOf(ledger, (limit ?? 0) - inUse, nowMs);
  return {
    ...shared,
    phase,
    waitingFor: waitingFor(shared)[phase],
    nextWakeUp: new Date(ledger.nextObservationMs).toISOString(),
    limit,
    inUse,
    consumers: ledger.holders.map(({ consumer, host, want, using, allowance, deadline, closed, sinceMs }) => ({
      consumer,
      host,
      want,
      using,
      allowance,
      deadline,
      closed,
      since: new Date(sinceMs).toISOString(),
    })),
    elsewhere: usedElsewhere(ledger),
  };
}

function phaseOf(ledger: Ledger, free: number, nowMs: number): AllowancePhase {
  if (ledger.unusedSinceMs !== null) return 'Unused';
  if (ledger.world === null || isRecovering(ledger, nowMs)) return 'Observing';
  return free < 0 ? 'Draining' : 'Allocating';
}

const waitingFor = (shared: SharedLimit): Record<AllowancePhase, string> => ({
  Observing:
    shared.kind === 'migrations'
      ? 'Nova’s list of migrations in progress, and the report of every consumer of what it holds'
      : `the list of ${shared.kind} in progress of ${systemOf(shared)}, and the report of every run of what it holds`,
  Allocating: 'requests of consumers',
  Draining: `${shared.kind} to end: more are in progress than there may be; none is aborted`,
  Unused: 'consumers; the run ends when none comes',
});

/** The same as Markdown. The frame of the Web UI is low: the sentence that matters comes first. */
export function describeProgress(progress: AllowanceProgress): string {
  const { kind, phase, limit, inUse, consumers, elsewhere, waitingFor: what } = progress;
  const inUseText =
    limit === null ? 'The limit is not known yet' : `${inUse} of ${limit} ${kind} are granted or in progress`;
  return [
    `**${phase}**: ${inUseText} ${kind === 'migrations' ? 'in' : 'at'} ${placeOf(progress)}. Waiting for ${what}.`,
    kind === 'migrations' ? tableOfMigrations(consumers) : tableOfSlots(consumers),
    ...(Object.keys(elsewhere).length === 0
      ? []
      : [
          `Others: ${Object.entries(elsewhere)
            .map(([host, count]) => `${host} ${count}`)
            .join(', ')}.`,
        ]),
  ].join('\n\n');
}

type Consumers = AllowanceProgress['consumers'];

const nameOf = ({ consumer, closed }: Consumers[number]): string => (closed ? `${consumer} (closed)` : consumer);

const tableOfMigrations = (consumers: Consumers): string =>
  table(
    ['consumer', 'host', 'want', 'using', 'allowance', 'since'],
    consumers.map((one) => [nameOf(one), one.host, one.want, one.using, one.allowance, one.since]),
  );

/** Those that have a slot, then those that are queued, in the order of their requests. There may be hundreds. */
function tableOfSlots(consumers: Consumers): string {
  const shown = consumers
    .slice(0, mostShown)
    .map((one) => [nameOf(one), one.allowance > 0 || one.closed ? 'has a slot' : 'queued', one.since]);
  const more = consumers.length - shown.length;
  return table(['run', 'slot', 'since'], shown) + (more > 0 ? `\n\nAnd ${more} more.` : '');
}

const mostShown = 50;

const table = (titles: string[], rows: (string | number)[][]): string =>
  rows.length === 0
    ? 'There are no consumers.'
    : [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
