import type { AllowanceConsumer } from '../../contracts/allowance.ts';
import type { Ledger } from './ledger.ts';
import { holdOf, isRecovering, openSlots, usedElsewhere } from './ledger.ts';

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
export interface AllowanceProgress {
  region: string;
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
  /** Migrations in progress that belong to no consumer, by source host. */
  elsewhere: Record<string, number>;
}

export function progressOf(region: string, ledger: Ledger, nowMs: number): AllowanceProgress {
  const open = ledger.holders.filter(({ closed }) => !closed);
  const free = openSlots(ledger) - open.reduce((total, holder) => total + holdOf(holder), 0);
  const phase = phaseOf(ledger, free, nowMs);
  return {
    region,
    phase,
    waitingFor: waitingFor[phase],
    nextWakeUp: new Date(ledger.nextLookMs).toISOString(),
    limit: ledger.world?.limit ?? null,
    inUse: (ledger.world?.limit ?? 0) - free,
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

const waitingFor: Record<AllowancePhase, string> = {
  Looking: 'Nova’s list of migrations in progress, and every consumer’s word of what it holds',
  Sharing: 'consumers to say what they want and what they use',
  Draining: 'migrations to end: more are in progress than there may be; none is aborted',
  Unused: 'consumers; the run ends when none comes',
};

/** The same as Markdown. The frame of the Web UI is low: the sentence that matters comes first. */
export function describeProgress({ region, phase, limit, inUse, consumers, elsewhere, waitingFor }: AllowanceProgress): string {
  const taken = limit === null ? 'The limit is not known yet' : `${inUse} of ${limit} migrations are given away or in progress`;
  return [
    `**${phase}**: ${taken} in region ${region}. Waiting for ${waitingFor}.`,
    table(consumers),
    ...(Object.keys(elsewhere).length === 0 ? [] : [`Others: ${Object.entries(elsewhere).map(([host, count]) => `${host} ${count}`).join(', ')}.`]),
  ].join('\n\n');
}

function table(consumers: AllowanceProgress['consumers']): string {
  const rows = consumers.map(({ consumer, host, want, using, allowance, closed, since }) =>
    row(closed ? `${consumer} (closed)` : consumer, host, want, using, allowance, since),
  );
  return rows.length === 0 ? 'Nobody takes part.' : [row('consumer', 'host', 'want', 'using', 'allowance', 'since'), row(...Array.from({ length: 6 }, () => '---')), ...rows].join('\n');
}

const row = (...cells: (string | number)[]): string => `| ${cells.join(' | ')} |`;
