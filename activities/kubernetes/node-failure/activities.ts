import type { NodeFailureObjectActivities } from '../../../contracts/node-failure/activities.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import type { StopGate } from '../../../runtime/stop.ts';
import type { Audit } from '../../../runtime/telemetry/audit.ts';
import { type ActivityScope, currentScope } from '../../lib/context.ts';
import type { HypervisorClient } from '../hypervisor/client.ts';
import { writeEvent } from '../lib/write-event.ts';
import { adviseEviction, withdrawAdvice } from './advise-eviction.ts';
import { claimFencing } from './claim-fencing.ts';

export interface NodeFailureObjectDependencies {
  kubernetes: Kubernetes;
  client: HypervisorClient;
  /** Of the Lease. */
  systemNamespace: string;
  /** Throws Stopped while `drover stop` is in force. */
  stopGate: StopGate;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** What the run of a node failure writes in Kubernetes besides Hypervisors, on queue `kubernetes`. */
export function createNodeFailureObjectActivities({
  kubernetes,
  client,
  systemNamespace,
  stopGate,
  audit,
  scope = currentScope,
  clock,
}: NodeFailureObjectDependencies): NodeFailureObjectActivities {
  const tools = () => ({ client, stopGate, audit, scope: scope(clock), clock });
  return {
    async claimFencing(request) {
      const { signal } = scope(clock);
      await stopGate(signal);
      return await claimFencing(kubernetes, systemNamespace, request, clock.now(), signal);
    },
    adviseEviction: (request) => adviseEviction(tools(), request),
    withdrawAdvice: (request) => withdrawAdvice(tools(), request),
    recordHypervisorEvent: ({ name, uid, type, reason, message, identity }) =>
      writeEvent(
        { client, scope: scope(clock), clock },
        { regarding: { kind: 'Hypervisor', name, uid }, type, reason, message },
        [uid, reason, ...identity],
      ),
  };
}
