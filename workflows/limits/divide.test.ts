import * as fc from 'fast-check';
import type { Claim } from './divide.ts';
import { divide, fairShares } from './divide.ts';

/** A consumer that wants `want` and holds what it was told. */
const wants = (want: number, more: Partial<Claim> = {}): Claim => ({
  want,
  allowance: 0,
  hold: more.allowance ?? 0,
  deadline: null,
  joinedMs: 0,
  place: 0,
  ...more,
});
const soon = '2026-01-01T01:00:00Z';
const later = '2026-01-01T02:00:00Z';

type ShareRow = [why: string, slots: number, claims: Claim[], shares: number[]];
const shareRows: ShareRow[] = [
  ['nobody', 8, [], []],
  ['one alone has what it wants', 8, [wants(3)], [3]],
  ['one alone has all there is', 8, [wants(20)], [8]],
  ['equals share equally', 8, [wants(8), wants(8)], [4, 4]],
  ['the modest are served first, the rest is shared', 8, [wants(1), wants(9), wants(9)], [1, 4, 3]],
  ['what cannot be halved goes to who came first', 7, [wants(9, { joinedMs: 2 }), wants(9, { joinedMs: 1 })], [3, 4]],
  ['or to the nearer deadline', 7, [wants(9, { deadline: later }), wants(9, { deadline: soon, joinedMs: 1 })], [3, 4]],
  ['a deadline is nearer than none', 1, [wants(1), wants(1, { deadline: later })], [0, 1]],
  ['one that cannot be read is none', 1, [wants(1), wants(1, { deadline: 'soon' })], [1, 0]],
  [
    'where slots are short the place in the queue decides',
    1,
    [wants(1, { place: 1, deadline: soon }), wants(1)],
    [0, 1],
  ],
  ['the place decides nothing else', 3, [wants(9, { place: 1, deadline: soon }), wants(9)], [2, 1]],
  ['who wants nothing gets nothing', 8, [wants(0), wants(1)], [0, 1]],
  ['no slots', 0, [wants(1)], [0]],
  ['fewer than none', -3, [wants(1)], [0]],
];

test.each(shareRows)('fair shares: %s', (_why, slots, claims, shares) => {
  expect(fairShares(slots, claims)).toEqual(shares);
});

type DivideRow = [why: string, slots: number, claims: Claim[], allowances: number[]];
const divideRows: DivideRow[] = [
  ['free slots are granted at once', 8, [wants(4)], [4]],
  ['who joins gets what is free, and the other is lowered', 8, [wants(8, { allowance: 6, hold: 6 }), wants(8)], [4, 2]],
  [
    'what was lowered is not granted before it is confirmed',
    8,
    [wants(8, { allowance: 4, hold: 8 }), wants(8)],
    [4, 0],
  ],
  ['each confirmation is granted on', 8, [wants(8, { allowance: 4, hold: 6 }), wants(8)], [4, 2]],
  ['nobody is lowered whom nobody asks', 8, [wants(1, { allowance: 8, hold: 8 })], [8]],
  ['nor where enough is free', 8, [wants(1, { allowance: 4, hold: 4 }), wants(4)], [4, 4]],
  ['but as soon as somebody asks', 8, [wants(1, { allowance: 8, hold: 8 }), wants(4)], [1, 0]],
  [
    'a lowered limit lowers, and what is in use drains',
    2,
    [wants(4, { allowance: 4, hold: 4 }), wants(4, { allowance: 4, hold: 4 })],
    [1, 1],
  ],
  ['nobody is raised while too much is in use', 2, [wants(4, { allowance: 1, hold: 4 }), wants(4)], [1, 0]],
  [
    'a raise to what is held anyway takes from nobody',
    8,
    [wants(8, { allowance: 2, hold: 4 }), wants(8, { allowance: 4, hold: 4 })],
    [4, 4],
  ],
  ['the lowest is raised first', 5, [wants(3, { allowance: 2, hold: 2 }), wants(3, { allowance: 1, hold: 1 })], [3, 2]],
  ['no slots at all: everything is taken back', 0, [wants(4, { allowance: 4, hold: 4 })], [0]],
];

test.each(divideRows)('division: %s', (_why, slots, claims, allowances) => {
  expect(divide(slots, claims)).toEqual(allowances);
});

const count = fc.nat({ max: 12 });
const claim: fc.Arbitrary<Claim> = fc
  .record({
    want: count,
    allowance: count,
    using: count,
    deadline: fc.constantFrom(null, soon, later),
    joinedMs: fc.nat({ max: 3 }),
    place: fc.nat({ max: 3 }),
  })
  .map(({ using, ...claim }) => ({ ...claim, hold: Math.max(using, claim.allowance) }));
const claims = fc.array(claim, { maxLength: 20 });
const slots = fc.integer({ min: -5, max: 40 });
const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

test('shares are whole, wanted, and leave nothing over', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const shares = fairShares(slots, claims);
      shares.forEach((share, index) => expect(share >= 0 && share <= claims[index]!.want).toBe(true));
      expect(sum(shares)).toBe(Math.min(Math.max(0, slots), sum(claims.map(({ want }) => want))));
    }),
  );
});

test('nobody is below another by more than one and wants more', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const shares = fairShares(slots, claims);
      const short = shares.filter((share, index) => share < claims[index]!.want);
      if (short.length > 0) expect(Math.max(...shares)).toBeLessThanOrEqual(Math.min(...short) + 1);
    }),
  );
});

test('what is decided never takes the holds over the slots', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const before = sum(claims.map(({ hold }) => hold));
      const after = sum(divide(slots, claims).map((allowance, index) => Math.max(allowance, claims[index]!.hold)));
      expect(after).toBeLessThanOrEqual(Math.max(slots, before));
    }),
  );
});

test('without news nobody is told anything twice', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const first = divide(slots, claims);
      const told = claims.map((claim, index) => ({
        ...claim,
        allowance: first[index]!,
        hold: Math.max(claim.hold, first[index]!),
      }));
      expect(divide(slots, told)).toEqual(first);
    }),
  );
});

test('once everybody has confirmed, everybody has the share, or more that nobody needs', () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), claims, (slots, claims) => {
      let current = claims;
      // Told what is lowered, everybody confirms; told what is raised, everybody uses it.
      for (let pass = 0; pass < 3; pass += 1) {
        const allowances = divide(slots, current);
        current = current.map((claim, index) => ({
          ...claim,
          allowance: allowances[index]!,
          hold: allowances[index]!,
        }));
      }
      const shares = fairShares(slots, current);
      const held = current.map(({ allowance }) => allowance);
      held.forEach((allowance, index) => expect(allowance).toBeGreaterThanOrEqual(shares[index]!));
      expect(sum(held)).toBeLessThanOrEqual(slots);
    }),
  );
});
