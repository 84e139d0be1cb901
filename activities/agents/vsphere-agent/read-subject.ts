import { isSameUuid, uuidOf } from '../../../contracts/agent-pool/identity.ts';
import { isBound } from '../../../contracts/agent-pool/match-agents.ts';
import { agentPoolAnnotations, neighbours } from '../../../contracts/agent-pool/metadata.ts';
import { readAgent } from '../../../contracts/agent-pool/pool-facts.ts';
import { vmIdentityOf } from '../../../contracts/agent-pool/vm-identity.ts';
import type { Agent } from '../../../contracts/crds/agent.ts';
import type { VsphereAgentInput } from '../../../contracts/agent-pool/vsphere-agent.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Resource } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { finalFailure } from '../../lib/wait.ts';
import type { AgentOfVm } from '../vcenter/agent-vm-spec.ts';
import type { VsphereAgentTools } from './dependencies.ts';

export type OfAgent = VsphereAgentInput & { uid: string };

export interface Subject {
  agent: AgentOfVm;
  vmName: string;
  pool: VsphereAgentPool;
  /** In the datastore of ISOs; null: there is none yet. */
  isoPath: string | null;
  /** Id of the vCenter at which its VM was made, as the object says; null: none was made, or it is not known. */
  vcenterId: string | null;
  /** Of a VM that is to be destroyed: Agents that run on it and are not bound. Without it they are no hosts. */
  unbound: readonly Agent[];
}

/** What is read of an object before its VM is changed. */
type Reading = Pick<VsphereAgentTools, 'client' | 'scope'>;

/**
 * What a change of the VM is made by, as it is right now.
 *
 * @returns null: there is nothing to change any more, as the object is another one, is being deleted, or has no pool
 */
export async function readSubject(reading: Reading, request: OfAgent): Promise<Subject | null> {
  const object = await readObject(reading, request);
  if (object === null || object.metadata.deletionTimestamp !== undefined) return null;
  const pool = await readPool(reading, object);
  return pool === null ? null : subjectOf(request, object, pool);
}

/**
 * The same, for a VM that is to be destroyed.
 *
 * @returns null: the object is another one
 * @throws VirtualMachineConflict, for good: it was decided on something that does not hold any more, and the VM stays
 */
export async function readSubjectToDestroy(reading: Reading, request: OfAgent): Promise<Subject | null> {
  const object = await readObject(reading, request);
  if (object === null) return null;
  const pool = await readPool(reading, object);
  const stays = (why: string): Error =>
    finalFailure(
      droverFailure(
        'VirtualMachineConflict',
        `The VM of VsphereAgent ${request.namespace}/${request.name} stays: ${why}`,
      ),
    );
  if (object.metadata.deletionTimestamp === undefined) throw stays('it is not being deleted');
  if (pool === null) throw stays('its pool is not there');
  if (pool.spec.cleanupPolicy !== 'Delete') throw stays('its pool retains what it has made');
  const { machine, agents } = await findUsers(reading, object, pool);
  const bound = findBound(agents);
  if (!isForced(object, pool)) {
    if (machine !== null) throw stays(`its Machine ${machine} is there`);
    if (bound !== undefined) throw stays(`its Agent ${bound.metadata.name} is bound`);
  }
  return { ...subjectOf(request, object, pool), unbound: agents.filter((agent) => !isBound(readAgent(agent))) };
}

async function readObject({ client, scope }: Reading, { namespace, name, uid }: OfAgent): Promise<VsphereAgent | null> {
  const object = await client.get(resources.VsphereAgent, { namespace, name }, scope.signal);
  return object?.metadata.uid === uid ? object : null;
}

const subjectOf = ({ namespace, name, uid }: OfAgent, object: VsphereAgent, pool: VsphereAgentPool): Subject => ({
  agent: { namespace, name, uid },
  vmName: vmNameOf(object),
  pool,
  isoPath: pool.status?.iso?.path || null,
  vcenterId: vcenterIdOf(object),
  unbound: [],
});

export const vcenterIdOf = ({ metadata }: Pick<VsphereAgent, 'metadata'>): string | null =>
  metadata.annotations?.[agentPoolAnnotations.vcenterId] || null;

