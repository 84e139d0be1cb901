import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import type { CnsNodeVmAttachment, CnsNodeVmBatchAttachment } from '../../contracts/crds/cns-attachments.ts';
import { neighbourDefinitions } from '../../contracts/crds/definitions.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import { claimAnnotations, detachingSuffix, placementFailed } from '../../contracts/virtual-machine/volumes.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { labClock } from '../clock.ts';
import { applyObject, type Manifest, mergeObject, mergeStatus, objectPath } from '../kubernetes-objects.ts';
import { inventory } from './handle.ts';
import type { AttachedHow, DatastorePath, VcenterWitness } from './witness.ts';

/**
 * What the vSphere CSI driver does for volumes of VMs, as its objects document it, in the place of it: it provisions
 * claims, and attaches and detaches what CnsNodeVmAttachments and CnsNodeVMBatchAttachments ask for. A volume is a disk
 * on the first datastore, as the simulator's first-class disks are not attached to VMs.
 */

const driver = 'csi.vsphere.vmware.com';
const playedLabel = 'drover.dev/lab';
/** Selects the PersistentVolumes that were made here. */
export const playedVolumes = `${playedLabel}=volume-player`;
const finalizer = 'cns.vmware.com';
const group = 'cns.vmware.com/v1alpha1';
/** Of a datastore: where its disks are, as those of a vCenter’s first-class disks. */
export const diskFolder = 'fcd';
const datastore = inventory.datastores[0].slice(inventory.datastores[0].lastIndexOf('/') + 1);
const mib = 1024 ** 2;
const listMs = 10_000;
const pollMs = 200;

export type AttachmentKind = 'CnsNodeVmAttachment' | 'CnsNodeVMBatchAttachment';
export const attachmentKinds: readonly AttachmentKind[] = ['CnsNodeVmAttachment', 'CnsNodeVMBatchAttachment'];

/** The kinds of the vSphere CSI driver that a cluster has. May be asked for again. */
export async function installAttachmentKinds(
  kubernetes: Kubernetes,
  kinds: readonly AttachmentKind[] = attachmentKinds,
): Promise<void> {
  for (const definition of neighbourDefinitions.filter(({ kind }) => kinds.some((one) => one === kind))) {
    await applyObject(kubernetes, toCustomResourceDefinition(definition));
    for (const signal = AbortSignal.timeout(listMs); ; await labClock().sleep(pollMs)) {
      const path = objectPath({ apiVersion: group, kind: definition.kind, metadata: { name: '' } });
      const isServed = await kubernetes.request({ method: 'GET', path }, signal).then(
        () => true,
        () => false,
      );
      if (isServed) break;
      signal.throwIfAborted();
    }
  }
}

export interface VolumePlayer {
  /** What it refuses from now on, by the name of the claim, and with which words; null: nothing. */
  refuse(claim: string, error: string | null): void;
  /** The host has no room for claims from now on. */
  fill(node: string): void;
  /** It does nothing meanwhile, as a driver that is away. */
  pause(isPaused: boolean): void;
  stop(): Promise<void>;
}

