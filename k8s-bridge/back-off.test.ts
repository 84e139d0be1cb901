import { backOffMs, countFailure, reflectorBackOff } from './back-off.ts';

test.each([
  ['the first', 0, 0, 800],
  ['with jitter it may double', 0, 1, 1_600],
  ['each doubles', 1, 0, 1_600],
  ['again', 4, 0, 12_800],
  ['up to the limit', 6, 0, 30_000],
  ['which jitter may exceed', 60, 0.5, 45_000],
])('back-off: %s', (_why, failures, random, delayMs) => {
  expect(backOffMs(reflectorBackOff, failures, random)).toBe(delayMs);
});

test.each([
  ['the first', null, 0, 0],
  ['one soon after', { failures: 0, lastMs: 0 }, 119_999, 1],
  ['another', { failures: 5, lastMs: 1_000 }, 2_000, 6],
  ['one after two quiet minutes', { failures: 5, lastMs: 0 }, 120_000, 0],
])('failures: %s', (_why, count, nowMs, failures) => {
  expect(countFailure(count, nowMs, 120_000)).toEqual({ failures, lastMs: nowMs });
});
