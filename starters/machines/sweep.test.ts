import { systemClock } from '../../runtime/clock.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { followSweep } from './read-sweep.ts';
import { exitCodeOfSweep } from './sweep.ts';

test.each<[why: string, outcome: string | null, dryRun: boolean, code: number]>([
  ['nothing is left to delete', 'reconciled', false, 0],
  ['a dry run', 'observed', true, 0],
  ['nothing was deleted, as drover only observes', 'observed', false, 1],
  ['it waits for an approval', null, false, 1],
  ['a class was not swept', 'blocked', false, 1],
])('how a sweep ends: %s', (_why, outcome, dryRun, code) => {
  expect(exitCodeOfSweep(outcome, dryRun)).toBe(code);
});

/** What a run says of itself at each look, by run id; the last one of all is the last one of the id. */
async function follow(runs: Record<string, { status: string; answers?: (object | Error)[] }>) {
  let elapsedMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => elapsedMs,
    sleep: async (ms: number) => {
      elapsedMs += ms;
      if (elapsedMs > 600_000) throw new Error('followed without end');
    },
  };
  const getHandle = (_workflowId: string, runId = Object.keys(runs).at(-1) ?? '') => ({
    describe: async () => ({ runId, status: { name: runs[runId]?.status }, startTime: new Date(0) }),
    async query() {
      const answers = runs[runId]?.answers ?? [];
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      // So long is asked for it.
      if (answer instanceof Error) elapsedMs += 5_000;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    result: async () => ({ outcome: 'reconciled', reason: 'NoOrphans', message: `ended as ${runId}` }),
  });
  const said: string[] = [];
  const access = {
    ...temporalAccessTo({ workflow: { getHandle } }),
    context: { ...sampleContext(paper()), clock },
    namespace: 'default',
  };
  const followed = followSweep(access, 'shoot', { workflowId: 'orphan-sweep/shoot', runId: 'r-1' }, (message) =>
    said.push(message),
  );
  return { said, elapsedMs: () => elapsedMs, view: await followed.catch((error: unknown) => error) };
}

const answer = (message: string, waiting: { reason: string } | null = null) => ({ reason: 'R', message, waiting });
const away = new Error('no worker');

test('a sweep is followed until it waits, also for another attempt after a failure', async () => {
  const waits = answer('Waiting for another attempt: no', { reason: 'KubernetesForbidden' });
  const { said, view } = await follow({
    'r-1': { status: 'RUNNING', answers: [answer('a'), away, answer('b'), waits] },
  });
  expect(said).toEqual(['a', expect.stringMatching(/^No worker answers/u), 'b']);
  expect(view).toMatchObject({ outcome: null, waitingFor: 'KubernetesForbidden' });
});

test('a sweep that no worker answers for is not followed without end', async () => {
  const { said, view, elapsedMs } = await follow({ 'r-1': { status: 'RUNNING', answers: [answer('a'), away] } });
  expect(said).toHaveLength(2);
  expect(view).toMatchObject({ exitCode: exitCodes.unreachable, message: expect.stringMatching(/^No worker has/u) });
  expect(elapsedMs()).toBeLessThan(30_000);
});

test('a sweep that goes on as another run is followed to its end', async () => {
  const { view } = await follow({ 'r-1': { status: 'CONTINUED_AS_NEW' }, 'r-2': { status: 'COMPLETED' } });
  expect(view).toMatchObject({ runId: 'r-2', status: 'Completed', message: 'ended as r-2' });
});
