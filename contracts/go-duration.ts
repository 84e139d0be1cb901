const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Go's durations: `1m30s`. Null: it is none. */
export function goDurationMs(text: string | undefined): number | null {
  const parts = [...(text ?? '').matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gu)];
  if (text === undefined || parts.length === 0 || parts.map(([part]) => part).join('') !== text) return null;
  return Math.round(parts.reduce((sum, [, digits, unit = '']) => sum + Number(digits) * (units[unit] ?? 0), 0));
}
