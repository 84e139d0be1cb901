import { proxyActivities } from '@temporalio/workflow';
import { kubernetesQueue, vsphereQueue } from '../../contracts/ids.ts';
import { shortCall, vcenterCall } from '../../contracts/policies.ts';
import type {
  ResourcePolicyObjectActivities,
  ResourcePolicyVsphereActivities,
} from '../../contracts/resource-policy/resource-policy.ts';

/** The activities on resource policies, bound to queue and policy. Each call takes the sentence that a person reads beside it. */

export const policyObject = (summary: string) =>
  proxyActivities<ResourcePolicyObjectActivities>({ ...shortCall, taskQueue: kubernetesQueue, summary });

export const policyInVcenter = (vcenter: string, summary: string) =>
  proxyActivities<ResourcePolicyVsphereActivities>({ ...vcenterCall, taskQueue: vsphereQueue(vcenter), summary });
