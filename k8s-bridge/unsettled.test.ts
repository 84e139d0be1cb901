import { createUnsettledClock } from './unsettled.ts';

const object = (settled: boolean, changedMs = 1_000) => ({ uid: 'a', settled, changedMs });
const look = (clock: ReturnType<typeof createUnsettledClock>, objects: ReturnType<typeof object>[], nowMs: number) =>
  clock.look(objects, nowMs).get('a');

test('at the first look, an object tells itself since when', () => {
  expect(look(createUnsettledClock(), [object(false, 4_000)], 9_000)).toBe(4_000);
});

test('not since the future, where clocks differ', () => {
  expect(look(createUnsettledClock(), [object(false, 12_000)], 9_000)).toBe(9_000);
});

test('one that was settled at the look before has been unsettled since this one, whatever it says', () => {
  const clock = createUnsettledClock();
  expect(look(clock, [object(true)], 5_000)).toBeUndefined();
  expect(look(clock, [object(false)], 6_000)).toBe(6_000);
});

test('it stays so while it is unsettled, and begins anew after', () => {
  const clock = createUnsettledClock();
  look(clock, [object(false, 2_000)], 5_000);
  expect(look(clock, [object(false, 5_500)], 6_000)).toBe(2_000);
  look(clock, [object(true)], 7_000);
  expect(look(clock, [object(false)], 8_000)).toBe(8_000);
});

test('what is gone is forgotten', () => {
  const clock = createUnsettledClock();
  look(clock, [object(false, 2_000)], 5_000);
  expect(look(clock, [], 6_000)).toBeUndefined();
  expect(look(clock, [object(false, 6_500)], 7_000)).toBe(6_500);
});
