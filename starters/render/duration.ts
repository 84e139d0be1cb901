const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration as people read it: its two largest units, rounded down. `1m 20s`, `2h`, `3d 4h`, `0s`. */
export function formatDuration(durationMs: number): string {
  let restMs = Math.max(0, durationMs);
  const first = units.findIndex(([, unitMs]) => restMs >= unitMs);
  if (first === -1) return '0s';
  const parts: string[] = [];
  for (const [name, unitMs] of units.slice(first, first + 2)) {
    const count = Math.floor(restMs / unitMs);
    if (count > 0) parts.push(`${String(count)}${name}`);
    restMs -= count * unitMs;
  }
  return parts.join(' ');
}

/** How long ago an RFC 3339 time was; `-` where there is none. */
export const formatAge = (time: string | null | undefined, nowMs: number): string =>
  time === null || time === undefined ? '-' : formatDuration(nowMs - Date.parse(time));

/** `in 20s` or `1m 5s ago`. */
export function formatRelative(time: string, nowMs: number): string {
  const aheadMs = Date.parse(time) - nowMs;
  return aheadMs >= 0 ? `in ${formatDuration(aheadMs)}` : `${formatDuration(-aheadMs)} ago`;
}

/** RFC 3339 without fractions of a second, in UTC. */
export const formatTime = (time: string | number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
