import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { SlotLimit } from '../../contracts/allowance.ts';
import type {
  AllowanceActivities,
  EvictionHostActivities,
  EvictionObjectActivities,
  InstanceActivities,
  TemporalActivities,
  SlotActivities,
} from '../../contracts/eviction/activities.ts';
import { kubernetesQueue, novaQueue, volumesQueue, vsphereQueue, workflowQueue } from '../../contracts/ids.ts';
import { longCall, longWait, patientWait, shortCall, slotCall } from '../../contracts/policies.ts';
import { ownCluster } from './own-cluster.ts';

/**
 * The activities of every outside system, bound to its queue and policy. Each call takes the sentence that a person
 * reads beside it in the Web UI.
 */

export const kubernetes = (summary: string) =>
  proxyActivities<EvictionObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });

/** For waits of hours, which hold no place in the queue. */
export const kubernetesWait = (summary: string, deadlineMs: number) =>
  proxyActivities<EvictionObjectActivities>({
    ...patientWait(deadlineMs),
    taskQueue: kubernetesQueue(ownCluster()),
    summary,
  });

type Nova = EvictionHostActivities & InstanceActivities & AllowanceActivities;

export const nova = (region: string, summary: string) =>
  proxyActivities<Nova>({ ...shortCall, taskQueue: novaQueue(region, ownCluster()), summary });

/** For reads of many pages: a preflight of a large region. */
export const novaSurvey = (region: string, summary: string) =>
  proxyActivities<Nova>({ ...longCall, taskQueue: novaQueue(region, ownCluster()), summary });

/** A wait that is cancelled ends before anything else happens to the same server. */
export const novaWait = (region: string, summary: string, deadlineMs: number) =>
  proxyActivities<Nova>({
    ...longWait(deadlineMs),
    taskQueue: novaQueue(region, ownCluster()),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary,
  });

export const temporal = (summary: string) =>
  proxyActivities<TemporalActivities>({ ...shortCall, taskQueue: workflowQueue(ownCluster()), summary });

/** For a slot that may be waited for. An attempt that is cancelled may still say so in the object. */
export const slotQueue = (summary: string) =>
  proxyActivities<Pick<TemporalActivities, 'acquireSlot'>>({
    ...slotCall,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    taskQueue: workflowQueue(ownCluster()),
    summary,
  });

export const slots = (limit: SlotLimit, summary: string) =>
  proxyActivities<SlotActivities>({
    ...shortCall,
    taskQueue: limit.kind === 'clones' ? volumesQueue(ownCluster()) : vsphereQueue(limit.vcenter, ownCluster()),
    summary,
  });
