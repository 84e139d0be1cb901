import type { AgentMachine } from '../crds/agent-machine.ts';
import type { Agent } from '../crds/agent.ts';
import type { ClusterMachine } from '../crds/cluster-machine.ts';
import type { VsphereAgentPool } from '../crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../crds/vsphere-agent.ts';
import { macOf, uuidOf } from './identity.ts';
import {
  agentPoolAnnotations,
  agentPoolLabels,
  neighbours,
  surge,
  type VmPhase,
  vmPhases,
  type VmReason,
  vmReasons,
} from './metadata.ts';
import { templateDigest } from './name-agents.ts';

/** What a pool is judged on, of each object no more than decisions need. Times are Unix ms. */

export interface PoolFacts {
  namespace: string;
  name: string;
  uid: string;
  hostedCluster: string;
  infraEnv: string;
  controlPlaneNamespace: string;
  /** `namespace/name`. */
  nodePool: string;
  labels: Readonly<Record<string, string>>;
  role: string;
  approves: boolean;
  namePrefix: string;
  deleting: boolean;
  /** False: `Retain`. */
  deletes: boolean;
  /** VMs go though their Machines are there. */
  force: boolean;
  /** VMs of another template that are replaced. */
  replaces: 'none' | 'available' | 'all';
  /** What a user has approved of (approvals.ts). */
  approved: readonly string[];
  digest: string;
}

/** By name, and by uid where it is known. */
export interface Named {
  name: string;
  uid: string | null;
}

export interface AgentMachineFact {
  name: string;
  /** `namespace/name`; null: it is of none. */
  nodePool: string | null;
  createdMs: number;
  deleting: boolean;
  isReady: boolean;
  /** There is no suitable Agent for it. */
  isWaiting: boolean;
  /** It has one, of whatever namespace. */
  hasAgent: boolean;
  /** Name of its Agent in the namespace of the pool. */
  agent: string | null;
  /** The Machine that owns it. */
  machine: Named | null;
  selector: LabelSelector;
}

export interface LabelSelector {
  matchLabels: Readonly<Record<string, string>>;
  matchExpressions: readonly { key: string; operator: string; values: readonly string[] }[];
}

export interface MachineFact {
  name: string;
  uid: string;
  isDeleting: boolean;
}

export interface AgentFact {
  name: string;
  uid: string;
  createdMs: number;
  deleting: boolean;
  labels: Readonly<Record<string, string>>;
  infraEnvs: readonly string[];
  /** The AgentMachine that has taken it; its namespace is null where it does not say. */
  agentMachine: { namespace: string | null; name: string } | null;
  clusterDeployment: string | null;
  /** It is connected, valid, and not being bound. */
  isWell: boolean;
  isApproved: boolean;
  /** It is written to its disk. */
  isInstalled: boolean;
  role: string | null;
  /** Set, or found out. */
  hostname: string | null;
  setHostname: string | null;
  uuid: string | null;
  macs: readonly string[];
}

/** A VsphereAgent, of any pool of the namespace. */
export interface VmFact {
  name: string;
  uid: string;
  pool: string;
  createdMs: number;
  deleting: boolean;
  /** That it was made for, as a label has it. */
  agentMachine: string | null;
  /** It was made to stand ready. */
  isSurge: boolean;
  /** As it is to be called. */
  vmName: string;
  /** As its run has found it called. */
  foundName: string | null;
  biosUuid: string | null;
  mac: string | null;
  agentRef: Named | null;
  machineRef: Named | null;
  phase: VmPhase | null;
  reason: VmReason | null;
  /** When the phase began. */
  sinceMs: number;
  /** Since when its VM is there and on; null: it is not. */
  readyMs: number | null;
  /** Since when another user's VM is in its place; null: none is. */
  displacedMs: number | null;
  /** Since when its run says that its VM is not there and on, and why; null: it says no such thing. */
  unready: { sinceMs: number; reason: string; message: string } | null;
  /** Null: it is not known what it was made of. */
  digest: string | null;
  force: boolean;
}

/** Reasons of Ready where a VM that is not drover's has the name or the UUID. */
const displacements: readonly string[] = ['VirtualMachineNameTaken', 'VirtualMachineNotOwned'];

