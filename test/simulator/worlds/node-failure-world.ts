import { Worker } from '@temporalio/worker';
import { workflowQueue } from '../../../contracts/ids.ts';
import { setLabClock } from '../../../lab/clock.ts';
import type { FailureBase, ServedActivities } from '../../flows/node-failure/base.ts';
import { quietTemporal } from '../../quiet-temporal.ts';
import { loadWorkflows } from '../bundle.ts';
import { passTime, seed } from './flow-world.ts';
import { createSimulation } from '../simulation.ts';

/**
 * drover's workflows with the given activities, in a simulation. Its histories are replayed by Temporal's own replayer.
 */
export async function openSimulatedBase(queues: readonly ServedActivities[]): Promise<FailureBase> {
  quietTemporal();
  const bundle = await loadWorkflows();
  const simulation = createSimulation({
    bundle,
    seed,
    serve: () => [{ taskQueue: workflowQueue(''), activities: {} }, ...queues],
  });
  const stop = passTime({ simulation });
  return {
    client: simulation.client,
    replay: async (handle) =>
      Worker.runReplayHistory({ workflowBundle: bundle }, await handle.fetchHistory(), handle.workflowId),
    async close() {
      await stop();
      simulation.close();
      setLabClock(null);
    },
  };
}
