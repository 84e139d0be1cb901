const firstRetryMs = 10_000;
const longestRetryMs = 10 * 60_000;

/** Doubles from 10 s to 10 min with each failure in a row. */
export const retryAfterMs = (failures: number): number => Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1));
