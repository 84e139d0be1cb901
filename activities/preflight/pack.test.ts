import * as fc from 'fast-check';

import type { PackBin, PackItem } from './pack.ts';
import { bookInto, pack } from './pack.ts';

const item = (id: string, memory: number, change: Partial<PackItem> = {}): PackItem => ({
  id,
  needs: { MEMORY_MB: memory },
  allowed: null,
  apart: [],
  ...change,
});
const bin = (id: string, memory: number, change: Partial<PackBin> = {}): PackBin => ({
  id,
  free: { MEMORY_MB: memory },
  members: {},
  ...change,
});
const apart = [{ group: 'g', most: 1 }];

type Row = [why: string, items: PackItem[], bins: PackBin[], unplaced: string[]];
const rows: Row[] = [
  ['nothing to place', [], [bin('x', 1)], []],
  ['nowhere to go', [item('a', 1)], [], ['a']],
  ['it just fits', [item('a', 4), item('b', 4)], [bin('x', 8)], []],
  ['it just does not', [item('a', 4), item('b', 5)], [bin('x', 8)], ['a']],
  ['the sum fits, the pieces do not', [item('a', 5), item('b', 5), item('c', 5)], [bin('x', 8), bin('y', 8)], ['c']],
  ['the large ones first', [item('a', 2), item('b', 2), item('c', 6), item('d', 6)], [bin('x', 8), bin('y', 8)], []],
  [
    'every dimension counts',
    [item('a', 1, { needs: { MEMORY_MB: 1, VCPU: 5 } })],
    [bin('x', 8, { free: { MEMORY_MB: 8, VCPU: 4 } })],
    ['a'],
  ],
  [
    'a class that the host does not hold limits nothing here',
    [item('a', 1, { needs: { MEMORY_MB: 1, DISK_GB: 100 } })],
    [bin('x', 8)],
    [],
  ],
  ['only where the rules allow', [item('a', 1, { allowed: new Set(['y']) })], [bin('x', 8)], ['a']],
  [
    'the choosy one goes first',
    [item('any', 8), item('choosy', 4, { allowed: new Set(['x']) })],
    [bin('x', 8), bin('y', 8)],
    [],
  ],
  ['apart', [item('a', 1, { apart }), item('b', 1, { apart })], [bin('x', 8)], ['b']],
  ['apart, with room for both', [item('a', 1, { apart }), item('b', 1, { apart })], [bin('x', 8), bin('y', 8)], []],
  ['apart from one that is there already', [item('a', 1, { apart })], [bin('x', 8, { members: { g: 1 } })], ['a']],
];

test.each(rows)('%s', (_why, items, bins, unplaced) => {
  expect(pack(items, bins).unplaced).toEqual(unplaced);
});

test('what is booked is gone', () => {
  const bins = [bin('x', 8), bin('y', 4)];
  const items = [item('a', 5, { apart }), item('b', 4)];
  const left = bookInto(bins, items, pack(items, bins));
  expect(left).toEqual([bin('x', 3, { members: { g: 1 } }), bin('y', 0)]);
  expect(bins[0]?.free['MEMORY_MB']).toBe(8);
});

const amount = fc.integer({ min: 0, max: 20 });
const resources = fc.record({ MEMORY_MB: amount, VCPU: amount });
const anyBins = fc.uniqueArray(
  fc.record({ id: fc.constantFrom('w', 'x', 'y', 'z'), free: resources, members: fc.constant({}) }),
  { selector: ({ id }) => id },
);
const anyItems = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 3 }),
    needs: resources,
    allowed: fc.option(
      fc.subarray(['w', 'x', 'y', 'z']).map((ids) => new Set(ids)),
      { nil: null },
    ),
    apart: fc.constantFrom<PackItem['apart']>([], apart, [{ group: 'h', most: 2 }]),
  }),
  { selector: ({ id }) => id, maxLength: 12 },
);

test('what is placed fits together, where it may, and apart; the rest is named', () => {
  fc.assert(
    fc.property(anyItems, anyBins, (items, bins) => {
      const { placed, unplaced } = pack(items, bins);
      expect([...placed.keys(), ...unplaced].sort()).toEqual(items.map(({ id }) => id).sort());
      for (const { id, free } of bins) {
        const inside = items.filter((one) => placed.get(one.id) === id);
        for (const name of ['MEMORY_MB', 'VCPU'] as const)
          expect(inside.reduce((sum, { needs }) => sum + (needs[name] ?? 0), 0)).toBeLessThanOrEqual(free[name]);
        for (const one of inside) {
          expect(one.allowed === null || one.allowed.has(id)).toBe(true);
          for (const { group, most } of one.apart)
            expect(
              inside.filter((other) => other.apart.some((rule) => rule.group === group)).length,
            ).toBeLessThanOrEqual(most);
        }
      }
    }),
  );
});

test('nothing is left over that fits somewhere as things stand in the end', () => {
  fc.assert(
    fc.property(anyItems, anyBins, (items, bins) => {
      const packing = pack(items, bins);
      const left = bookInto(bins, items, packing);
      for (const id of packing.unplaced) {
        const one = items.find((candidate) => candidate.id === id)!;
        expect(pack([one], left).unplaced).toEqual([id]);
      }
    }),
  );
});

test('a room of its own for each is always found', () => {
  fc.assert(
    fc.property(anyItems, (items) => {
      const rooms = items.map(({ id, needs }) => ({ id, free: needs, members: {} }));
      const owned = items.map((one) => ({ ...one, allowed: new Set([one.id]) }));
      expect(pack(owned, rooms).unplaced).toEqual([]);
    }),
  );
});

test('the order in which things are listed does not matter', () => {
  fc.assert(
    fc.property(anyItems, anyBins, (items, bins) => {
      expect(pack(items.toReversed(), bins).placed.size).toBe(pack(items, bins).placed.size);
    }),
  );
});
