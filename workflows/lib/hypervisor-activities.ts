import { proxyActivities } from '@temporalio/workflow';
import type {
  HypervisorCheckActivities,
  HypervisorHostActivities,
  HypervisorObjectActivities,
  HypervisorRegionActivities,
} from '../../contracts/hypervisor/activities.ts';
import { hostChecksQueue, hostsQueue, kubernetesQueue, novaQueue } from '../../contracts/ids.ts';
import { checkCall, longCall, shortCall } from '../../contracts/policies.ts';
import { ownCluster } from './own-cluster.ts';

/**
 * The activities of the hypervisor lifecycle, bound to queue and policy. Each call takes the sentence that a person
 * reads beside it.
 */

export const hypervisorObjects = (summary: string) =>
  proxyActivities<HypervisorObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });

export const hypervisorRegion = (region: string, summary: string) =>
  proxyActivities<HypervisorRegionActivities>({ ...longCall, taskQueue: novaQueue(region, ownCluster()), summary });

export const host = (summary: string) =>
  proxyActivities<HypervisorHostActivities>({ ...shortCall, taskQueue: hostsQueue(ownCluster()), summary });

/** How often a check is tried is the plan's business. */
export const hostCheck = (summary: string, patienceMs: number | undefined) =>
  proxyActivities<HypervisorCheckActivities>({
    ...checkCall(patienceMs),
    taskQueue: hostChecksQueue(ownCluster()),
    summary,
  });
