import { evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import { type CommandName, commands, readCommand } from './commands.ts';
import { enterState, type EvictionProblem } from './state.ts';

const taken: [name: CommandName, given: unknown, read: object][] = [
  ['pause', undefined, {}],
  ['pause', null, {}],
  ['pause', { by: 'jane', reason: 'lunch' }, { by: 'jane', reason: 'lunch' }],
  ['pause', { by: null }, {}],
  ['resume', { by: 'jane', typo: 1 }, { by: 'jane' }],
  ['setParallelism', { parallelism: 0 }, { parallelism: 0 }],
  ['cancelEviction', { abort: true }, { abort: true }],
  ['retryNow', {}, {}],
];
test.each(taken)('%s takes %j', (name, given, read) => expect(readCommand(name, given)).toEqual(read));

const refused: [name: CommandName, given: unknown, words: string][] = [
  ['pause', 'now', 'pause takes a JSON object'],
  ['pause', [], 'pause takes a JSON object'],
  ['pause', { by: { name: 'jane' } }, 'pause: by must be a text of at most 1024 characters'],
  ['pause', { reason: 'x'.repeat(1_025) }, 'pause: reason must be a text of at most 1024 characters'],
  ['skipInstance', {}, 'skipInstance: instance must be a text of at most 1024 characters'],
  ['skipInstance', { instance: ['a'] }, 'skipInstance: instance must be'],
  ['setParallelism', { parallelism: '4' }, 'setParallelism: parallelism must be a whole number'],
  ['setParallelism', JSON.parse('{"__proto__": {"parallelism": 4}}'), 'setParallelism: parallelism must be'],
  ['acceptObstacle', { obstacle: 1 }, 'acceptObstacle: obstacle must be'],
  ['cancelEviction', { abort: 'yes' }, 'cancelEviction: abort must be true or false'],
];
test.each(refused)('%s refuses %j', (name, given, words) => {
  expect(() => readCommand(name, given)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringContaining(words) }),
  );
});

const runOf = () => ({
  state: evictionOf(hostWith(server('a'))),
  events: [],
  unpublished: false,
  readDueMs: null as number | null,
  failedReports: null as { failures: number; retryAtMs: number } | null,
});
const problem: EvictionProblem = {
  reason: 'TimedOut',
  message: 'No answer in time',
  failures: 3,
  retryAtMs: 9_000,
  kind: 'read',
};

describe('to try again now', () => {
  test('is to read the Eviction and to report to the region now too, which wait for times of their own', () => {
    const run = { ...runOf(), readDueMs: 9_000, failedReports: { failures: 2, retryAtMs: 8_000 } };
    run.state.problem = problem;
    expect(commands.retryNow(run, {}, 5_000)).toBe('Trying again: No answer in time');
    expect(run).toMatchObject({
      readDueMs: 5_000,
      failedReports: { failures: 2, retryAtMs: 5_000 },
      state: { problem: { failures: 3, retryAtMs: 5_000 } },
    });
  });
  test('is to look again at what is tried until the deadline', () => {
    const run = runOf();
    Object.assign(run.state.desired, { deadline: '2026-01-01T02:00:00Z', cause: 'termination' });
    enterState(theOnly(run.state), 'blocked', 900, 'locked');
    expect(commands.retryNow(run, {}, 5_000)).toBe('Trying again: what holds the rest, to try it again');
    expect(run.state.retryAsked).toBe(true);
  });
  test('leaves a run alone that has no problem', () => {
    const run = runOf();
    expect(commands.retryNow(run, {}, 5_000)).toMatch(/not waiting/);
    expect(run).toEqual(runOf());
  });
});
