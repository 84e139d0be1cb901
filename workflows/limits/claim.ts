import type { AllowanceWanted, NumberedAnswer } from '../../contracts/allowance.ts';

/**
 * A consumer's side of an allowance: what it goes by and what it has said. Plain data and pure functions. It belongs to one run: a run
 * that continues as new leaves first (`want` 0, `using` 0) and its successor begins with a new claim.
 */
export interface Share {
  /** The answer it goes by. */
  heard: NumberedAnswer | null;
  /** Null while it takes no part. */
  said: { want: number; atMs: number; /** The most it may have used since it said so, as far as the other side knows. */ peak: number } | null;
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
  return { heard: { sequence, allowance }, said: { ...share.said, peak: Math.max(share.said.peak, allowance) } };
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
export function report(share: Share, need: Need, nowMs: number): { share: Share; said: Pick<AllowanceWanted, 'want' | 'using'> & Required<Pick<AllowanceWanted, 'heard'>> } {
  const idle = need.want === 0 && need.using === 0;
  const said = { want: need.want, atMs: nowMs, peak: holdNow(share, need) };
  return { share: idle ? noShare : { heard: share.heard, said }, said: { ...need, heard: share.heard } };
}

/**
 * The share after a report that may not have arrived: what it said counts as not said, so that it is said again. Above all a consumer that
 * wanted to leave may still be counted, by the answer that it last heard. An answer that came meanwhile proves that it did arrive.
 */
export const unsaid = (before: Share, now: Share): Share => (now.said !== null && now.heard !== before.heard ? now : before);

const holdNow = (share: Share, { using }: Need): number => Math.max(using, allowanceOf(share));
