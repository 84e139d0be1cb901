import * as fc from 'fast-check';
import type { Claim, DeadlineClass } from './divide.ts';
import { classOf, divide, fairShares, tiersOf } from './divide.ts';

/** A consumer that wants `want` and holds what it was told. */
const wants = (want: number, more: Partial<Claim> = {}): Claim => ({
  want,
  most: Infinity,
  allowance: 0,
  hold: more.allowance ?? 0,
  class: 2,
  deadline: null,
  joinedMs: 0,
  place: 0,
  ...more,
});
const soon = '2026-01-01T01:00:00Z';
const later = '2026-01-01T02:00:00Z';

type ShareRow = [why: string, slots: number, claims: Claim[], shares: number[]];
const shareRows: ShareRow[] = [
  ['no consumer', 8, [], []],
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
  ['no more than a host takes, and the rest goes to others', 8, [wants(8, { most: 1 }), wants(8)], [1, 7]],
  ['a host that takes one at a time wants no more than others', 1, [wants(8, { most: 1 }), wants(1)], [1, 0]],
  ['a deadline minutes away goes first, and leaves a quarter', 8, [wants(8), wants(8, { class: 0 })], [2, 6]],
  ['but no more than others want', 8, [wants(1), wants(8, { class: 0 })], [1, 7]],
  ['nor more than it wants itself', 8, [wants(8), wants(4, { class: 0 })], [4, 4]],
  ['then those with hours', 8, [wants(8), wants(8, { class: 1 }), wants(8, { class: 0 })], [1, 1, 6]],
  [
    'five minutes left go before 199 without a deadline',
    8,
    [...Array.from({ length: 199 }, () => wants(1)), wants(4, { class: 0, joinedMs: 9, place: 9 })],
    [...Array.from({ length: 199 }, (_, index) => (index < 4 ? 1 : 0)), 4],
  ],
  ['of two slots, others keep one', 2, [wants(2), wants(2, { class: 0 })], [1, 1]],
  [
    'where not even the nearer class has one each, it has the first ones',
    3,
    [wants(3), wants(3, { class: 0 }), wants(3, { class: 0 }), wants(3, { class: 0, joinedMs: 1 })],
    [0, 1, 1, 1],
  ],
  ['a single slot is the nearer class’s', 1, [wants(1), wants(1, { class: 0, place: 39 })], [0, 1]],
  ['unless the others have queued for long', 1, [wants(1), wants(1, { class: 0, place: 41 })], [1, 0]],
];

test.each<[string, string | null, DeadlineClass]>([
  ['none', null, 2],
  ['one that cannot be read', 'soon', 2],
  ['five minutes left', '2026-01-01T00:05:00Z', 0],
  ['this very moment', '2026-01-01T00:00:00Z', 0],
  ['a quarter of an hour', '2026-01-01T00:15:00Z', 0],
  ['more', '2026-01-01T00:15:01Z', 1],
  ['two hours', '2026-01-01T02:00:00Z', 1],
  ['more than that', '2026-01-01T02:00:01Z', 2],
  ['one that has passed', '2025-12-31T23:59:59Z', 1],
])('the class of a deadline: %s', (_why, deadline, expected) => {
  expect(classOf(deadline, Date.parse('2026-01-01T00:00:00Z'))).toBe(expected);
});

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
  ['none is lowered while no other asks', 8, [wants(1, { allowance: 8, hold: 8 })], [8]],
  ['nor where enough is free', 8, [wants(1, { allowance: 4, hold: 4 }), wants(4)], [4, 4]],
  ['but as soon as another asks', 8, [wants(1, { allowance: 8, hold: 8 }), wants(4)], [1, 0]],
  [
    'a lowered limit lowers, and what is in use drains',
    2,
    [wants(4, { allowance: 4, hold: 4 }), wants(4, { allowance: 4, hold: 4 })],
    [1, 1],
  ],
  ['none is raised while too much is in use', 2, [wants(4, { allowance: 1, hold: 4 }), wants(4)], [1, 0]],
  [
    'a raise to what is held anyway takes from no other',
    8,
    [wants(8, { allowance: 2, hold: 4 }), wants(8, { allowance: 4, hold: 4 })],
    [4, 4],
  ],
  ['the lowest is raised first', 5, [wants(3, { allowance: 2, hold: 2 }), wants(3, { allowance: 1, hold: 1 })], [3, 2]],
  ['no slots at all: everything is taken back', 0, [wants(4, { allowance: 4, hold: 4 })], [0]],
  [
    'a host that takes less is lowered, whether another asks or not',
    8,
    [wants(4, { allowance: 4, hold: 4, most: 1 })],
    [1],
  ],
  [
    'what it holds beyond is granted elsewhere once it is confirmed',
    5,
    [wants(4, { allowance: 1, hold: 4, most: 1 }), wants(4)],
    [1, 1],
  ],
  [
    'what is free goes to the nearer class first',
    8,
    [wants(8, { allowance: 2, hold: 6 }), wants(8, { class: 0 })],
    [2, 2],
  ],
];

