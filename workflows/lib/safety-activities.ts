import { proxyActivities } from '@temporalio/workflow';
import { machinesQueue } from '../../contracts/ids.ts';
import { type OvershootActivities, overshootRoundMs } from '../../contracts/machine-safety/overshoot.ts';
import { type ApiServerSafetyActivities, safetyRoundMs } from '../../contracts/machine-safety/watch-api-servers.ts';
import { longCall, longWait } from '../../contracts/policies.ts';
import { ownCluster } from './own-cluster.ts';

/**
 * The activities of API-server safety and of the overshoot freeze, bound to queue and policy. Each call takes the
 * sentence that users read beside it.
 */

/** One round; a worker that dies costs a heartbeat time-out. */
export const apiServerProbe = (summary: string) =>
  proxyActivities<Pick<ApiServerSafetyActivities, 'probeApiServers'>>({
    ...longWait(safetyRoundMs),
    taskQueue: machinesQueue(ownCluster()),
    summary,
  });

export const machineReset = (summary: string) =>
  proxyActivities<Pick<ApiServerSafetyActivities, 'resetUnknownMachines'>>({
    ...longCall,
    taskQueue: machinesQueue(ownCluster()),
    summary,
  });

/** One round; a worker that dies costs a heartbeat time-out. */
export const overshootCheck = (summary: string) =>
  proxyActivities<OvershootActivities>({
    ...longWait(overshootRoundMs),
    taskQueue: machinesQueue(ownCluster()),
    summary,
  });
