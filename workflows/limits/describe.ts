import type { AllowancePhase, AllowanceProgress, SharedLimit } from '../../contracts/allowance.ts';
import { placeOf, systemOf } from '../../contracts/allowance.ts';
import { describeWindow } from './host-window.ts';
import type { Ledger } from './ledger.ts';
import { inUseOf, isRecovering, limitOf, usedElsewhere } from './ledger.ts';

export function progressOf(shared: SharedLimit, ledger: Ledger, nowMs: number): AllowanceProgress {
  const limit = ledger.world === null ? null : limitOf(ledger);
  const inUse = inUseOf(ledger);
  const phase = phaseOf(ledger, (limit ?? 0) - inUse, nowMs);
  return {
    ...shared,
    phase,
    waitingFor: waitingFor(shared)[phase],
    nextWakeUp: new Date(ledger.nextObservationMs).toISOString(),
    limit,
    limitConfigured: ledger.world?.limit ?? null,
    limitReason: ledger.adaptation?.reason ?? null,
    inUse,
    consumers: ledger.holders.map((holder) => ({
      consumer: holder.consumer,
      host: holder.host,
      want: holder.want,
      using: holder.using,
      allowance: holder.allowance,
      deadline: holder.deadline,
      closed: holder.closed,
      muteSince: holder.mute ? new Date(holder.lastRequestMs).toISOString() : null,
      since: new Date(holder.sinceMs).toISOString(),
    })),
    elsewhere: usedElsewhere(ledger),
    novaRuns: Object.fromEntries(Object.entries(ledger.windows ?? {}).map(([host, { runs }]) => [host, runs])),
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
  const {
    kind,
    phase,
    limit,
    limitConfigured,
    limitReason,
    inUse,
    consumers,
    elsewhere,
    novaRuns,
    waitingFor: what,
  } = progress;
  const inUseText =
    limit === null ? 'The limit is not known yet' : `${inUse} of ${limit} ${kind} are granted or in progress`;
  return [
    `**${phase}**: ${inUseText} ${kind === 'migrations' ? 'in' : 'at'} ${placeOf(progress)}. Waiting for ${what}.`,
    ...(limitReason === null ? [] : [`The limit is ${limit} of at most ${limitConfigured}: ${limitReason}.`]),
    kind === 'migrations' ? tableOfMigrations(consumers) : tableOfSlots(consumers),
    ...consumers.flatMap(describeMute),
    ...Object.entries(novaRuns).map(([host, runs]) => `${describeWindow(host, runs)}.`),
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

const nameOf = ({ consumer, closed, muteSince }: Consumers[number]): string =>
  closed ? `${consumer} (closed)` : muteSince === null ? consumer : `${consumer} (mute)`;

/** Its run is open: what it needs is a worker that can run it. */
const describeMute = ({ consumer, muteSince, closed }: Consumers[number]): string[] =>
  muteSince === null || closed
    ? []
    : [
        `${consumer} has not reported since ${muteSince}: nothing is granted to it. Its run is open; look there for a workflow task that fails, or a queue that no worker polls.`,
      ];

const tableOfMigrations = (consumers: Consumers): string =>
  table(
    ['consumer', 'host', 'want', 'using', 'allowance', 'since', 'deadline'],
    consumers.map((one) => [nameOf(one), one.host, one.want, one.using, one.allowance, one.since, one.deadline ?? '']),
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
