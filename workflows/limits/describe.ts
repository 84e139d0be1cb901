import type { AllowanceConsumer, SharedLimit } from '../../contracts/allowance.ts';
import { placeOf } from '../../contracts/allowance.ts';
import type { Ledger } from './ledger.ts';
import { inUseOf, isRecovering, usedElsewhere } from './ledger.ts';

/** What the run is doing; the search attribute DroverPhase carries it. */
export type AllowancePhase =
  /** Nothing is granted until the outside world was read, or until everybody has said what they hold. */
  | 'Looking'
  | 'Sharing'
  /** More is in use than there may be. */
  | 'Draining'
  /** Nobody takes part; the run is about to end. */
  | 'Unused';

/** The answer of the query `progress`. */
export type AllowanceProgress = SharedLimit & {
  phase: AllowancePhase;
  /** What the run waits for, as a sentence. */
  waitingFor: string;
  /** RFC 3339: when the run looks at the world by itself. */
  nextWakeUp: string;
  /** Null until it is known. */
  limit: number | null;
  /** What may be in use at this moment: by consumers that are open, by closed ones, by others. */
  inUse: number;
  consumers: (Pick<AllowanceConsumer, 'consumer' | 'host' | 'want' | 'using' | 'allowance' | 'deadline' | 'closed'> & {
    /** RFC 3339: since when it has had an allowance, or has had none. */
    since: string;
  })[];
  /** What is in progress and belongs to no consumer: migrations by source host, tasks by vCenter. */
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
    nextWakeUp: new Date(ledger.nextLookMs).toISOString(),
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
  if (ledger.world === null || isRecovering(ledger, nowMs)) return 'Looking';
  return free < 0 ? 'Draining' : 'Sharing';
}

const waitingFor = (shared: SharedLimit): Record<AllowancePhase, string> => ({
  Looking:
    shared.kind === 'migrations'
      ? 'Nova’s list of migrations in progress, and every consumer’s word of what it holds'
      : 'vCenter’s list of tasks in progress, and every run’s word of what it holds',
  Sharing: 'consumers to say what they want and what they use',
  Draining: `${shared.kind} to end: more are in progress than there may be; none is aborted`,
  Unused: 'consumers; the run ends when none comes',
});

/** The same as Markdown. The frame of the Web UI is low: the sentence that matters comes first. */
export function describeProgress(progress: AllowanceProgress): string {
  const { kind, phase, limit, inUse, consumers, elsewhere, waitingFor: what } = progress;
  const taken =
    limit === null ? 'The limit is not known yet' : `${inUse} of ${limit} ${kind} are given away or in progress`;
  return [
    `**${phase}**: ${taken} ${kind === 'migrations' ? 'in' : 'at'} ${placeOf(progress)}. Waiting for ${what}.`,
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

/** Those that have their turn, then those that wait for it: who came first comes first. There may be hundreds. */
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
    ? 'Nobody takes part.'
    : [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