export const readPool = (
  { client, scope }: Reading,
  { metadata: { namespace = '' }, spec }: VsphereAgent,
): Promise<VsphereAgentPool | null> =>
  client.get(resources.VsphereAgentPool, { namespace, name: spec.poolRef.name }, scope.signal);

const isTrue = (metadata: VsphereAgent['metadata']): boolean =>
  metadata.annotations?.[agentPoolAnnotations.forceDelete] === 'true';

/** Its VM goes though its Machine is there. */
export const isForced = (
  object: Pick<VsphereAgent, 'metadata'>,
  pool: Pick<VsphereAgentPool, 'metadata'> | null,
): boolean => isTrue(object.metadata) || (pool !== null && isTrue(pool.metadata));

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/u;

/** Also the hostname of the guest. @throws InvalidObject */
export function vmNameOf({ metadata: { name, annotations = {} } }: Pick<VsphereAgent, 'metadata'>): string {
  const vmName = annotations[agentPoolAnnotations.vmName] ?? name;
  if (dnsLabel.test(vmName)) return vmName;
  throw droverFailure(
    'InvalidObject',
    `VsphereAgent ${name}: the name of its VM (${agentPoolAnnotations.vmName}), ${vmName.slice(0, 100)}, is no host name: at most 63 lower-case letters, digits and -`,
  );
}

/** Who uses the VM of a VsphereAgent. */
export interface VmUsers {
  /** Its Machine, if it is there still: `namespace/name`. Where none is recorded, that of the Agent that runs on it. */
  machine: string | null;
  /** The Agents that run on it; empty while its Machine is there: nothing depends on them then. */
  agents: Agent[];
}

/** @throws where it cannot be known, also as a kind is not there */
export async function findUsers(
  reading: Reading,
  object: Pick<VsphereAgent, 'metadata' | 'status'>,
  pool: Pick<VsphereAgentPool, 'spec'> | null,
): Promise<VmUsers> {
  const machine = await findMachine(reading, object, pool);
  if (machine === 'gone' || machine === 'unknown') {
    const { client, scope } = reading;
    const { namespace, uid } = object.metadata;
    const agents = await client.list(neighbourResources.Agent, { namespace }, scope.signal);
    const its = agents.filter((agent) => isOnVmOf(agent, uid));
    const bound = findBound(its);
    return { machine: machine === 'gone' || bound === undefined ? null : takerOf(bound), agents: its };
  }
  return { machine: machine.name, agents: [] };
}

/** `unknown`: none is recorded. */
async function findMachine(
  { client, scope }: Reading,
  { status }: Pick<VsphereAgent, 'status'>,
  pool: Pick<VsphereAgentPool, 'spec'> | null,
): Promise<{ name: string } | 'gone' | 'unknown'> {
  const { kind, name, namespace = pool?.spec.controlPlaneNamespace } = status?.vm?.machineRef ?? {};
  if (name === undefined || namespace === undefined) return 'unknown';
  const resource: Resource =
    kind === 'AgentMachine' ? neighbourResources.AgentMachine : neighbourResources.ClusterMachine;
  // Of a kind that is not served a list fails, and a read says that there is none.
  const machines = await client.list(resource, { namespace, fieldSelector: `metadata.name=${name}` }, scope.signal);
  return machines.length === 0 ? 'gone' : { name: `${namespace}/${name}` };
}

/** Pure. @param uid of the VsphereAgent */
function isOnVmOf({ status }: Agent, uid: string): boolean {
  const serial = uuidOf(status?.inventory?.systemVendor?.serialNumber);
  return serial !== null && isSameUuid(serial, vmIdentityOf(uid).biosUuid);
}

/** One that is being deleted is bound until it is gone. Pure. */
export const findBound = (agents: readonly Agent[]): Agent | undefined =>
  agents.find((agent) => isBound(readAgent(agent)));

/** What has taken an Agent that is bound. Pure. */
function takerOf({ metadata, spec }: Agent): string {
  const { labels = {}, annotations = {}, namespace = '', name } = metadata;
  const taken = labels[neighbours.agentMachineRef];
  if (taken !== undefined) return `${annotations[neighbours.agentMachineRefNamespace] ?? namespace}/${taken}`;
  return `${namespace}/${name} of ${spec?.clusterDeploymentName?.name ?? ''}`;
}