/** A Node of the hosted cluster. */
export interface NodeFact {
  name: string;
  systemUuid: string | null;
  providerId: string | null;
}

const timeOf = (text: string | undefined, otherwise: number): number => {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? otherwise : ms;
};

export const isTrue = (annotations: Record<string, string> | undefined, key: string): boolean =>
  annotations?.[key] === 'true';

export function readPool({ metadata, spec }: VsphereAgentPool): PoolFacts {
  const { annotations } = metadata;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    hostedCluster: spec.hostedClusterRef.name,
    infraEnv: spec.infraEnvRef.name,
    controlPlaneNamespace: spec.controlPlaneNamespace,
    nodePool: `${metadata.namespace ?? ''}/${spec.nodePoolRef.name}`,
    labels: spec.agent.labels,
    role: spec.agent.role,
    approves: spec.agent.approve,
    namePrefix: spec.template.namePrefix ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    deletes: spec.cleanupPolicy === 'Delete',
    force: isTrue(annotations, agentPoolAnnotations.forceDelete),
    replaces: readReplaces(annotations?.[agentPoolAnnotations.replaceDrifted]),
    approved: (annotations?.[agentPoolAnnotations.approvedDeletions] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    digest: templateDigest(spec),
  };
}

/** What is no such word replaces nothing. */
function readReplaces(text: string | undefined): PoolFacts['replaces'] {
  if (text === 'all') return 'all';
  return text === 'true' || text === 'available' ? 'available' : 'none';
}

type Conditions = NonNullable<NonNullable<AgentMachine['status']>['conditions']>;

/** Whether any of the same type says so: an older version of the kind has two lists. */
const says = (conditions: Conditions, type: string, status: string, reason?: string): boolean =>
  conditions.some(
    (one) => one.type === type && one.status === status && (reason === undefined || one.reason === reason),
  );

const noSuitableAgents = 'NoSuitableAgents';
const providerPrefix = 'agent://';

const nameOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

export function readAgentMachine(
  { metadata, spec, status }: AgentMachine,
  { namespace }: Pick<PoolFacts, 'namespace'>,
): AgentMachineFact {
  const conditions = [...(status?.conditions ?? []), ...(status?.v1beta2?.conditions ?? [])];
  const reference = nameOf(status?.agentRef?.name);
  const provided = spec?.providerID?.startsWith(providerPrefix) === true ? spec.providerID : null;
  const isElsewhere = (status?.agentRef?.namespace ?? namespace) !== namespace;
  const owner = metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === 'Machine' && nameOf(apiVersion)?.startsWith('cluster.x-k8s.io/') === true,
  );
  const machine = nameOf(owner?.['name']);
  return {
    name: metadata.name,
    nodePool: metadata.annotations?.[neighbours.nodePool] ?? null,
    createdMs: timeOf(metadata.creationTimestamp, 0),
    deleting: metadata.deletionTimestamp !== undefined,
    isReady: says(conditions, 'Ready', 'True'),
    isWaiting:
      says(conditions, 'Ready', 'False', noSuitableAgents) ||
      says(conditions, 'AgentReserved', 'False', noSuitableAgents),
    hasAgent: reference !== null || provided !== null,
    agent: isElsewhere ? null : (reference ?? nameOf(provided?.slice(providerPrefix.length))),
    machine: machine === null ? null : { name: machine, uid: owner?.uid ?? null },
    selector: readSelector(spec?.agentLabelSelector),
  };
}

