import type {
  AllowanceConsumer,
  AllowanceGranted,
  AllowanceObservation,
  AllowanceRequest,
  NumberedAnswer,
} from '../../contracts/allowance.ts';
import type { Adaptation } from './adapt.ts';
import { type Claim, classOf, divide } from './divide.ts';
import type { HostWindow } from './host-window.ts';

/** One member: a run that uses some of the limit, or wants to. */
export interface Holder extends Omit<AllowanceConsumer, 'acknowledged'> {
  /** Number of the last answer that it is known to have applied. */
  acknowledged: number;
  /** That answer and every later one that is lower: it may go by any of them. The last one is `allowance`. */
  answers: NumberedAnswer[];
  /** Its place in the queue while consumers outnumber the slots: lower goes first. */
  place: number;
  /** Milliseconds since the epoch: since when it has had an allowance, or has had none. */
  sinceMs: number;
  /**
   * Whether the last answer was sent, was only returned by the update that asked (which may never have arrived), could
   * not be delivered, or is to be sent again because the consumer is there after all.
   */
  delivery: 'sent' | 'returned' | 'failed' | 'again';
  /**
   * Its run is open and has not reported for so long that its lease is over: nothing is granted to it before
   * it reports again.
   */
  mute: boolean;
  /**
   * It is closed or mute, and the world was observed since: `using` is then what the world may show of it. Where that
   * is none, a closed one goes, and a mute one holds nothing.
   */
  isObserved: boolean;
  /** It has had more than one at once. */
  hasTried?: boolean;
  /** What it was last told of how many migrations Nova runs at once on its host. */
  novaRuns?: number;
  /** Of a slot, once `isObserved`: tasks that were in progress then and still are. Any of them may be its own. */
  outlivedBy?: string[];
}

/** Everything that the run which allocates knows. It is carried on when the run continues as new. */
export interface Ledger {
  holders: Holder[];
  /** Null until the outside world was read: until then nothing is granted. */
  world: AllowanceObservation | null;
  /**
   * By host, what holders accounted for since the last observation began. What the world shows beyond that
   * is no holder's.
   */
  covered: Record<string, number>;
  /** The same since the observation in progress began; null when there is none. */
  covering: Record<string, number> | null;
  /** How the limit adapts to the pace of migrations. Absent: it does not. */
  adaptation?: Adaptation | null;
  /** By source host, where Nova keeps migrations waiting, or did. */
  windows?: Record<string, HostWindow>;
  /** Of slots: tasks in progress that cannot be a holder's, as they were observed while no run had a slot. */
  foreign?: string[];
  /** Counts the observations: a holder that joins or yields goes behind all of earlier rounds. */
  round: number;
  beganMs: number;
  /** A consumer came that another ledger had answered: others may hold allowances that this one does not know yet. */
  recreated: boolean;
  /** When to observe the world next. */
  nextObservationMs: number;
  /** Since when there is no member; null while there is one. */
  unusedSinceMs: number | null;
  answersGiven: number;
}

/** What a consumer goes by that has acknowledged nothing. */
const noAnswer: NumberedAnswer = { sequence: 0, allowance: 0 };

export const newLedger = (nowMs: number): Ledger => ({
  holders: [],
  world: null,
  covered: {},
  covering: null,
  round: 0,
  beganMs: nowMs,
  recreated: false,
  nextObservationMs: nowMs,
  unusedSinceMs: nowMs,
  answersGiven: 0,
});

/** Applies a request. One of a run that is closed, or older than one already applied, is ignored. */
export function applyRequest(ledger: Ledger, report: AllowanceRequest, nowMs: number): Ledger {
  const known = ledger.holders.find(({ runId }) => runId === report.runId);
  if (known?.closed === true || (known !== undefined && isStale(known, report))) return ledger;
  const leaves = report.want === 0 && report.using === 0;
  if (known === undefined) return leaves ? ledger : join(ledger, report, nowMs);
  const others = ledger.holders.filter((holder) => holder !== known);
  return leaves
    ? withHolders(ledger, others, nowMs)
    : withHolders(
        ledger,
        ledger.holders.map((holder) => (holder === known ? applyMember(holder, report, nowMs) : holder)),
        nowMs,
      );
}

