import { goDurationMs } from './go-duration.ts';

test.each([
  ['1m30s', 90_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['0s', 0],
  ['', null],
  ['10', null],
  ['1m 30s', null],
  ['-1m', null],
  ['1m30', null],
  ['m', null],
  [undefined, null],
  // From a run that is read again from each of its digits a worker would be busy for a quarter of a minute.
  ['0'.repeat(100_000), null],
])('%p', (text, durationMs) => {
  expect(goDurationMs(text)).toBe(durationMs);
});
