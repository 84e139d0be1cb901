import type { WorkflowBundle } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { createTemporalActivities } from '../../activities/temporal/activities.ts';
import { SlotRequests } from '../../activities/temporal/allowance.ts';
import { workflowQueue } from '../../contracts/ids.ts';
import { labClock, setLabClock } from '../../lab/clock.ts';
import { noObjects, type OwnWorkers } from '../flows/own-workers-base.ts';
import { passTime, seed } from './worlds/flow-world.ts';
import { createSimulation } from './simulation.ts';
import { loadBundle } from './temporal/sdk.ts';

/**
 * {@link OwnWorkers} without a Temporal: one simulated worker serves all queues. Virtual time passes whenever the
 * test waits.
 */
export async function openSimulatedWorkers(workflowBundle: WorkflowBundle, longHistory?: number): Promise<OwnWorkers> {
  const simulation = createSimulation({
    bundle: await loadBundle(workflowBundle.code),
    seed,
    ...(longHistory !== undefined && { longHistory }),
    serve: ({ client, clock, random }) => [
      {
        taskQueue: workflowQueue(''),
        activities: createTemporalActivities({
          client,
          cluster: '',
          clock,
          slotRequests: new SlotRequests({ client, cluster: '', clock, random }),
          publishQueued: noObjects,
        }),
      },
    ],
  });
  const { client } = simulation;
  // A test may have another one beside it for a while.
  const before = labClock();
  const stop = passTime({ simulation });
  return {
    client,
    start: async (taskQueue, activities) => simulation.serve({ taskQueue, activities }),
    async historyOf(handle) {
      const history = await handle.fetchHistory();
      await Worker.runReplayHistory({ workflowBundle }, history, handle.workflowId);
      return history;
    },
    async close() {
      await stop();
      simulation.close();
      setLabClock(before);
    },
  };
}
