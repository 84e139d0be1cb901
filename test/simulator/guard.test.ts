import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import { createSampleActivities } from './samples/activities.ts';
import { bundleSamples } from './samples/bundle.ts';
import { createSimulation } from './simulation.ts';
import type { WorkflowBundle } from './temporal/sdk.ts';
import { loadBundle } from './temporal/sdk.ts';

let bundle: WorkflowBundle;
beforeAll(async () => {
  bundle = await loadBundle(await bundleSamples());
}, 1_800_000);

const waits: Record<string, () => Promise<unknown>> = {
  'a timer of the machine': () => delay(1),
  'a time-out of the machine': async () => AbortSignal.timeout(1_000),
  'a file': () => readFile(import.meta.filename),
  'a thread': () => promisify(gzip)('text'),
  'another turn of the event loop': () => new Promise(setImmediate),
};

test.each(Object.entries(waits))('an activity that waits for %s fails the simulation, by its name', async (_, wait) => {
  const activities = { ...createSampleActivities([]), note: wait };
  const simulation = createSimulation({ bundle, seed: 1, serve: () => [{ taskQueue: 'samples', activities }] });
  await simulation.client.workflow.start('patches', { workflowId: 'patches', taskQueue: 'samples', args: [] });
  await expect(simulation.run(undefined, 60_000)).rejects.toThrow(
    /^The activity note of patches waits for something outside of virtual time \(\w+\)$/u,
  );
  simulation.close();
});

test('an activity may pack something, as that waits for nothing', async () => {
  const activities = { ...createSampleActivities([]), note: async () => void gzipSync('text') };
  const simulation = createSimulation({ bundle, seed: 1, serve: () => [{ taskQueue: 'samples', activities }] });
  const run = await simulation.client.workflow.start('patches', {
    workflowId: 'patches',
    taskQueue: 'samples',
    args: [],
  });
  await simulation.run(run.result(), 60_000);
  simulation.close();
});

test('what the test itself waits for is its own business', async () => {
  const simulation = createSimulation({ bundle, seed: 1, serve: () => [] });
  const enough = new AbortController();
  const hour = delay(3_600_000, undefined, { signal: enough.signal });
  await expect(simulation.run(hour, 0)).rejects.toThrow('What is waited for has not come');
  enough.abort();
});

const forget = async (where: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'samples/forget.ts'),
    where,
  ]);
  return stdout;
};

test('a rejection that an activity forgets fails the simulation, and shows where it comes from', async () => {
  const words = await forget('activity');
  expect(words).toContain('Simulated code has left a rejection unhandled: forgotten by an activity');
  expect(words).toContain('forget.ts');
});

test('a rejection that a workflow forgets fails its task', async () => {
  expect(await forget('workflow')).toContain('task: Unhandled Promise rejection: Error: forgotten');
});
