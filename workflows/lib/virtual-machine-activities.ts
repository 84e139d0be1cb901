import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { kubernetesQueue, virtualMachinesQueue, vsphereQueue } from '../../contracts/ids.ts';
import { longWait, shortCall, vcenterCall } from '../../contracts/policies.ts';
import { type VcenterWatchActivities, vcenterWatchRoundMs } from '../../contracts/virtual-machine/vcenter-watch.ts';
import type {
  VirtualMachineObserverActivities,
  VirtualMachineObjectActivities,
  VirtualMachineVsphereActivities,
} from '../../contracts/virtual-machine/activities.ts';
import { ownCluster } from './own-cluster.ts';

/**
 * The activities of the lifecycle of a virtual machine, bound to queue and policy. Each call takes the sentence that a
 * person reads beside it.
 */

export const virtualMachineObjects = (summary: string) =>
  proxyActivities<VirtualMachineObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });

export const virtualMachineObserver = (summary: string) =>
  proxyActivities<VirtualMachineObserverActivities>({
    ...vcenterCall,
    taskQueue: virtualMachinesQueue(ownCluster()),
    summary,
  });

export const vsphere = (vcenter: string, summary: string) =>
  proxyActivities<VirtualMachineVsphereActivities>({
    ...vcenterCall,
    taskQueue: vsphereQueue(vcenter, ownCluster()),
    summary,
  });

/** A cancel is waited for: only then is it known what became of the task. */
export const vsphereTask = (vcenter: string, deadlineMs: number, summary: string) =>
  proxyActivities<Pick<VirtualMachineVsphereActivities, 'awaitTask'>>({
    ...longWait(deadlineMs),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    taskQueue: vsphereQueue(vcenter, ownCluster()),
    summary,
  });

/** One activity; a worker that dies costs a heartbeat time-out. */
export const vcenterWatch = (vcenter: string, summary: string) =>
  proxyActivities<VcenterWatchActivities>({
    ...longWait(vcenterWatchRoundMs),
    taskQueue: vsphereQueue(vcenter, ownCluster()),
    summary,
  });
