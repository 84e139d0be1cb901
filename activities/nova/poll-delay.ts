import type { PollIntervals } from '../../contracts/eviction/eviction.ts';

/** Share of the time left that passes before the next look: an estimate wrong by a third still shows the end in time. */
const leftShare = 1 / 4;

/** Share of the time gone, so that a first, crude estimate is not trusted for long. */
const goneShare = 1 / 2;

/** Share of the time gone, where nothing tells how long it will take. */
const unknownShare = 1 / 20;

/**
 * How long to wait before the next look at a migration: each look costs Nova CPU that the migrations need. Often at the start, where it
 * fails if it fails; then seldom; often again near the expected end.
 *
 * @param runningMs   how long the copy has been running; null before that
 * @param timeLeftMs  estimated time until its end, 0 or less when overdue; null when unknown
 */
export function pollDelayMs(
  runningMs: number | null,
  timeLeftMs: number | null,
  { minMs, maxMs }: PollIntervals,
): number {
  if (runningMs === null) return minMs;
  const wished =
    timeLeftMs === null ? runningMs * unknownShare : Math.min(timeLeftMs * leftShare, runningMs * goneShare);
  return Math.max(minMs, Math.min(wished, maxMs));
}

/**
 * Moves a wake-up to the common grid of all waits, so that waits that are due together share one request.
 *
 * @returns milliseconds from `nowMs`, more than 0 and at most half a grid step away from `delayMs`
 */
export function alignedDelayMs(nowMs: number, delayMs: number, gridMs: number): number {
  const at = Math.ceil((nowMs + delayMs - gridMs / 2) / gridMs) * gridMs;
  return at > nowMs ? at - nowMs : delayMs;
}
