import { formatAge, formatDuration, formatRelative, formatTime } from './duration.ts';

const s = 1_000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;

test.each<[durationMs: number, text: string]>([
  [0, '0s'],
  [999, '0s'],
  [1 * s, '1s'],
  [59 * s + 999, '59s'],
  [1 * m, '1m'],
  [1 * m + 20 * s, '1m 20s'],
  [2 * h, '2h'],
  [2 * h + 59 * s, '2h'],
  [3 * d + 4 * h + 5 * m, '3d 4h'],
  [-5 * s, '0s'],
])('%d ms is %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});

test('times are shown relative to now', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  expect(formatRelative('2026-01-31T12:00:20Z', now)).toBe('in 20s');
  expect(formatRelative('2026-01-31T11:58:55Z', now)).toBe('1m 5s ago');
  expect(formatAge('2026-01-31T11:58:55.000Z', now)).toBe('1m 5s');
  expect(formatAge(null, now)).toBe('-');
  expect(formatTime('2026-01-31T12:00:00.123Z')).toBe('2026-01-31T12:00:00Z');
});
