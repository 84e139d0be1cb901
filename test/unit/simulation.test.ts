import * as fc from 'fast-check';
import { mutations } from '../simulation/mutations.ts';
import { scenario } from '../simulation/scenario.ts';
import { realPlanners, simulate } from '../simulation/simulate.ts';
import { Violation } from '../simulation/watch.ts';

/** Schedules of the planners, from a fixed seed so that a run of the tests says the same each time; `npm run simulate` goes on from other seeds. */
const numRuns = 1_500;
const seed = 20_260_131;

test('whatever happens, in whatever order: the invariants hold', () => {
  fc.assert(fc.property(scenario, (one) => void simulate(one)), { numRuns, seed });
});

test('a state that went through JSON at every step comes to the same end', () => {
  fc.assert(fc.property(scenario, (one) => expect(simulate(one, { throughJson: true }).ends).toEqual(simulate(one).ends)), { numRuns: numRuns / 10, seed });
});

test('the same schedule goes the same way', () => {
  fc.assert(fc.property(scenario, (one) => expect(simulate(one)).toEqual(simulate(one))), { numRuns: 50, seed });
});

describe('a broken rule is caught:', () => {
  test.each(mutations)('$what', ({ caughtBy, broken }) => {
    const planners = { ...realPlanners, ...broken };
    const found = fc.check(
      fc.property(scenario, (one) => {
        try {
          simulate(one, { planners });
        } catch (error) {
          if (!(error instanceof Violation) || caughtBy.includes(error.invariant)) throw error;
          // Another invariant was broken by it first: that does not show that this one can be.
          return;
        }
      }),
      { numRuns: 3_000, seed, endOnFailure: true },
    );
    expect(caughtBy).toContain((found.errorInstance as Violation | undefined)?.invariant);
  });
});