const isStale = (holder: Holder, { acknowledged }: AllowanceRequest): boolean =>
  acknowledged !== undefined && (acknowledged?.sequence ?? 0) < holder.acknowledged;

function join(ledger: Ledger, report: AllowanceRequest, nowMs: number): Ledger {
  const first = report.acknowledged ?? noAnswer;
  const { acknowledged: _, ...said } = report;
  const holder: Holder = {
    ...said,
    allowance: first.allowance,
    lastRequestMs: nowMs,
    joinedMs: nowMs,
    closed: false,
    acknowledged: first.sequence,
    answers: [first],
    place: ledger.round,
    sinceMs: nowMs,
    delivery: 'sent',
    mute: false,
    isObserved: false,
  };
  // Another run under the same id has most likely taken the place of the one that is known: find out at once.
  const replaces = ledger.holders.some(({ consumer, closed }) => consumer === report.consumer && !closed);
  return withHolders(
    {
      ...ledger,
      recreated: ledger.recreated || first.sequence > 0,
      nextObservationMs: replaces ? nowMs : ledger.nextObservationMs,
    },
    [...ledger.holders, holder],
    nowMs,
  );
}

function applyMember(holder: Holder, report: AllowanceRequest, nowMs: number): Holder {
  const { want, using, deadline, host, activity } = report;
  const answers = answersSince(holder, report.acknowledged);
  const last = answers.at(-1)!;
  return {
    ...holder,
    want,
    using,
    deadline,
    host,
    ...(activity !== undefined && { activity }),
    answers,
    acknowledged: answers[0]!.sequence,
    allowance: last.allowance,
    lastRequestMs: nowMs,
    mute: false,
    isObserved: false,
    delivery: isMissed(holder, report) ? 'again' : holder.delivery,
  };
}

/** What came by signal may still be on its way; what an update returned and its run does not know of never arrives. */
const isMissed = ({ delivery, answers }: Holder, { acknowledged }: AllowanceRequest): boolean =>
  delivery === 'failed' ||
  (delivery === 'returned' && acknowledged !== undefined && (acknowledged?.sequence ?? 0) < answers.at(-1)!.sequence);

/** The answers that it may still go by, now that it says which one it has acknowledged. */
function answersSince({ answers }: Holder, acknowledged: AllowanceRequest['acknowledged']): NumberedAnswer[] {
  const last = answers.at(-1)!;
  if (acknowledged === undefined) return [last];
  const said = acknowledged ?? noAnswer;
  // An answer that this ledger did not give comes from the one before it, and is what the consumer goes by.
  if (said.sequence > last.sequence || (said.sequence === last.sequence && said.allowance !== last.allowance))
    return [said];
  return [said, ...answers.filter(({ sequence }) => sequence > said.sequence)];
}

/** The most that a holder may be using before the next word from it. */
export const holdOf = ({ using, answers }: Holder): number =>
  Math.max(using, ...answers.map(({ allowance }) => allowance));

/** Writes the new holders down, and what they account for on their hosts. */
export function withHolders(ledger: Ledger, holders: Holder[], nowMs: number): Ledger {
  const used = accountedFor(holders);
  return {
    ...ledger,
    holders,
    covered: atLeast(ledger.covered, used),
    covering: ledger.covering && atLeast(ledger.covering, used),
    unusedSinceMs: holders.some(({ closed }) => !closed) ? null : (ledger.unusedSinceMs ?? nowMs),
  };
}

/** It may be granted something. */
export const isActive = ({ closed, mute }: Holder): boolean => !closed && !mute;

/** By host, how much of what the world shows may be the work of holders that are active. */
export function accountedFor(holders: readonly Holder[]): Record<string, number> {
  return byHost(holders.filter(isActive));
}

function byHost(holders: readonly Holder[]): Record<string, number> {
  const held: Record<string, number> = {};
  for (const holder of holders) held[holder.host] = (held[holder.host] ?? 0) + holdOf(holder);
  return held;
}