/** An object may have a `toString` that is no function. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function readSelector(selector: object | null | undefined): LabelSelector {
  const { matchLabels, matchExpressions } = (selector ?? {}) as {
    matchLabels?: Record<string, string> | null;
    matchExpressions?: { key?: unknown; operator?: unknown; values?: unknown }[] | null;
  };
  return {
    matchLabels: matchLabels ?? {},
    matchExpressions: (matchExpressions ?? []).map(({ key, operator, values }) => ({
      key: textOf(key),
      operator: textOf(operator),
      values: Array.isArray(values) ? values.map(textOf) : [],
    })),
  };
}

export const readMachine = ({ metadata, status }: ClusterMachine): MachineFact => ({
  name: metadata.name,
  uid: metadata.uid,
  isDeleting: metadata.deletionTimestamp !== undefined || status?.phase === 'Deleting',
});

export function readAgent({ metadata, spec, status }: Agent): AgentFact {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const conditions = status?.conditions ?? [];
  const infraEnvs = [
    labels[neighbours.infraEnv],
    ...ownerReferences.flatMap((owner) => (owner.kind === 'InfraEnv' ? [owner['name']] : [])),
  ];
  const agentMachine = nameOf(labels[neighbours.agentMachineRef]);
  const setHostname = nameOf(spec?.hostname);
  return {
    name: metadata.name,
    uid: metadata.uid,
    createdMs: timeOf(metadata.creationTimestamp, 0),
    deleting: metadata.deletionTimestamp !== undefined,
    labels,
    infraEnvs: infraEnvs.flatMap((name) => nameOf(name) ?? []),
    agentMachine:
      agentMachine === null
        ? null
        : { namespace: nameOf(annotations[neighbours.agentMachineRefNamespace]), name: agentMachine },
    clusterDeployment: nameOf(spec?.clusterDeploymentName?.name),
    isWell:
      says(conditions, 'Connected', 'True') &&
      says(conditions, 'Validated', 'True') &&
      !says(conditions, 'Bound', 'True') &&
      // What it is unbound from, it still runs: it boots the ISO again first.
      !conditions.some(({ type, reason = '' }) => type === 'Bound' && reason.startsWith('Unbinding')),
    isApproved: spec?.approved === true,
    isInstalled: says(conditions, 'Installed', 'True'),
    role: nameOf(spec?.role),
    hostname: setHostname ?? nameOf(status?.inventory?.hostname),
    setHostname,
    uuid: uuidOf(status?.inventory?.systemVendor?.serialNumber),
    macs: (status?.inventory?.interfaces ?? []).flatMap(({ macAddress }) => macOf(macAddress) ?? []),
  };
}

/** Of a list of names that both sides know. */
const oneOf = <Name extends string>(names: readonly Name[], text: string | undefined): Name | null =>
  names.find((name) => name === text) ?? null;

export function readVsphereAgent({ metadata, spec, status }: VsphereAgent): VmFact {
  const { labels = {}, annotations = {} } = metadata;
  const createdMs = timeOf(metadata.creationTimestamp, 0);
  const vm = status?.vm;
  const reference = (given: { name?: string | undefined; uid?: string | undefined } | undefined): Named | null => {
    const name = nameOf(given?.name);
    return name === null ? null : { name, uid: nameOf(given?.uid) };
  };
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    uid: metadata.uid,
    pool: spec.poolRef.name,
    createdMs,
    deleting: metadata.deletionTimestamp !== undefined,
    agentMachine: nameOf(labels[agentPoolLabels.agentMachine]),
    isSurge: labels[agentPoolLabels.createdFor] === surge,
    vmName: nameOf(annotations[agentPoolAnnotations.vmName]) ?? nameOf(vm?.name) ?? metadata.name,
    foundName: nameOf(vm?.name),
    biosUuid: uuidOf(vm?.biosUUID),
    mac: macOf(vm?.macAddress),
    agentRef: reference(vm?.agentRef),
    machineRef: reference(vm?.machineRef),
    phase: oneOf(vmPhases, vm?.phase),
    reason: oneOf(vmReasons, vm?.reason),
    sinceMs: timeOf(vm?.lastTransitionTime, createdMs),
    readyMs: ready?.status === 'True' ? timeOf(ready.lastTransitionTime, createdMs) : null,
    displacedMs:
      ready?.status === 'False' && displacements.includes(ready.reason)
        ? timeOf(ready.lastTransitionTime, createdMs)
        : null,
    unready:
      ready?.status === 'False'
        ? { sinceMs: timeOf(ready.lastTransitionTime, createdMs), reason: ready.reason, message: ready.message }
        : null,
    digest: nameOf(annotations[agentPoolAnnotations.templateDigest]),
    force: isTrue(annotations, agentPoolAnnotations.forceDelete),
  };
}
