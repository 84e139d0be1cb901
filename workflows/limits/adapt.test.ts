import * as fc from 'fast-check';
import type { AllowanceObservation } from '../../contracts/allowance.ts';
import { adapt, type Adaptation } from './adapt.ts';

const mebibyte = 1_048_576;
/** What is observed where migrations copy so many MiB/s; null: it is not known. */
const at = (pace: number | null, more: Partial<AllowanceObservation> = {}): AllowanceObservation => ({
  limit: 8,
  leastLimit: 4,
  checkMs: 30_000,
  silentMs: 150_000,
  inProgress: {},
  pace: pace === null ? null : { bytesPerSecond: pace * mebibyte, migrations: 5, hosts: 4 },
  ...more,
});
const after = (...observations: AllowanceObservation[]): Adaptation | null =>
  observations.reduce<Adaptation | null>(adapt, null);
const times = (count: number, observation: AllowanceObservation) => Array.from({ length: count }, () => observation);

const lowered = [at(100), ...times(3, at(40))];

type Row = [why: string, observations: AllowanceObservation[], limit: number, reason: RegExp | null];
const rows: Row[] = [
  ['they copy well', times(20, at(100)), 8, null],
  ['nothing is known', times(20, at(null)), 8, null],
  ['they are slow once, or twice', [at(100), at(40), at(40), at(100)], 8, null],
  [
    'they are slow together',
    lowered,
    6,
    /^lowered, as 5 migrations from 4 hosts copy 40 MiB\/s each, less than half of the 94 MiB\/s that they had$/u,
  ],
  ['and go on to be', [...lowered, ...times(3, at(30))], 5, /^lowered, as .* copy 30 MiB/u],
  ['never below the least', [at(1_000), ...times(60, at(1))], 4, /^lowered/u],
  [
    'well again',
    [...lowered, ...times(2, at(90))],
    7,
    /^raised, as 5 migrations from 4 hosts copy 90 MiB\/s each again$/u,
  ],
  ['and for good', [...lowered, ...times(4, at(90))], 8, null],
  ['neither slow nor well', [...lowered, ...times(6, at(55))], 6, /^lowered/u],
  [
    'nothing is known any more',
    [...lowered, ...times(4, at(null))],
    7,
    /^raised, as nothing shows that migrations slow each other down$/u,
  ],
  ['slow for so long that it is what the network has', [at(100), ...times(100, at(40))], 8, null],
  [
    'one guest is slow by itself',
    [at(100), ...times(9, at(1, { pace: { bytesPerSecond: 1, migrations: 1, hosts: 1 } }))],
    8,
    null,
  ],
  ['one host is', [at(100), ...times(9, at(1, { pace: { bytesPerSecond: 1, migrations: 4, hosts: 1 } }))], 8, null],
  ['the settings have lowered it', [...lowered, at(40, { limit: 5 })], 5, null],
];

test.each(rows)('%s', (_why, observations, limit, reason) => {
  const found = after(...observations);
  expect(found?.limit).toBe(limit);
  if (reason === null) expect(found?.reason).toBeNull();
  else expect(found?.reason).toMatch(reason);
});

test.each<[string, Partial<AllowanceObservation>]>([
  ['no least', { leastLimit: undefined as never }],
  ['the same least', { leastLimit: 8 }],
  ['a higher one', { leastLimit: 9 }],
])('it does not adapt where the settings have %s', (_why, more) => {
  expect(after(at(100, more), ...times(9, at(1, more)))).toBeNull();
});

test('whatever is observed: within the bounds, one step at a time, and with a reason where it is not what the settings say', () => {
  const observation = fc.record({
    limit: fc.integer({ min: 1, max: 12 }),
    leastLimit: fc.integer({ min: 1, max: 12 }),
    pace: fc.option(
      fc.record({
        bytesPerSecond: fc.nat({ max: 1_000 }),
        migrations: fc.integer({ min: 1, max: 9 }),
        hosts: fc.integer({ min: 1, max: 5 }),
      }),
    ),
  });
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 60, size: 'max' }), (observations) => {
      let known: Adaptation | null = null;
      for (const one of observations) {
        known = adapt(known, { ...at(null), ...one });
        if (known === null) continue;
        expect(known.limit).toBeLessThanOrEqual(one.limit);
        expect(known.limit).toBeGreaterThanOrEqual(Math.min(one.limit, one.leastLimit));
        if (known.limit === one.limit) expect(known.reason).toBeNull();
      }
    }),
  );
});

test('once nothing is slow any more, it is what the settings say again', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1_000 }), { maxLength: 40 }), (paces) => {
      expect(after(...paces.map((pace) => at(pace)), ...times(40, at(null)))).toMatchObject({ limit: 8, reason: null });
    }),
  );
});
