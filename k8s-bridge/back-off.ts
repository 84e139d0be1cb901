export interface BackOffLimits {
  initialMs: number;
  factor: number;
  maxMs: number;
  /** Added at random, as a share of the delay: 1 may double it. */
  jitter: number;
}

/** client-go's back-off of list and watch: 0.8 s doubling to 30 s, each with up to as much again. */
export const reflectorBackOff: BackOffLimits = { initialMs: 800, factor: 2, maxMs: 30_000, jitter: 1 };

/** Without a failure for this long, the next one counts as the first again. */
export const backOffResetMs = 120_000;

/**
 * How long to wait before trying again.
 *
 * @param failures how many came before this one
 * @param random 0 to 1
 */
export const backOffMs = (
  { initialMs, factor, maxMs, jitter }: BackOffLimits,
  failures: number,
  random: number,
): number => Math.min(initialMs * factor ** failures, maxMs) * (1 + jitter * random);

/** Counts failures that follow each other within `resetMs`. */
export interface FailureCount {
  failures: number;
  lastMs: number;
}

/** The count after one more failure, and how many came before it. */
export function countFailure(count: FailureCount | null, nowMs: number, resetMs: number): FailureCount {
  const isQuiet = count === null || nowMs - count.lastMs >= resetMs;
  return { failures: isQuiet ? 0 : count.failures + 1, lastMs: nowMs };
}
