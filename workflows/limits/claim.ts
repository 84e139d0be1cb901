import type { AllowanceWanted, NumberedAnswer } from '../../contracts/allowance.ts';

/**
 * A consumer's side of an allowance: what it goes by and what it has said. Plain data and pure functions. It belongs to one run: a run
 * that continues as new leaves first (`want` 0, `using` 0) and its successor begins with a new claim.
 */
export interface Share {
  /** The answer it goes by. */
  heard: NumberedAnswer | null;
  /** Null while it takes no part. */
  said: {
    want: number;
    atMs: number;
    /** The most it may have used since it said so, as far as the other side knows. */ peak: number;
  } | null;
  /** It has said that it leaves, and nobody has confirmed that: what it is granted may be somebody else's already. */
  leaving?: true;
}

export const noShare: Share = { heard: null, said: null };

/** Start work while `using` is lower. */
export const allowanceOf = ({ heard }: Share): number => heard?.allowance ?? 0;

/** What a consumer could use and what it uses. */
export interface Need {
  want: number;
  using: number;
}

/** Slots that are wanted no more are given back together, where nobody was told to give them back. */
const fewerAfterMs = 10_000;

/** Takes in an answer. One that is older than the last, or for a membership that has ended, says nothing. */
export function hearAnswer(share: Share, { sequence, allowance }: NumberedAnswer): Share {
  if (share.said === null || sequence <= (share.heard?.sequence ?? 0)) return share;
  const heard = { sequence, allowance: share.leaving === true ? 0 : allowance };
  return { ...share, heard, said: { ...share.said, peak: Math.max(share.said.peak, allowance) } };
}

/**
 * When to report: at once where it may use less than the other side must assume (others wait for just that), where it wants more, and
 * to join or leave; soon where it wants less; else within the renewal time. Null: never.
 */
export function reportDueMs(share: Share, need: Need, renewMs: number): number | null {
  const idle = need.want === 0 && need.using === 0;
  if (share.said === null) return idle ? null : 0;
  if (idle || need.want > share.said.want || holdNow(share, need) < share.said.peak) return 0;
  return share.said.atMs + (need.want < share.said.want ? Math.min(fewerAfterMs, renewMs) : renewMs);
}

/** What to report now, and the share once it is said. */
export function report(
  share: Share,
  need: Need,
  nowMs: number,
): { share: Share; said: Pick<AllowanceWanted, 'want' | 'using'> & Required<Pick<AllowanceWanted, 'heard'>> } {
  const idle = need.want === 0 && need.using === 0;
  const said = { want: need.want, atMs: nowMs, peak: holdNow(share, need) };
  return { share: idle ? noShare : { heard: share.heard, said }, said: { ...need, heard: share.heard } };
}

/**
 * What to go by while a report is on its way. Whoever leaves uses nothing more from here on, but goes on hearing: where the report is lost
 * it still takes part, and the answers that came meanwhile count.
 */
export const onItsWay = (before: Share, after: Share): Share =>
  after.said === null
    ? { heard: before.heard && { ...before.heard, allowance: 0 }, said: before.said, leaving: true }
    : after;

/**
 * What to go by after a report that may not have arrived, or may have: it is due again. Who could not leave says with its next report that
 * it goes by nothing, and is granted anew.
 *
 * @param before the share before the report
 * @param now    the share since, with what was heard meanwhile
 */
export const unsaid = (before: Share, now: Share): Share => ({
  ...now,
  said: now.said && { ...now.said, atMs: 0, peak: Math.max(now.said.peak, before.said?.peak ?? 0) },
});

const holdNow = (share: Share, { using }: Need): number => Math.max(using, allowanceOf(share));