function atLeast(
  before: Readonly<Record<string, number>>,
  used: Readonly<Record<string, number>>,
): Record<string, number> {
  const after: Record<string, number> = { ...before };
  for (const [host, count] of Object.entries(used)) after[host] = Math.max(after[host] ?? 0, count);
  return after;
}

/**
 * By host, what the world uses and no active holder accounts for. What closed and mute holders left behind counts until
 * the world shows none of it, even where an active one on the same host could account for it: it may be using less than
 * it may.
 */
export function usedElsewhere({
  holders,
  world,
  covered,
  foreign = [],
}: Pick<Ledger, 'holders' | 'world' | 'covered' | 'foreign'>): Record<string, number> {
  const remains = byHost(holders.filter(({ isObserved }) => isObserved));
  const rest = Object.entries(world?.inProgress ?? {}).map(([host, inProgress]) => {
    const count = inProgress - foreign.length;
    return [
      host,
      foreign.length + Math.max(count - (covered[host] ?? 0), Math.min(count, remains[host] ?? 0)),
    ] as const;
  });
  return Object.fromEntries(rest.filter(([, count]) => count > 0));
}

/** The limit in force; 0 while it is not known. */
export const limitOf = ({ world, adaptation }: Pick<Ledger, 'world' | 'adaptation'>): number =>
  Math.min(world?.limit ?? 0, adaptation?.limit ?? Infinity);

/** What the limit leaves for the holders that are active. Negative when more is in use than there may be. */
export function openSlots(ledger: Ledger): number {
  const remains = ledger.holders.filter((holder) => !isActive(holder) && !holder.isObserved);
  return limitOf(ledger) - sum(Object.values(usedElsewhere(ledger))) - sum(remains.map(holdOf));
}

/** What may be in use at this moment: by consumers that are open, by closed ones, by others. */
export const inUseOf = (ledger: Ledger): number =>
  limitOf(ledger) - openSlots(ledger) + sum(ledger.holders.filter(isActive).map(holdOf));

/** A grant, and the run that it goes to. */
export interface Answer {
  consumer: string;
  runId: string;
  /** Of a slot: what the grant completes. */
  activity?: string;
  granted: AllowanceGranted;
}

/** Divides the limit anew. The answers are for those whose allowance has changed. */
export function allocate(ledger: Ledger, nowMs: number): { ledger: Ledger; answers: Answer[] } {
  if (ledger.world === null || isRecovering(ledger, nowMs)) return { ledger, answers: [] };
  const limit = limitOf(ledger);
  const open = ledger.holders.filter(isActive);
  const allowances = divide(
    openSlots(ledger),
    open.map((holder) => claimOf(ledger, holder, nowMs)),
  );
  const answered = open.map((holder, index) =>
    answer(holder, allowances[index]!, ledger.windows?.[holder.host]?.runs, nowMs),
  );
  const changed = answered.filter((holder, index) => holder !== open[index]);
  const leaseMs = leaseOf(ledger.world);
  const answers = changed.map(({ consumer, runId, activity, allowance, answers, novaRuns }) => ({
    consumer,
    runId,
    ...(activity !== undefined && { activity }),
    granted: {
      allowance,
      limit,
      consumers: open.length,
      sequence: answers.at(-1)!.sequence,
      ...(leaseMs !== null && { leaseMs }),
      ...(novaRuns !== undefined && { novaRuns }),
    },
  }));
  const trying = new Set(answered.filter((holder) => triesHost(ledger.world, holder)));
  const after = answered.map((holder) => (trying.has(holder) ? { ...holder, hasTried: true } : holder));
  const holders = ledger.holders.map((holder) => after[open.indexOf(holder)] ?? holder);
  return {
    ledger: {
      ...withHolders(ledger, holders, nowMs),
      answersGiven: ledger.answersGiven + answers.length,
      nextObservationMs:
        trying.size > 0 ? Math.min(ledger.nextObservationMs, nowMs + soonMs(ledger.world)) : ledger.nextObservationMs,
    },
    answers,
  };
}

/** Until the next observation, where one is wanted sooner than at the usual interval. */
export const soonMs = ({ checkMs }: AllowanceObservation): number => Math.ceil(checkMs / 3);

/**
 * For the first time it may begin several at once, and it is not known how many Nova runs of its host: that is
 * looked at soon.
 */
