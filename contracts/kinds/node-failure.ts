import { fencingLease, nodeFailureId, nodeLeaseNamespace, workflowTypes } from '../ids.ts';
import { leaseAccess } from './access.ts';
import type { RunRow } from './kind.ts';

/** It has no object of its own: what it finds is a condition of the Hypervisor. */
export const nodeFailureRun: RunRow = {
  kind: 'NodeFailure',
  workflowType: workflowTypes.handleNodeFailure,
  workflowId: nodeFailureId,
  input: ['hypervisor'],
  host: (hypervisor) => hypervisor,
  describe: (hypervisor) => ({
    summary: `Judge whether ${hypervisor} has failed`,
    details: [
      `Judges whether compute host **${hypervisor}** has failed. A dead one is fenced and evacuated, on evidence only; who may give it is in docs/node-failure.md.`,
      `What was found, and what to type, is in the condition \`NodeFailure\`: \`kubectl describe hypervisor ${hypervisor}\`.`,
    ],
  }),
  access: [
    ...leaseAccess(fencingLease, 'Who may fence a failed host, so that one is fenced at a time.'),
    {
      group: 'coordination.k8s.io',
      resources: ['leases'],
      verbs: ['get'],
      namespace: nodeLeaseNamespace,
      why: 'When the kubelet of a host that seems to have failed was last heard of.',
    },
  ],
};
