import type { z } from 'zod';

import type { ObjectMeta } from '../../../contracts/crds/schema.ts';
import type { ObjectName } from '../../../contracts/virtual-machine/mutations.ts';
import { hasInstanceStorage } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import {
  claimAnnotations,
  instanceStorageLabels,
  type VolumeChange,
} from '../../../contracts/virtual-machine/volumes.ts';
import type { Resource } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { ownerReferences } from './owner-references.ts';
import { batchSpecOf } from './read-volumes.ts';
import { claimResource } from './schemas.ts';

const { CnsNodeVmAttachment: single, CnsNodeVMBatchAttachment: batch } = neighbourResources;

/**
 * Asks the vSphere CSI driver to attach and detach volumes. Safe to repeat: what an earlier attempt has made is found
 * by its name.
 *
 * @throws ObjectConflict when others write all the time; KubernetesForbidden; Stopped
 */
export async function changeVolumes(
  tools: VirtualMachineTools,
  { changes, ...owner }: ObjectName & { changes: VolumeChange[] },
): Promise<{ isCurrent: boolean }> {
  for (const change of changes)
    if (!(await retryConflicts(() => execute(tools, owner, change)))) return { isCurrent: false };
  return { isCurrent: true };
}

/** False: it was decided on something that is another by now, and nothing was changed. */
function execute(tools: VirtualMachineTools, owner: ObjectName, change: VolumeChange): Promise<boolean> {
  switch (change.kind) {
    case 'attach':
      return attach(tools, owner, change);
    case 'detach':
      return remove(tools, owner, single, 'detachVolume', change);
    case 'batch':
      return writeBatch(tools, owner, change);
    case 'detachAll':
      return remove(tools, owner, batch, 'detachVolume', { name: owner.name, uid: change.uid });
    case 'selectZone':
      return selectZone(tools, owner, change);
    case 'addInstanceVolumes':
      return addInstanceVolumes(tools, owner, change);
    case 'makeClaim':
      return makeClaim(tools, owner, change);
    case 'deleteClaim':
      return remove(tools, owner, claimResource, 'deleteClaim', { name: change.claim, uid: change.uid });
  }
}

const entryOf = (
  action: string,
  { kind }: { kind: string },
  { namespace, name }: { namespace: string; name: string },
  before: unknown,
  after: unknown,
) => ({
  action,
  cause: 'the volumes of the virtual machine',
  object: `${kind.toLowerCase()}/${namespace}/${name}`,
  before,
  after,
});

async function attach(
  tools: VirtualMachineTools,
  owner: ObjectName,
  { name, biosUuid, claim }: Extract<VolumeChange, { kind: 'attach' }>,
): Promise<boolean> {
  const { client, scope } = tools;
  const { namespace } = owner;
  const spec = { nodeuuid: biosUuid, volumename: claim };
  const key = { namespace, name };
  const found = await client.get(single, key, scope.signal);
  if (found !== null) return found.metadata.deletionTimestamp === undefined && isEqual(found.spec, spec);
  const metadata = { ...key, ownerReferences: ownerReferences(owner) };
  return await mutate(
    tools,
    entryOf('attachVolume', single, key, null, spec),
    async () => (await client.create(single, { metadata, spec }, scope.signal)) !== null,
  );
}

type RemovableMeta = Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'deletionTimestamp'>;

async function remove<Schema extends z.ZodType<{ metadata: RemovableMeta; spec?: object | undefined }>>(
  tools: VirtualMachineTools,
  { namespace }: ObjectName,
  resource: Resource<Schema>,
  action: string,
  { name, uid }: { name: string; uid: string },
): Promise<boolean> {
  const { client, scope } = tools;
  const key = { namespace, name };
  const found = await client.get(resource, key, scope.signal);
  if (found === null || found.metadata.deletionTimestamp !== undefined) return true;
  if (found.metadata.uid !== uid) return false;
  await mutate(tools, entryOf(action, resource, key, found.spec, null), () =>
    client.delete(resource, found.metadata, scope.signal),
  );
  return true;
}

