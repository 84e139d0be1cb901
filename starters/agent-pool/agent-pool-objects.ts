import { agentPoolAnnotations } from '../../contracts/agent-pool/metadata.ts';
import { readHeld } from '../../contracts/agent-pool/planned-actions.ts';
import { type VsphereAgentPool, vsphereAgentPoolSchema } from '../../contracts/crds/vsphere-agent-pool.ts';
import { type VsphereAgent, vsphereAgentSchema } from '../../contracts/crds/vsphere-agent.ts';
import { annotations } from '../../contracts/ids.ts';
import { vsphereAgent, vsphereAgentPool } from '../../contracts/kinds/resources.ts';
import { typed } from '../../runtime/kubernetes/resources.ts';
import { isObjectName } from '../command/object-reference.ts';
import type {
  AgentPoolObject,
  IsoVersion,
  ListedCounts,
  PoolIso,
  PoolVm,
  VsphereAgentObject,
} from './agent-pool-object.ts';

/** VsphereAgentPools and VsphereAgents as people are shown them. */
export const shownPools = typed(vsphereAgentPool, vsphereAgentPoolSchema.transform(describePool));
export const shownAgents = typed(vsphereAgent, vsphereAgentSchema.transform(describeAgent));

type Status = NonNullable<VsphereAgentPool['status']>;
type OwnedVm = NonNullable<Status['ownedVMs']>[number];

function describePool({ metadata, spec, status = {} }: VsphereAgentPool): AgentPoolObject {
  return {
    ...describeMetadata(metadata),
    conditions: status.conditions ?? [],
    nodePool: spec.nodePoolRef.name,
    controlPlaneNamespace: spec.controlPlaneNamespace,
    infraEnv: spec.infraEnvRef.name,
    deletes: spec.cleanupPolicy === 'Delete',
    approved: readApproved(metadata.annotations?.[agentPoolAnnotations.approvedDeletions]),
    counts: describeCounts(status),
    iso: describeIso(status.iso),
    vms: (status.ownedVMs ?? []).map(describeVm),
    held: (status.plannedActions ?? []).flatMap(describeHeld),
  };
}

function describeAgent({ metadata, spec, status = {} }: VsphereAgent): VsphereAgentObject {
  return {
    ...describeMetadata(metadata),
    conditions: status.conditions ?? [],
    pool: spec.poolRef.name,
    vm: status.vm === undefined ? null : describeVm(status.vm),
  };
}

const describeMetadata = (metadata: VsphereAgentPool['metadata']) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
  uid: metadata.uid,
  generation: metadata.generation,
  resourceVersion: metadata.resourceVersion,
  createdAt: metadata.creationTimestamp,
  deleting: metadata.deletionTimestamp !== undefined,
  observed: metadata.annotations?.[annotations.mode] === 'observe',
});

const readApproved = (text = ''): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

function describeCounts(status: Status): ListedCounts | null {
  const { waitingAgentMachines: waiting, availableAgents: available = 0, ownedVMs = [] } = status;
  if (waiting === undefined) return null;
  const provisioning = ownedVMs.filter(({ phase }) => phase === 'Provisioning').length;
  return {
    agentMachines: status.agentMachines ?? 0,
    waiting,
    available,
    bound: status.boundAgents ?? 0,
    wanted: Math.max(0, waiting - available - provisioning),
    provisioning,
    vms: ownedVMs.length,
  };
}

function describeIso(iso: Status['iso']): PoolIso | null {
  if (iso?.path === undefined) return null;
  const version = ({ path, sizeBytes, uploadedAt }: { path: string } & Partial<typeof iso>): IsoVersion => ({
    path,
    sizeBytes: sizeBytes ?? null,
    uploadedAt: uploadedAt ?? null,
  });
  return {
    ...version({ ...iso, path: iso.path }),
    checkedAt: iso.checkedAt ?? null,
    history: (iso.history ?? []).map(version),
  };
}

const describeVm = ({ name, phase, reason, lastTransitionTime, agentRef, machineRef }: OwnedVm): PoolVm => ({
  vm: name,
  phase: phase ?? null,
  reason: reason ?? null,
  since: lastTransitionTime ?? null,
  agent: agentRef?.name ?? null,
  machine: machineRef?.name ?? null,
});

/** A deletion that is held says for what it waits; one that is under way names its cause alone. */
function describeHeld(action: NonNullable<Status['plannedActions']>[number]): AgentPoolObject['held'] {
  const held = readHeld(action);
  return held === null || !isObjectName(held.name) ? [] : [held];
}
