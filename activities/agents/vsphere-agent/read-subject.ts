import { isSameUuid, uuidOf } from '../../../contracts/agent-pool/identity.ts';
import { agentPoolAnnotations, neighbours } from '../../../contracts/agent-pool/metadata.ts';
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
  const machine = isForced(object, pool) ? null : await findMachine(reading, object, pool);
  if (machine !== null) throw stays(`its Machine ${machine} is there`);
  return subjectOf(request, object, pool);
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
});

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

/**
 * The Machine of the VM, if it is there still: `namespace/name`. Where none is recorded yet, that of the Agent that
 * runs on it.
 *
 * @throws where it cannot be known, also as the kind is not there
 */
export async function findMachine(
  { client, scope }: Reading,
  { metadata, status }: Pick<VsphereAgent, 'metadata' | 'status'>,
  pool: Pick<VsphereAgentPool, 'spec'> | null,
): Promise<string | null> {
  const { kind, name, namespace = pool?.spec.controlPlaneNamespace } = status?.vm?.machineRef ?? {};
  if (name === undefined || namespace === undefined) {
    const agents = await client.list(neighbourResources.Agent, { namespace: metadata.namespace }, scope.signal);
    return agents.map((agent) => machineOf(agent, metadata.uid)).find((one) => one !== null) ?? null;
  }
  const resource: Resource =
    kind === 'AgentMachine' ? neighbourResources.AgentMachine : neighbourResources.ClusterMachine;
  // Of a kind that is not served a list fails, and a read says that there is none.
  const machines = await client.list(resource, { namespace, fieldSelector: `metadata.name=${name}` }, scope.signal);
  return machines.length === 0 ? null : `${namespace}/${name}`;
}

/** What has taken the Agent, if it runs on the VM of a VsphereAgent. Pure. @param uid of the VsphereAgent */
function machineOf({ metadata, spec, status }: Agent, uid: string): string | null {
  const serial = uuidOf(status?.inventory?.systemVendor?.serialNumber);
  if (serial === null || !isSameUuid(serial, vmIdentityOf(uid).biosUuid)) return null;
  const { labels = {}, annotations = {}, namespace = '', name } = metadata;
  const taken = labels[neighbours.agentMachineRef];
  if (taken !== undefined) return `${annotations[neighbours.agentMachineRefNamespace] ?? namespace}/${taken}`;
  const cluster = spec?.clusterDeploymentName?.name;
  return cluster === undefined || cluster === '' ? null : `${namespace}/${name} of ${cluster}`;
}