/** Plays until it is stopped, for one namespace. A failure of one pass is forgotten: the next one looks again. */
export function playVolumes(parts: {
  kubernetes: Kubernetes;
  witness: VcenterWitness;
  namespace: string;
}): VolumePlayer {
  const refused = new Map<string, string>();
  const full = new Set<string>();
  let isPaused = false;
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (!isPaused) await pass({ ...parts, refused, full }).catch(() => undefined);
      await labClock().sleep(pollMs);
    }
  };
  const done = loop();
  return {
    refuse: (claim, error) => void (error === null ? refused.delete(claim) : refused.set(claim, error)),
    fill: (node) => void full.add(node),
    pause: (paused) => void (isPaused = paused),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

interface Playing {
  kubernetes: Kubernetes;
  witness: VcenterWitness;
  namespace: string;
  refused: ReadonlyMap<string, string>;
  full: ReadonlySet<string>;
}

interface Claim extends Manifest {
  metadata: Manifest['metadata'] & { uid: string; annotations?: Record<string, string> };
  spec: { volumeName?: string; storageClassName?: string; resources?: { requests?: { storage?: string } } };
  status?: { phase?: string };
}

interface Volume extends Manifest {
  spec: { csi?: { driver: string; volumeHandle: string } };
}

async function pass(playing: Playing): Promise<void> {
  const claims = await list<Claim>(playing, 'v1', 'PersistentVolumeClaim');
  for (const claim of claims) if (claim.status?.phase !== 'Bound') await provision(playing, claim);
  for (const one of await list<CnsNodeVmAttachment>(playing, group, 'CnsNodeVmAttachment'))
    await playSingle(playing, one);
  for (const one of await list<CnsNodeVmBatchAttachment>(playing, group, 'CnsNodeVMBatchAttachment'))
    await playBatch(playing, one);
}

async function list<Item>({ kubernetes, namespace }: Playing, apiVersion: string, kind: string): Promise<Item[]> {
  const path = objectPath({ apiVersion, kind, metadata: { namespace, name: '' } });
  try {
    const { items } = (await kubernetes.request({ method: 'GET', path }, AbortSignal.timeout(listMs))) as {
      items: object[];
    };
    return items.map((item) => ({ apiVersion, kind, ...item }) as Item);
  } catch {
    // The cluster has no such kind.
    return [];
  }
}

const get = async <Item>(kubernetes: Kubernetes, manifest: Manifest): Promise<Item | null> => {
  try {
    return (await kubernetes.request(
      { method: 'GET', path: objectPath(manifest) },
      AbortSignal.timeout(listMs),
    )) as Item;
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
};

/** A disk and a PersistentVolume for it, or the one that the claim names; then both are bound. */
async function provision({ kubernetes, witness, full }: Playing, claim: Claim): Promise<void> {
  const { namespace = '', name, uid, annotations = {} } = claim.metadata;
  const storageClass = await get<{ provisioner: string; volumeBindingMode?: string }>(kubernetes, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: claim.spec.storageClassName ?? '' },
  });
  const isStatic = claim.spec.volumeName !== undefined;
  if (!isStatic && storageClass?.provisioner !== driver) return;
  const node = annotations[claimAnnotations.selectedNode];
  if (!isStatic && storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && node === undefined) return;
  if (node !== undefined && full.has(node)) {
    const said = { [claimAnnotations.storagePool]: `${placementFailed}PLACEMENT-NotEnoughResources` };
    await mergeObject(kubernetes, { ...claim, metadata: { namespace, name, annotations: said } });
    return;
  }
  const volumeName = claim.spec.volumeName ?? `pvc-${uid}`;
  const storage = claim.spec.resources?.requests?.storage ?? '1Gi';
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: volumeName } };
  if (!isStatic) {
    const path = `${diskFolder}/${uid}.vmdk`;
    await makeDisk(witness, path, Math.ceil((quantityOf(storage) ?? mib) / mib));
    await applyObject(kubernetes, {
      ...volume,
      metadata: { ...volume.metadata, labels: { [playedLabel]: 'volume-player' } },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: claim.spec.storageClassName,
        csi: { driver, volumeHandle: path },
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      },
    });
  }
  // As the binder of kube-controller-manager does, which the simulator has not.
  await mergeObject(kubernetes, { ...claim, spec: { volumeName } }).catch(() => undefined);
  await mergeStatus(kubernetes, { ...volume, status: { phase: 'Bound' } });
  await mergeStatus(kubernetes, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name },
    status: { phase: 'Bound', capacity: { storage }, accessModes: ['ReadWriteOnce'] },
  });
}

/** A disk that no volume has yet. May be there. */
export async function makeDisk(witness: VcenterWitness, path: string, sizeMiB: number): Promise<void> {
  await witness.makeDirectory({ datastore, path: diskFolder });
  const there = await witness.listFiles({ datastore, path: diskFolder });
  if (!there.includes(path.slice(path.lastIndexOf('/') + 1))) await witness.createDisk({ datastore, path, sizeMiB });
}

