const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const part = String.raw`(\d+(?:\.\d+)?)(ms|s|m|h)`;
/** Looked for at the beginning alone: what is no duration may be long, and is not read from each of its digits again. */
const whole = new RegExp(`^(?:${part})+$`, 'u');
const parts = new RegExp(part, 'gu');

/** Go's durations: `1m30s`. Null: it is none. */
export function goDurationMs(text: string | undefined): number | null {
  if (text === undefined || !whole.test(text)) return null;
  let sumMs = 0;
  for (const [, digits, unit = ''] of text.matchAll(parts)) sumMs += Number(digits) * (units[unit] ?? 0);
  return Math.round(sumMs);
}
