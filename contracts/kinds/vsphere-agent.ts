import { agentPoolAnnotations, agentPoolConditions, vsphereAgentFinalizer } from '../agent-pool/metadata.ts';
import type { VsphereAgent } from '../crds/vsphere-agent.ts';
import { annotations, vsphereAgentId, workflowTypes } from '../ids.ts';
import { inNamespaceOf } from './fields.ts';
import { defineKind, type Watch } from './kind.ts';
import { type KubeObject, namespaceAndName } from './object.ts';
import { isReadySaid } from './ready.ts';
import { vsphereAgent, vsphereAgentPool } from './resources.ts';

/** An object may hold anything. */
interface AnyAgent {
  poolRef?: { name?: unknown } | null;
  vm?: { phase?: unknown; reason?: unknown } | null;
  iso?: { path?: unknown } | null;
}

const specOf = ({ spec }: KubeObject): AnyAgent => spec ?? {};
const statusOf = ({ status }: KubeObject): AnyAgent => status ?? {};

/** What its pool says of the VM of one that is being deleted; null of others. */
function phaseOf(object: KubeObject): string | null {
  if (object.metadata.deletionTimestamp === undefined) return null;
  const { phase = null, reason = null } = statusOf(object).vm ?? {};
  return JSON.stringify([phase, reason]);
}

const dependsOn: readonly Watch[] = [
  {
    // Its VM is made once there is an ISO.
    resource: vsphereAgentPool,
    concerns: 'unreconciled',
    index: (object) => inNamespaceOf(object, specOf(object).poolRef?.name),
    predicate: {
      generation: true,
      annotation: (key) => key === agentPoolAnnotations.forceDelete,
      fields: (pool) => ({ 'status.iso.path': { value: JSON.stringify(statusOf(pool).iso?.path ?? null) } }),
    },
  },
];

export const vsphereAgentKind = defineKind({
  ...vsphereAgent,
  mode: { default: 'off' },
  workflowType: workflowTypes.reconcileAgent,
  workflowId: (subject, cluster) => vsphereAgentId(...namespaceAndName(subject), cluster),
  input: ['namespace', 'name'],
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Make the VM of agent ${subject}`,
      details: [
        `Makes the VM of VsphereAgent **${subject}**, which boots the discovery ISO of its pool, and destroys it with the object.`,
        `What it waits for is in its condition Ready: \`kubectl describe va -n ${namespace} ${name}\`.`,
      ],
    };
  },
  finalizer: vsphereAgentFinalizer,
  predicate: {
    generation: true,
    // It boots from its disk when it is installed: the ISO goes.
    annotation: (key) =>
      key === agentPoolAnnotations.forceDelete || key === agentPoolAnnotations.installed || key === annotations.mode,
    fields: (object) => ({
      // A VM that is held back goes when its Machine has: of the phase Released, which it has before, the reason says so.
      'status.vm.phase': { value: phaseOf(object) },
    }),
  },
  isReconciled: (object: VsphereAgent, mode) => isReadySaid(object, mode, vsphereAgentFinalizer),
  condition: () => agentPoolConditions.ready,
  dependsOn: () => dependsOn,
  role: 'agent-pools',
  access: [
    {
      group: vsphereAgent.group,
      resources: ['vsphereagents'],
      verbs: ['get', 'list', 'patch'],
      why: 'patch: its finalizer, and which vCenter its VM is at.',
    },
    { group: vsphereAgent.group, resources: ['vsphereagents/status'], verbs: ['patch'], why: 'What the VM is.' },
    {
      group: vsphereAgentPool.group,
      resources: ['vsphereagentpools'],
      verbs: ['get'],
      why: 'What its VM is made of.',
    },
  ],
});
