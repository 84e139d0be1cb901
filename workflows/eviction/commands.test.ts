import { commands } from './commands.ts';
import { evictionOf, hostWith, server } from '../../test/fixtures/workflows/eviction.ts';
import type { StandingProblem } from './state.ts';

const runOf = () => ({
  state: evictionOf(hostWith(server('a'))),
  events: [],
  unpublished: false,
  readAtMs: null as number | null,
  unheard: null as { failures: number; retryAtMs: number } | null,
});
const problem: StandingProblem = {
  reason: 'TimedOut',
  message: 'No answer in time',
  failures: 3,
  retryAtMs: 9_000,
  of: 'read',
};

describe('to try again now', () => {
  test('is to read the Eviction and to report to the region now too, which wait for times of their own', () => {
    const run = { ...runOf(), readAtMs: 9_000, unheard: { failures: 2, retryAtMs: 8_000 } };
    run.state.problem = problem;
    expect(commands.retryNow(run, {}, 5_000)).toBe('Trying again: No answer in time');
    expect(run).toMatchObject({
      readAtMs: 5_000,
      unheard: { failures: 2, retryAtMs: 5_000 },
      state: { problem: { failures: 3, retryAtMs: 5_000 } },
    });
  });
  test('leaves a run alone that has no problem', () => {
    const run = runOf();
    expect(commands.retryNow(run, {}, 5_000)).toMatch(/not waiting/);
    expect(run).toEqual(runOf());
  });
});
