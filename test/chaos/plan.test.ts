import { assert, integer, nat, property } from 'fast-check';
import { planChaos } from './plan.ts';

test('the seed decides the plan', () => {
  assert(property(nat(), (seed) => expect(planChaos(seed, 120_000)).toEqual(planChaos(seed, 120_000))));
  expect(planChaos(1, 120_000)).not.toEqual(planChaos(2, 120_000));
});

test('everything begins in time, and only strikes of one moment meet', () => {
  assert(
    property(nat(), integer({ min: 10_000, max: 600_000 }), (seed, durationMs) => {
      const { strikes, deeds } = planChaos(seed, durationMs);
      for (const { atMs } of [...strikes, ...deeds]) expect(atMs).toBeLessThan(durationMs);
      for (const [index, strike] of strikes.entries()) {
        const next = strikes[index + 1];
        if (next === undefined) continue;
        if (next.atMs === strike.atMs) expect(next.target).not.toBe(strike.target);
        else expect(next.atMs).toBeGreaterThan(strike.atMs + strike.forMs);
      }
    }),
  );
});

test('in half an hour everything is struck in every way', () => {
  const { strikes, deeds } = planChaos(7, 1_800_000);
  expect(new Set(strikes.map(({ target, how }) => `${target} ${how}`)).size).toBe(11);
  expect(new Set(deeds.map(({ what }) => what)).size).toBe(6);
});
