/**
 * Leaves rejections unhandled, as the argument says, and prints what becomes of that: a process of its own, because a
 * test runner handles them.
 */
import { bundleSamples } from './bundle.ts';
import { createSampleActivities } from './activities.ts';
import { createSimulation } from '../simulation.ts';
import { loadBundle } from '../temporal/sdk.ts';

const [where] = process.argv.slice(2);
const taskQueue = 'samples';
const forgetful = {
  async note() {
    void Promise.reject(new Error('forgotten by an activity'));
    return 'noted';
  },
};
const activities = { ...createSampleActivities([]), ...forgetful };
const simulation = createSimulation({
  bundle: await loadBundle(await bundleSamples()),
  seed: 1,
  serve: () => [{ taskQueue, activities }],
});
const type = where === 'workflow' ? 'forgetsPromise' : 'patches';
await simulation.client.workflow.start(type, { workflowId: type, taskQueue, args: [] });
try {
  await simulation.run(undefined, 5_000);
  console.log(
    simulation
      .runs()
      .flatMap(({ taskFailures }) => taskFailures.map(({ message }) => `task: ${message ?? ''}`))
      .join('\n'),
  );
} catch (error) {
  console.log(`simulation: ${(error as Error).message}; ${String(((error as Error).cause as Error).stack)}`);
}
