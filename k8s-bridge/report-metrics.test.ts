import { createUnreconciledClock } from './report-metrics.ts';

const object = (reconciled: boolean, changedMs = 1_000) => ({ uid: 'a', reconciled, changedMs });
const take = (clock: ReturnType<typeof createUnreconciledClock>, objects: ReturnType<typeof object>[], nowMs: number) =>
  clock.take(objects, nowMs).get('a');

test('an object that is found first tells itself since when', () => {
  expect(take(createUnreconciledClock(), [object(false, 4_000)], 9_000)).toBe(4_000);
});

test('not since the future, where clocks differ', () => {
  expect(take(createUnreconciledClock(), [object(false, 12_000)], 9_000)).toBe(9_000);
});

test('one that was reconciled before has been unreconciled since now, whatever it says', () => {
  const clock = createUnreconciledClock();
  expect(take(clock, [object(true)], 5_000)).toBeUndefined();
  expect(take(clock, [object(false)], 6_000)).toBe(6_000);
});

test('it stays so while it is unreconciled, and begins anew after', () => {
  const clock = createUnreconciledClock();
  take(clock, [object(false, 2_000)], 5_000);
  expect(take(clock, [object(false, 5_500)], 6_000)).toBe(2_000);
  take(clock, [object(true)], 7_000);
  expect(take(clock, [object(false)], 8_000)).toBe(8_000);
});

test('what is gone is forgotten', () => {
  const clock = createUnreconciledClock();
  take(clock, [object(false, 2_000)], 5_000);
  expect(take(clock, [], 6_000)).toBeUndefined();
  expect(take(clock, [object(false, 6_500)], 7_000)).toBe(6_500);
});