const triesHost = (world: AllowanceObservation | null, { allowance, hasTried }: Holder): boolean =>
  world?.tasks === undefined && allowance > 1 && hasTried !== true;

/**
 * How long a consumer may go on without a report that arrives. Null: there is no end, as those that have a slot
 * do not report.
 */
const leaseOf = ({ silentMs, tasks }: AllowanceObservation): number | null =>
  tasks === undefined ? 2 * silentMs : null;

/** So long after the last report a holder is mute: well after it has found by itself that its lease is over. */
export const muteAfterMs = (world: AllowanceObservation): number | null => {
  const leaseMs = leaseOf(world);
  return leaseMs === null ? null : leaseMs + world.silentMs;
};

/**
 * After an earlier ledger was lost, nothing is granted until every open consumer has had the time to say what it holds.
 */
export const isRecovering = ({ recreated, beganMs, world }: Ledger, nowMs: number): boolean =>
  recreated && nowMs < beganMs + (world?.silentMs ?? Infinity);

export const claimOf = ({ windows }: Pick<Ledger, 'windows'>, holder: Holder, nowMs: number): Claim => {
  const { want, allowance, deadline, joinedMs, place, host } = holder;
  return {
    want,
    most: windows?.[host]?.most ?? Infinity,
    allowance,
    class: classOf(deadline, nowMs),
    deadline,
    joinedMs,
    place,
    hold: holdOf(holder),
  };
};

/** The same holder where there is nothing to answer. */
function answer(before: Holder, allowance: number, novaRuns: number | undefined, nowMs: number): Holder {
  if (allowance === before.allowance && before.delivery !== 'again' && novaRuns === before.novaRuns) return before;
  const { novaRuns: _, ...holder } = before;
  const sequence = holder.answers.at(-1)!.sequence + 1;
  // An answer that a later one equals or exceeds says nothing about the most it may be using.
  const answers = [...holder.answers.filter((earlier) => earlier.allowance > allowance), { sequence, allowance }];
  const turned = allowance > 0 !== holder.allowance > 0;
  const sinceMs = turned ? nowMs : holder.sinceMs;
  return { ...holder, allowance, answers, delivery: 'sent', sinceMs, ...(novaRuns !== undefined && { novaRuns }) };
}

/** These answers are sent by no signal: the update that asked returns them. */
export const applyReturned = (ledger: Ledger, returned: readonly Answer[]): Ledger =>
  returned.length === 0
    ? ledger
    : {
        ...ledger,
        holders: ledger.holders.map((holder) =>
          returned.some(({ runId }) => runId === holder.runId) ? { ...holder, delivery: 'returned' as const } : holder,
        ),
      };

/** An answer did not arrive. Most likely its run is closed: find out at once. */
export function applyFailedDelivery(ledger: Ledger, { runId, granted }: Answer, nowMs: number): Ledger {
  const holders = ledger.holders.map((holder) =>
    holder.runId === runId && holder.answers.at(-1)?.sequence === granted.sequence
      ? { ...holder, delivery: 'failed' as const }
      : holder,
  );
  return { ...ledger, holders, nextObservationMs: nowMs };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * A request as it came by signal, or null when it is none: users can send signals by hand, and one with other content
 * must neither stop the run nor upset its sums.
 */
export function readRequest(value: unknown): AllowanceRequest | null {
  if (!isRecord(value)) return null;
  const { consumer, runId, want, using, deadline = null, host, activity, acknowledged } = value;
  if (!isText(consumer) || !isText(runId) || !isText(host) || !isCount(want) || !isCount(using)) return null;
  if (deadline !== null && typeof deadline !== 'string') return null;
  const report = { consumer, runId, host, want, using, deadline, ...(isText(activity) && { activity }) };
  if (acknowledged === undefined) return report;
  if (acknowledged === null) return { ...report, acknowledged };
  if (!isRecord(acknowledged) || !isCount(acknowledged['sequence']) || !isCount(acknowledged['allowance'])) return null;
  return { ...report, acknowledged: { sequence: acknowledged['sequence'], allowance: acknowledged['allowance'] } };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
