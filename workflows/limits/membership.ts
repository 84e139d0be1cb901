import type { AllowanceGranted, AllowanceRequest, NumberedAnswer } from '../../contracts/allowance.ts';

/**
 * A consumer's side of an allowance: the last answer that it applied, and what it reported. Plain data and pure
 * functions. It belongs to one run: a run that continues as new leaves first (`want` 0, `using` 0), and its successor
 * joins anew.
 */
export interface Membership {
  /** The last answer that it applied, which is what it goes by. */
  acknowledged: NumberedAnswer | null;
  /** Null while it is no member. */
  reported: {
    want: number;
    atMs: number;
    /** The most it may have used since that report, as far as the other side knows. */ peak: number;
  } | null;
  /** When it sent the last report that is known to have arrived. Absent: it has sent none. */
  heardMs?: number;
  /** The answers count for so long after that. Absent: for ever. */
  leaseMs?: number;
  /**
   * It has reported that it leaves, and that is not confirmed: what it is granted may be another consumer's already.
   */
  leaving?: true;
}

export const noMembership: Membership = { acknowledged: null, reported: null };

/** Start work while `using` is lower. */
export const allowanceOf = ({ acknowledged }: Membership): number => acknowledged?.allowance ?? 0;

/** What a consumer could use and what it uses. */
export interface Need {
  want: number;
  using: number;
}

/** Slots that are wanted no more are released together, where the allowance was not lowered. */
const fewerAfterMs = 10_000;

/** Applies an answer. One that is older than the last, or for a membership that has ended, is ignored. */
export function applyAnswer(
  membership: Membership,
  { sequence, allowance, leaseMs }: NumberedAnswer & Pick<AllowanceGranted, 'leaseMs'>,
): Membership {
  const { reported, acknowledged, leaving } = membership;
  if (reported === null || sequence <= (acknowledged?.sequence ?? 0)) return membership;
  return {
    ...membership,
    ...(leaseMs !== undefined && { leaseMs }),
    acknowledged: { sequence, allowance: leaving === true ? 0 : allowance },
    reported: { ...reported, peak: Math.max(reported.peak, allowance) },
  };
}

/**
 * When to report: at once where it may use less than the other side must assume (others wait for just that), where it
 * wants more, and to join or leave; soon where it wants less; else within the renewal time. Null: never.
 */
export function reportDueMs(membership: Membership, need: Need, renewMs: number): number | null {
  const { reported } = membership;
  if (reported === null) return isIdle(need) ? null : 0;
  if (isIdle(need) || need.want > reported.want || holdNow(membership, need) < reported.peak) return 0;
  return reported.atMs + (need.want < reported.want ? Math.min(fewerAfterMs, renewMs) : renewMs);
}

/**
 * What to report now, and the membership once it has arrived. It never goes by an answer whose lease is over: reporting
 * would renew it.
 */
export function report(
  before: Membership,
  need: Need,
  nowMs: number,
): {
  membership: Membership;
  request: Pick<AllowanceRequest, 'want' | 'using'> & Required<Pick<AllowanceRequest, 'acknowledged'>>;
} {
  const membership = afterLease(before, nowMs);
  const { acknowledged, heardMs = nowMs, leaseMs } = membership;
  const reported = { want: need.want, atMs: nowMs, peak: holdNow(membership, need) };
  return {
    membership: isIdle(need)
      ? noMembership
      : { acknowledged, reported, heardMs, ...(leaseMs !== undefined && { leaseMs }) },
    request: { ...need, acknowledged },
  };
}

/**
 * A report that was sent then has arrived. It renews the lease, unless that was over before it arrived: then it may
 * have come too late.
 */
export function afterReport(before: Membership, sentMs: number, nowMs: number): Membership {
  if (before.reported === null) return before;
  return { ...afterLease(before, nowMs), heardMs: Math.max(sentMs, before.heardMs ?? sentMs) };
}

/**
 * What to go by at this moment. No report has arrived for the whole lease: what it was granted may be another's, so it
 * begins nothing more until it has reported that and was answered anew.
 */
export function afterLease(membership: Membership, nowMs: number): Membership {
  const { acknowledged, reported, heardMs, leaseMs } = membership;
  if (reported === null || heardMs === undefined || leaseMs === undefined || nowMs < heardMs + leaseMs)
    return membership;
  if (acknowledged === null || acknowledged.allowance === 0) return membership;
  return {
    ...membership,
    acknowledged: { ...acknowledged, allowance: 0 },
    reported: { ...reported, atMs: 0, peak: Math.max(reported.peak, acknowledged.allowance) },
  };
}

/**
 * What to go by while a report is on its way. A consumer that leaves begins nothing more from here on, but goes on
 * applying answers: where the report is lost it is still a member, and the answers that came meanwhile count.
 */
export const duringReport = (before: Membership, after: Membership): Membership =>
  after.reported === null
    ? {
        acknowledged: before.acknowledged && { ...before.acknowledged, allowance: 0 },
        reported: before.reported,
        leaving: true,
      }
    : after;

/**
 * What to go by after a report that may have arrived or not: it is due again. A consumer that could not leave reports
 * next that it goes by nothing, and is granted anew.
 *
 * @param before the membership before the report
 * @param now    the membership since, with the answers that were applied meanwhile
 */
export const afterLostReport = (before: Membership, now: Membership): Membership => ({
  ...now,
  reported: now.reported && {
    ...now.reported,
    atMs: 0,
    peak: Math.max(now.reported.peak, before.reported?.peak ?? 0),
  },
});

const isIdle = ({ want, using }: Need): boolean => want === 0 && using === 0;

const holdNow = (membership: Membership, { using }: Need): number => Math.max(using, allowanceOf(membership));

/**
 * A grant as it came by signal, or null when it is none: users can send signals by hand, and one with other content
 * must not stop the run.
 */
export function readGrant(value: unknown): AllowanceGranted | null {
  const { sequence, allowance, limit, consumers, leaseMs, novaRuns } = Object(value) as Record<string, unknown>;
  if (!isCount(sequence) || !isCount(allowance) || !isCount(limit) || !isCount(consumers)) return null;
  return {
    sequence,
    allowance,
    limit,
    consumers,
    ...(isCount(leaseMs) && { leaseMs }),
    ...(isCount(novaRuns) && { novaRuns }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
