import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { queuedFailure } from '../../contracts/allowance.ts';
import { bundleTestWorkflows } from '../bundle-workflows.ts';
import type { WorkflowBundle } from './simulation.ts';
import { createSimulation } from './simulation.ts';
import type { GivesUp, SlotActivities } from './slot-workflow.ts';
import { loadBundle } from './temporal/sdk.ts';

/** In which order a limit hears of a run that gives its slot up. */

let bundle: WorkflowBundle;
beforeAll(async () => {
  bundle = await loadBundle(
    await bundleTestWorkflows(join(import.meta.dirname, 'slot-workflow.ts'), ['workflows', 'contracts']),
  );
}, 1_800_000);

/** @param ask what becomes of a request, which takes 5 s to arrive */
async function use(givesUp: GivesUp, ask: () => boolean) {
  const heard: string[] = [];
  const simulation = createSimulation({
    bundle,
    seed: 1,
    serve: () => [
      {
        taskQueue: 'drover',
        activities: {
          async request() {
            await simulation.clock.sleep(5_000);
            heard.push('request');
            return ask();
          },
          release: async () => void heard.push('release'),
        } satisfies SlotActivities,
      },
    ],
  });
  const run = await simulation.client.workflow.start('useSlot', {
    workflowId: 'one',
    taskQueue: 'drover',
    args: [givesUp],
  });
  const result: unknown = await simulation.run(run.result(), 24 * 60 * 60_000);
  simulation.close();
  return { heard, result };
}

test.each<[what: string, givesUp: GivesUp, heard: string[], isHeld: boolean]>([
  ['once it is granted', 'answered', ['request', 'release'], true],
  // Else the limit would take the request, which arrives last, for a new one.
  ['while the request is on its way: it is released after that', 'meanwhile', ['request', 'release'], false],
  ['before it has asked: then it does not', 'beforeItAsks', ['release'], false],
])('%s', async (_what, givesUp, heard, isHeld) => {
  expect(await use(givesUp, () => false)).toEqual({ heard, result: { isHeld, isFailed: false } });
});

test('a run that was queued for hours asks anew, and has not failed', async () => {
  const inQueue = () => {
    throw ApplicationFailure.create({ type: queuedFailure, message: 'Waiting for a slot', nextRetryDelay: 3_600_000 });
  };
  const { heard, result } = await use('answered', inQueue);
  expect(result).toEqual({ isHeld: false, isFailed: false });
  expect(heard.filter((each) => each === 'request')).toHaveLength(6);
});
