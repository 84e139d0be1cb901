import type { NodeFailureObjectActivities } from '../../../contracts/node-failure/activities.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { type ActivityContext, type ForActivities, contextOf } from '../../lib/context.ts';
import { writeEvent } from '../lib/write-event.ts';
import { adviseEviction, withdrawAdvice } from './advise-eviction.ts';
import { claimFencing, giveUpFencing } from './claim-fencing.ts';

export interface NodeFailureObjectDependencies extends ForActivities<ActivityContext> {
  kubernetes: Kubernetes;
  client: KubernetesObjects;
  /** Of the Lease. */
  systemNamespace: string;
}

/** What the run of a node failure writes in Kubernetes besides Hypervisors, on queue `kubernetes`. */
export function createNodeFailureObjectActivities(
  dependencies: NodeFailureObjectDependencies,
): NodeFailureObjectActivities {
  const tools = () => contextOf(dependencies);
  return {
    claimFencing: (request) => claimFencing(tools(), request),
    giveUpFencing: (request) => giveUpFencing(tools(), request),
    adviseEviction: (request) => adviseEviction(tools(), request),
    withdrawAdvice: (request) => withdrawAdvice(tools(), request),
    recordHypervisorEvent: ({ name, uid, type, reason, message, identity }) =>
      writeEvent(tools(), { regarding: { kind: 'Hypervisor', name, uid }, type, reason, message }, [
        uid,
        reason,
        ...identity,
      ]),
  };
}
