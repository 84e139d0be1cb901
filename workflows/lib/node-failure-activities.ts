import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { hostsQueue, kubernetesQueue, novaQueue } from '../../contracts/ids.ts';
import type {
  NodeFailureHostActivities,
  NodeFailureObjectActivities,
  NodeFailureRegionActivities,
} from '../../contracts/node-failure/activities.ts';
import { guestWatchRoundMs, type GuestWatchActivities } from '../../contracts/node-failure/guest-watch.ts';
import { heartbeatTimeoutMs, longCall, longWait, shortCall } from '../../contracts/policies.ts';
import type { PowerActivities } from '../../contracts/node-failure/power.ts';
import { ownCluster } from './own-cluster.ts';

/**
 * The activities of a node failure, bound to queue and policy. Each call takes the sentence that users read beside it.
 */

export const failureHosts = (summary: string) =>
  proxyActivities<NodeFailureHostActivities>({ ...longCall, taskQueue: hostsQueue(ownCluster()), summary });

export const failureObjects = (summary: string) =>
  proxyActivities<NodeFailureObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });

/** Where a BMC does not answer, the plan asks it again, and says so meanwhile. */
export const power = (summary: string, deadlineMs: number) =>
  proxyActivities<PowerActivities>({
    taskQueue: hostsQueue(ownCluster()),
    startToCloseTimeout: deadlineMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { ...shortCall.retry, maximumAttempts: 2 },
    summary,
  });

/**
 * Of a host that has power: what no worker takes up in that time is not done at all, and neither is it
 * tried again later.
 */
export const powerWhileSilent = (summary: string, deadlineMs: number, freshMs: number) =>
  proxyActivities<PowerActivities>({
    taskQueue: hostsQueue(ownCluster()),
    scheduleToStartTimeout: freshMs,
    startToCloseTimeout: deadlineMs,
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { ...shortCall.retry, maximumAttempts: 1 },
    summary,
  });

export const failureRegion = (region: string, summary: string) =>
  proxyActivities<NodeFailureRegionActivities>({ ...longCall, taskQueue: novaQueue(region, ownCluster()), summary });

/**
 * What is to be done on evidence that grows old: a request that no worker takes up in that time is not made at all, and
 * is planned anew. One that was made is found by the next.
 */
export const onEvidence = (region: string, summary: string, freshMs: number) =>
  proxyActivities<Pick<NodeFailureRegionActivities, 'startEvacuation'>>({
    taskQueue: novaQueue(region, ownCluster()),
    scheduleToStartTimeout: freshMs,
    startToCloseTimeout: 30_000,
    scheduleToCloseTimeout: freshMs + 30_000,
    retry: { ...shortCall.retry, maximumAttempts: 3 },
    summary,
  });

export const failureRegionWait = (region: string, summary: string, deadlineMs: number) =>
  proxyActivities<NodeFailureRegionActivities>({
    ...longWait(deadlineMs),
    taskQueue: novaQueue(region, ownCluster()),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    summary,
  });

/** One round; a worker that dies costs the others a heartbeat time-out. */
export const guestWatch = (summary: string) =>
  proxyActivities<GuestWatchActivities>({
    ...longWait(guestWatchRoundMs),
    taskQueue: hostsQueue(ownCluster()),
    summary,
  });