test.each(divideRows)('division: %s', (_why, slots, claims, allowances) => {
  expect(divide(slots, claims)).toEqual(allowances);
});

const count = fc.nat({ max: 12 });
const claim: fc.Arbitrary<Claim> = fc
  .record({
    want: count,
    most: fc.constantFrom(1, 2, 5, Infinity),
    allowance: count,
    using: count,
    class: fc.constantFrom<DeadlineClass>(0, 1, 2),
    deadline: fc.constantFrom(null, soon, later),
    joinedMs: fc.nat({ max: 3 }),
    place: fc.nat({ max: 3 }),
  })
  .map(({ using, ...claim }) => ({ ...claim, hold: Math.max(using, claim.allowance) }));
const claims = fc.array(claim, { maxLength: 20 });
const slots = fc.integer({ min: -5, max: 40 });
const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
const wantOf = ({ want, most }: Claim): number => Math.min(want, most);

test('shares are whole, wanted, and leave nothing over', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const shares = fairShares(slots, claims);
      shares.forEach((share, index) => expect(share >= 0 && share <= wantOf(claims[index]!)).toBe(true));
      expect(sum(shares)).toBe(Math.min(Math.max(0, slots), sum(claims.map(wantOf))));
    }),
  );
});

test('of a class, no consumer is below another by more than one and wants more', () => {
  fc.assert(
    fc.property(slots, claims, (slots, claims) => {
      const shares = fairShares(slots, claims);
      for (const { indexes } of tiersOf(slots, claims)) {
        const short = indexes.filter((index) => shares[index]! < wantOf(claims[index]!)).map((index) => shares[index]!);
        if (short.length === 0) continue;
        expect(Math.max(...indexes.map((index) => shares[index]!))).toBeLessThanOrEqual(Math.min(...short) + 1);
      }
    }),
  );
});

test('a nearer class has three quarters of what there is, or what it wants; and a later one has a slot', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 }), claims, (slots, claims) => {
      const shares = fairShares(slots, claims);
      const of = (level: DeadlineClass, what: readonly number[]): number =>
        sum(what.filter((_, index) => claims[index]!.class === level));
      const wanted = claims.map(wantOf);
      const kept = slots - Math.max(1, Math.floor(slots / 4));
      // Else all queue, and who has queued for long goes first.
      if (kept < claims.filter((claim) => claim.class === 0 && wantOf(claim) > 0).length) return;
      expect(of(0, shares)).toBeGreaterThanOrEqual(Math.min(of(0, wanted), kept));
      if (slots > 0 && of(1, wanted) + of(2, wanted) > 0) expect(of(1, shares) + of(2, shares)).toBeGreaterThan(0);
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

test('without news no consumer is told anything twice', () => {
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

test('once all have confirmed, each has its share, or more that no other needs', () => {
  fc.assert(
    fc.property(fc.nat({ max: 40 }), claims, (slots, claims) => {
      let current = claims;
      // Told what is lowered, each confirms; told what is raised, each uses it.
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