const manifestOf = (kind: AttachmentKind, { namespace, name }: { namespace?: string | undefined; name: string }) => ({
  apiVersion: group,
  kind,
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

async function hold(kubernetes: Kubernetes, manifest: Manifest, finalizers: readonly string[]): Promise<void> {
  if (finalizers.includes(finalizer)) return;
  const metadata = { ...manifest.metadata, finalizers: [...finalizers, finalizer] };
  await mergeObject(kubernetes, { ...manifest, metadata });
}

const release = (kubernetes: Kubernetes, manifest: Manifest, finalizers: readonly string[]): Promise<void> =>
  mergeObject(kubernetes, {
    ...manifest,
    metadata: { ...manifest.metadata, finalizers: finalizers.filter((one) => one !== finalizer) },
  });

async function playSingle(playing: Playing, { metadata, spec, status }: CnsNodeVmAttachment): Promise<void> {
  const { kubernetes } = playing;
  const manifest = manifestOf('CnsNodeVmAttachment', metadata);
  const { finalizers = [], deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) {
    await detach(playing, await vmBy(playing, 'biosUuid', spec.nodeuuid), spec.volumename);
    if (finalizers.includes(finalizer)) await release(kubernetes, manifest, finalizers);
    return;
  }
  // The driver does not look again at what it has attached.
  if (status?.attached === true) return;
  await hold(kubernetes, manifest, finalizers);
  const attached = await attach(playing, await vmBy(playing, 'biosUuid', spec.nodeuuid), spec.volumename, {});
  await mergeStatus(kubernetes, {
    ...manifest,
    status:
      'error' in attached
        ? { attached: false, error: attached.error }
        : {
            attached: true,
            error: null,
            metadata: { diskUUID: attached.diskUuid, cnsVolumeId: attached.handle },
          },
  });
}

async function playBatch(playing: Playing, { metadata, spec, status }: CnsNodeVmBatchAttachment): Promise<void> {
  const { kubernetes } = playing;
  const manifest = manifestOf('CnsNodeVMBatchAttachment', metadata);
  const { finalizers = [], deletionTimestamp } = metadata;
  const vm = await vmBy(playing, 'instanceUuid', spec.instanceUUID);
  const shown = status?.volumes ?? [];
  const wanted = deletionTimestamp === undefined ? (spec.volumes ?? []) : [];
  const isWanted = (row: (typeof shown)[number]): boolean =>
    wanted.some(
      ({ name, persistentVolumeClaim: { claimName } }) =>
        name === row.name && claimName === row.persistentVolumeClaim?.claimName,
    );
  if (deletionTimestamp === undefined) await hold(kubernetes, manifest, finalizers);
  const left: object[] = [];
  for (const row of shown.filter((one) => !isWanted(one))) {
    const claim = row.persistentVolumeClaim?.claimName ?? '';
    const error = playing.refused.get(claim);
    if (error === undefined) await detach(playing, vm, claim);
    else
      left.push({
        name: row.name.endsWith(detachingSuffix) ? row.name : `${row.name}${detachingSuffix}`,
        persistentVolumeClaim: { ...row.persistentVolumeClaim, conditions: [said('VolumeDetached', error)] },
      });
  }
  const rows: object[] = [];
  for (const { name, persistentVolumeClaim: asked } of wanted) {
    const { claimName, controllerKey, unitNumber, diskMode, sharingMode: sharing } = asked;
    const how = { controllerKey, unitNumber, diskMode, sharing };
    const end = await attach(playing, vm, claimName, how);
    const claim =
      'error' in end
        ? { claimName, conditions: [said('VolumeAttached', end.error)] }
        : { claimName, cnsVolumeId: end.handle, diskUUID: end.diskUuid, conditions: [said('VolumeAttached', null)] };
    rows.push({ name, persistentVolumeClaim: claim });
  }
  const next = [...rows, ...left];
  const textOf = (value: object[]): string =>
    JSON.stringify(value, (key, field: unknown) => (key === 'lastTransitionTime' ? undefined : field));
  if (textOf(next) !== textOf(shown)) await mergeStatus(kubernetes, { ...manifest, status: { volumes: next } });
  if (deletionTimestamp !== undefined && left.length === 0 && finalizers.includes(finalizer))
    await release(kubernetes, manifest, finalizers);
}

const said = (type: 'VolumeAttached' | 'VolumeDetached', error: string | null): object => ({
  type,
  status: error === null ? 'True' : 'False',
  reason: error === null ? 'True' : type === 'VolumeAttached' ? 'AttachFailed' : 'DetachFailed',
  message: error ?? '',
  lastTransitionTime: new Date(labClock().now()).toISOString(),
});

interface Vm {
  path: string;
  disks: readonly string[];
}

async function vmBy(
  { witness, namespace }: Playing,
  field: 'biosUuid' | 'instanceUuid',
  uuid: string,
): Promise<Vm | null> {
  const vm = (await witness.listVms(namespace)).find((one) => one[field] === uuid);
  return vm === undefined ? null : { path: `${inventory.vmFolder}/${namespace}/${vm.name}`, disks: vm.disks };
}

/** Null: the claim is not bound, or gone. */
async function diskOf({ kubernetes, namespace }: Playing, name: string): Promise<DatastorePath | null> {
  const claim = await get<Claim>(kubernetes, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name },
  });
  const volumeName = claim?.spec.volumeName;
  if (volumeName === undefined) return null;
  const volume = await get<Volume>(kubernetes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeName },
  });
  const path = volume?.spec.csi?.volumeHandle;
  return path === undefined ? null : { datastore, path };
}

const fileName = (disk: DatastorePath): string => `[${disk.datastore}] ${disk.path}`;

async function attach(
  playing: Playing,
  vm: Vm | null,
  claim: string,
  how: AttachedHow,
): Promise<{ diskUuid: string; handle: string } | { error: string }> {
  const refused = playing.refused.get(claim);
  if (refused !== undefined) return { error: refused };
  if (vm === null) return { error: 'the VM is not there' };
  const disk = await diskOf(playing, claim);
  if (disk === null) return { error: `claim ${claim} has no volume` };
  if (!vm.disks.includes(fileName(disk))) await playing.witness.attachDisk(vm.path, { ...disk, ...how });
  const there = (await playing.witness.describeVm(vm.path))?.config.hardware.device ?? [];
  const uuid = there.find(({ backing }) => backing?.fileName === fileName(disk))?.backing?.uuid;
  return uuid === undefined ? { error: 'it is not attached yet' } : { diskUuid: uuid, handle: disk.path };
}

async function detach(playing: Playing, vm: Vm | null, claim: string): Promise<void> {
  const disk = await diskOf(playing, claim);
  if (vm !== null && disk !== null) await playing.witness.detachDisk(vm.path, disk);
}
