import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import { kubernetesQueue, vsphereQueue } from '../../contracts/ids.ts';
import { longCall, longWait, shortCall } from '../../contracts/policies.ts';
import type { VirtualMachineObjectActivities, VirtualMachineVsphereActivities } from '../../contracts/virtual-machine-activities.ts';

/** The activities of the lifecycle of a virtual machine, bound to queue and policy. Each call takes the sentence that a person reads beside it. */

export const virtualMachineObjects = (summary: string) => proxyActivities<VirtualMachineObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue, summary });

export const vsphere = (vcenter: string, summary: string) => proxyActivities<VirtualMachineVsphereActivities>({ ...longCall, taskQueue: vsphereQueue(vcenter), summary });

/** A cancel is waited for: only then is it known what became of the task. */
export const vsphereTask = (vcenter: string, deadlineMs: number, summary: string) =>
  proxyActivities<Pick<VirtualMachineVsphereActivities, 'awaitTask'>>({
    ...longWait(deadlineMs),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    taskQueue: vsphereQueue(vcenter),
    summary,
  });