async function writeBatch(
  tools: VirtualMachineTools,
  owner: ObjectName,
  { instanceUuid, volumes, before }: Extract<VolumeChange, { kind: 'batch' }>,
): Promise<boolean> {
  const { client, scope } = tools;
  const { namespace, name } = owner;
  const spec = {
    instanceUUID: instanceUuid,
    volumes: volumes.map(({ name: volume, claim: claimName, ...place }) => ({
      name: volume,
      persistentVolumeClaim: { claimName, ...place },
    })),
  };
  const key = { namespace, name };
  const found = await client.get(batch, key, scope.signal);
  const current = found === null ? null : { uid: found.metadata.uid, ...batchSpecOf(found.spec) };
  // An attempt before has written it.
  if (current !== null && isEqual({ ...current, uid: '' }, { uid: '', instanceUuid, volumes })) return true;
  if (!isEqual(current, before)) return false;
  const entry = entryOf('attachVolumes', batch, key, found?.spec ?? null, spec);
  if (found !== null) {
    await mutate(tools, entry, () => client.patch(batch, found.metadata, { spec }, scope.signal));
    return true;
  }
  const metadata = { ...key, ownerReferences: ownerReferences(owner) };
  return await mutate(
    tools,
    entry,
    async () => (await client.create(batch, { metadata, spec }, scope.signal)) !== null,
  );
}

const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

async function selectZone(
  tools: VirtualMachineTools,
  { namespace }: ObjectName,
  { claim, zone }: Extract<VolumeChange, { kind: 'selectZone' }>,
): Promise<boolean> {
  const { client, scope } = tools;
  const key = { namespace, name: claim };
  const found = await client.get(claimResource, key, scope.signal);
  if (found === null) return false;
  // Once a consumer has chosen, it stays.
  if (found.metadata.annotations?.[claimAnnotations.selectedNode] !== undefined) return true;
  const annotations = { [claimAnnotations.isZone]: 'true', [claimAnnotations.selectedNode]: zone };
  const { uid, resourceVersion } = found.metadata;
  await mutate(tools, entryOf('selectZone', claimResource, key, null, annotations), () =>
    client.patch(claimResource, { ...key, uid, resourceVersion }, { metadata: { annotations } }, scope.signal),
  );
  return true;
}

/** It is written once: later the class counts no more, as its volumes hold data. */
async function addInstanceVolumes(
  tools: VirtualMachineTools,
  { namespace, name, uid }: ObjectName,
  { volumes }: Extract<VolumeChange, { kind: 'addInstanceVolumes' }>,
): Promise<boolean> {
  const { client, scope } = tools;
  const found = await client.get(resources.VirtualMachine, { namespace, name }, scope.signal);
  if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined) return false;
  const { volumes: before = [] } = found.spec ?? {};
  if (hasInstanceStorage({ volumes: before })) return true;
  const added = volumes.map(({ name: volume, ...instanceVolumeClaim }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: volume, instanceVolumeClaim },
  }));
  await mutate(tools, entryOf('addInstanceVolumes', resources.VirtualMachine, { namespace, name }, null, added), () =>
    client.patch(resources.VirtualMachine, found.metadata, { spec: { volumes: [...before, ...added] } }, scope.signal),
  );
  return true;
}

async function makeClaim(
  tools: VirtualMachineTools,
  owner: ObjectName,
  { claim, node, storageClass, size }: Extract<VolumeChange, { kind: 'makeClaim' }>,
): Promise<boolean> {
  const { client, scope } = tools;
  const key = { namespace: owner.namespace, name: claim };
  const found = await client.get(claimResource, key, scope.signal);
  if (found !== null) return found.metadata.annotations?.[claimAnnotations.selectedNode] === node;
  const metadata = {
    ...key,
    labels: instanceStorageLabels,
    annotations: { [claimAnnotations.selectedNode]: node },
    ownerReferences: ownerReferences(owner),
  };
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: storageClass,
    resources: { requests: { storage: size } },
  };
  return await mutate(
    tools,
    entryOf('makeClaim', claimResource, key, null, { node, ...spec }),
    async () => (await client.create(claimResource, { metadata, spec }, scope.signal)) !== null,
  );
}
