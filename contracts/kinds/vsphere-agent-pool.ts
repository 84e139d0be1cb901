import { agentPoolAnnotations, agentPoolConditions, agentPoolFinalizer, neighbours } from '../agent-pool/metadata.ts';
import type { VsphereAgentPool } from '../crds/vsphere-agent-pool.ts';
import { agentPoolId, annotations, workflowTypes } from '../ids.ts';
import type { Access } from './access.ts';
import { conditionsIn, field, inNamespaceOf, statusOf } from './fields.ts';
import { defineKind, type Watch } from './kind.ts';
import { type KubeObject, namespaceAndName, textOf } from './object.ts';
import { isReadySaid } from './ready.ts';
import { agent, agentMachine, clusterMachine, infraEnv, vsphereAgent, vsphereAgentPool } from './resources.ts';

/** An object may hold anything. */
interface AnySpec {
  nodePoolRef?: { name?: unknown } | null;
  infraEnvRef?: { name?: unknown } | null;
  poolRef?: { name?: unknown } | null;
}

const specOf = ({ spec }: KubeObject): AnySpec => spec ?? {};

/** AgentMachines and Machines say for which NodePool they are. */
const ofNodePool = {
  index: (pool: KubeObject) => inNamespaceOf(pool, specOf(pool).nodePoolRef?.name),
  key: ({ metadata }: KubeObject) => metadata.annotations?.[neighbours.nodePool] ?? null,
} as const;

const dependsOn: readonly Watch[] = [
  {
    ...ofNodePool,
    resource: agentMachine,
    predicate: {
      fields: (object) => ({
        'status.conditions': field(conditionsIn(object)),
        'status.agentRef': field(statusOf(object)['agentRef']),
      }),
    },
  },
  {
    ...ofNodePool,
    resource: clusterMachine,
    predicate: { fields: (object) => ({ 'status.phase': field(statusOf(object)['phase']) }) },
  },
  {
    // Any Agent of the namespace may be one that can be taken.
    resource: agent,
    index: ({ metadata: { namespace = '' } }) => [namespace],
    key: ({ metadata: { namespace = '' } }) => namespace,
    predicate: {
      generation: true,
      label: () => true,
      fields: (object) => ({
        'status.conditions': field(conditionsIn(object)),
        'status.inventory': field(identityIn(object)),
      }),
    },
  },
  {
    resource: infraEnv,
    index: (pool) => inNamespaceOf(pool, specOf(pool).infraEnvRef?.name),
    predicate: {
      fields: (object) => ({
        'status.conditions': field(conditionsIn(object)),
        'status.isoDownloadURL': field(statusOf(object)['isoDownloadURL']),
      }),
    },
  },
  {
    resource: vsphereAgent,
    // By the pool, not one by one: what fifty of them have to say is one signal.
    index: ({ metadata: { namespace = '', name } }) => [`${namespace}/${name}`],
    key: (object) => inNamespaceOf(object, specOf(object).poolRef?.name)[0] ?? null,
    predicate: {
      fields: (object) => {
        const { biosUUID, macAddress } = (statusOf(object)['vm'] ?? {}) as Record<string, unknown>;
        // What else is there of the VM, the run of the pool has written.
        return { 'status.vm': field([biosUUID, macAddress]), 'status.conditions': field(conditionsIn(object)) };
      },
    },
  },
];

/** What an Agent is recognized by. */
function identityIn(object: KubeObject): unknown[] {
  const { hostname, systemVendor, interfaces } = (statusOf(object)['inventory'] ?? {}) as Record<string, unknown>;
  const { serialNumber } = (systemVendor ?? {}) as Record<string, unknown>;
  const macs = Array.isArray(interfaces)
    ? (interfaces as ({ macAddress?: unknown } | null)[]).map((one) => textOf(one?.macAddress))
    : [];
  return [hostname, serialNumber, macs];
}

const group = vsphereAgentPool.group;

const read = (resource: { group: string; plural: string }, why: string): Access => ({
  group: resource.group,
  resources: [resource.plural],
  verbs: ['get', 'list'],
  why,
});

export const vsphereAgentPoolKind = defineKind({
  ...vsphereAgentPool,
  mode: {
    default: 'off',
    needs: { kind: 'VsphereAgent', why: 'a pool makes VsphereAgents, and their runs make the VMs' },
  },
  workflowType: workflowTypes.reconcileAgentPool,
  workflowId: (subject, cluster) => agentPoolId(...namespaceAndName(subject), cluster),
  input: ['namespace', 'name'],
  describe(subject) {
    const [namespace, name] = namespaceAndName(subject);
    return {
      summary: `Keep agent pool ${subject}`,
      details: [
        `Creates a VsphereAgent for each AgentMachine of **${subject}** that waits for one, and deletes those whose Machines are gone.`,
        `What it waits for is in the conditions: \`drover describe pool ${subject}\`, or \`kubectl describe vap -n ${namespace} ${name}\`.`,
      ],
    };
  },
  ongoing: true,
  // A hundred Agents that register change thousands of fields, and each signal is an observation of all of them.
  gatherMs: 3_000,
  finalizer: agentPoolFinalizer,
  predicate: {
    generation: true,
    annotation: (key) => Object.values<string>(agentPoolAnnotations).includes(key) || key === annotations.mode,
    finalizers: true,
  },
  isReconciled: (object: VsphereAgentPool, mode) => isReadySaid(object, mode, agentPoolFinalizer),
  condition: () => agentPoolConditions.ready,
  dependsOn: () => dependsOn,
  role: 'agent-pools',
  access: [
    {
      group,
      resources: ['vsphereagentpools'],
      verbs: ['get', 'list', 'patch'],
      why: 'patch: its finalizer and annotations. list: what another pool owns or caches is left alone.',
    },
    {
      group,
      resources: ['vsphereagentpools/status'],
      verbs: ['patch'],
      why: 'What is wanted, what there is, and why.',
    },
    {
      group,
      resources: ['vsphereagents'],
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      why: 'One for each VM that is wanted; it goes when its Machine is gone. patch: that its Agent is installed.',
    },
    { group, resources: ['vsphereagents/status'], verbs: ['patch'], why: 'Whose Agent and whose Machine the VM is.' },
    read(agentMachine, 'Who waits for an Agent.'),
    {
      group: agentMachine.group,
      resources: [agentMachine.plural],
      verbs: ['patch'],
      why: 'With agentPools.pinSelectors, or where it insists on a host already: which Agent it takes.',
    },
    read(
      clusterMachine,
      'Whether the Machine of a VM is being deleted, or gone. Never changed: what there should be is Cluster API’s to say.',
    ),
    {
      group: clusterMachine.group,
      resources: [clusterMachine.plural],
      verbs: ['delete'],
      role: 'agent-replacement',
      when: 'optional',
      why: 'One whose VM is of another template, while a VM stands ready: Cluster API drains its Node, and makes another in its place.',
    },
    read(infraEnv, 'Where the discovery ISO is.'),
    {
      group: agent.group,
      resources: [agent.plural],
      verbs: ['get', 'list', 'patch', 'delete'],
      why: 'patch: labels, role, hostname and approval. delete: an unbound one whose VM is gone.',
    },
    {
      group: '',
      resources: ['secrets'],
      verbs: ['get'],
      role: 'agent-credentials',
      when: 'optional',
      why: 'By name: the credential of the vCenter in the namespace of a pool, and the kubeconfig of its hosted cluster.',
    },
  ],
});
