import { array, assert, integer, nat, property } from 'fast-check';
import { sample, shuffle } from './sample.ts';

test('a shuffle keeps every item, and the seed decides the order', () => {
  assert(
    property(array(integer()), nat(), (items, seed) => {
      expect(shuffle(items, seed).toSorted((a, b) => a - b)).toEqual(items.toSorted((a, b) => a - b));
      expect(shuffle(items, seed)).toEqual(shuffle(items, seed));
    }),
  );
  const items = Array.from({ length: 50 }, (_, index) => index);
  expect(shuffle(items, 1)).not.toEqual(shuffle(items, 2));
});

test('a sample has every group as equally as it can', () => {
  const items = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
  const counts = (count: number) =>
    Object.fromEntries(
      [
        ...Map.groupBy(
          sample(items, count, 7, (item) => item[0]!),
          (item) => item[0]!,
        ),
      ].map(([group, those]) => [group, those.length]),
    );
  expect(counts(3)).toEqual({ a: 1, b: 1, c: 1 });
  expect(counts(5)).toEqual({ a: 2, b: 2, c: 1 });
  expect(counts(100)).toEqual({ a: 4, b: 2, c: 1 });
});
