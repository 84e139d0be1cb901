import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { ObjectTransfer } from '../../../contracts/crds/object-transfer.ts';
import type { DataVolumeActivities, TransferFacts } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { type Claim, type Volume, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { awaitFact } from './await-fact.ts';
import { beginWork, liveVolume } from './begin-work.ts';
import { targetMetadata } from './claim-objects.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import {
  createTransfer,
  findTransfer,
  isTransferOf,
  recordTransfer,
  sayTransfer,
  transferData,
  type TransferData,
} from './object-transfer.ts';
import { readSourceUsers } from './source-users.ts';
import { claimFacts, isMadeFor } from './volume-facts.ts';
import { createObject, deleteObject, patchObject, versionOf } from './write-object.ts';

/**
 * The way of a PV from the temporary claim to the target (docs/data-volumes.md#transfer). Each step looks at everything
 * afresh and writes on the version that it has seen, so that it may be repeated, interrupted, and done by two at once:
 *
 * record what is there → Retain → the Job that copied and the temporary claim go → the target names the PV → the PV
 * names the target → bound → reclaim policy as before
 */

interface Names {
  namespace: string;
  name: string;
}

/** Where it has come to. */
interface Place {
  claim: Claim | null;
  /** Null: there is nothing to be moved any more. */
  transfer: TransferFacts | null;
  /** There is something to do at once. */
  goesOn?: true;
}

/** What is so for good once it was seen. */
interface Memory {
  data: TransferData | null;
  isSourceGone: boolean;
}

export async function transferClaim(
  tools: VolumeTools,
  { begin, namespace, name, uid, from, patienceMs, known }: Parameters<DataVolumeActivities['transferClaim']>[0],
): ReturnType<DataVolumeActivities['transferClaim']> {
  const of = { namespace, name, uid };
  await beginWork(tools, { ...of, begin });
  const memory: Memory = { data: null, isSourceGone: false };
  const look = async (): Promise<Place> => {
    for (;;) {
      const place = await retryConflicts(() => takeStep(tools, of, from, memory));
      if (place.goesOn === undefined) return place;
    }
  };
  const { claim, transfer } = await awaitFact(tools, {
    patienceMs,
    look,
    isOver: ({ transfer: facts }) =>
      facts?.phase === 'Error'
        ? facts.message !== known
        : facts === null || facts.phase === 'Complete' || known !== null,
  });
  return { claim: claim === null ? null : claimFacts(claim, uid, null), transfer };
}

const running = (message: string): TransferFacts => ({ phase: 'Running', message });
const pending = (message: string): TransferFacts => ({ phase: 'Pending', message });
const failed = (message: string): TransferFacts => ({ phase: 'Error', message });

const getClaim = ({ client, scope }: VolumeTools, { namespace, name }: Names): Promise<Claim | null> =>
  client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal);

const getVolume = ({ client, scope }: VolumeTools, name: string): Promise<Volume | null> =>
  client.get(storageResources.PersistentVolume, { name }, scope.signal);

async function takeStep(tools: VolumeTools, of: OfVolume, from: Names, memory: Memory): Promise<Place> {
  if (memory.data === null) {
    await liveVolume(tools, of);
    const transfer = await findTransfer(tools, of);
    if (transfer === null) return await begin(tools, of, from);
    if (!isTransferOf(transfer, of.uid))
      return { claim: null, transfer: failed(`ObjectTransfer ${transfer.metadata.name} is another's`) };
    memory.data = transferData(transfer);
    if (memory.data === null) return await record(tools, transfer, of, from);
  }
  const place = await move(tools, of, from, memory.data, memory);
  const { phase } = place.transfer ?? {};
  if (phase === 'Pending' || phase === 'Running') return place;
  const transfer = await findTransfer(tools, of);
  if (transfer === null) return place;
  if (place.transfer !== null) await sayTransfer(tools, transfer, place.transfer);
  else if (isTransferOf(transfer, of.uid))
    await deleteObject(tools, resources.ObjectTransfer, transfer, 'its volume is gone with the PVC that it came to');
  return place;
}

async function begin(tools: VolumeTools, of: OfVolume, from: Names): Promise<Place> {
  const [source, target] = [await getClaim(tools, from), await getClaim(tools, of)];
  if (source === null) {
    const isThere = target?.status?.phase === 'Bound' && isMadeFor(target, of.uid);
    return { claim: target, transfer: isThere ? { phase: 'Complete', message: '' } : failed('No source') };
  }
  const problem = targetProblem(target, of);
  if (problem !== null) return { claim: target, transfer: failed(problem) };
  await createTransfer(tools, of, from);
  return { claim: target, transfer: pending('Initializing'), goesOn: true };
}

const targetProblem = (target: Claim | null, { namespace, name, uid }: OfVolume): string | null =>
  target === null || isMadeFor(target, uid)
    ? null
    : `PersistentVolumeClaim ${namespace}/${name} already exists and is not managed by DataVolume`;

/** Before anything is done. */
async function record(tools: VolumeTools, transfer: ObjectTransfer, of: OfVolume, from: Names): Promise<Place> {
  const source = await getClaim(tools, from);
  if (source === null || !isMadeFor(source, of.uid)) return { claim: null, transfer: failed('No source') };
  const { phase } = source.status ?? {};
  if (phase !== 'Bound' || !source.spec.volumeName) return { claim: null, transfer: pending('PVC not bound') };
  const volume = await getVolume(tools, source.spec.volumeName);
  if (volume?.spec.claimRef?.uid !== source.metadata.uid) return { claim: null, transfer: pending('PV not bound') };
  await recordTransfer(tools, transfer, source, volume);
  return { claim: null, transfer: running('Running'), goesOn: true };
}

async function move(tools: VolumeTools, of: OfVolume, from: Names, data: TransferData, memory: Memory): Promise<Place> {
  const target = await getClaim(tools, of);
  const source = memory.isSourceGone ? null : await getClaim(tools, from);
  memory.isSourceGone = source?.metadata.uid !== data.sourceUid;
  // Last, so that what is known of it is not older than what is known of the claims.
  const volume = await getVolume(tools, data.pvName);
  const at = (transfer: Place['transfer'], goesOn?: true): Place => ({
    claim: target,
    transfer,
    ...(goesOn && { goesOn }),
  });
  const isUnclaimed = target === null && memory.isSourceGone;
  if (volume?.metadata.uid !== data.pvUid)
    return isUnclaimed && (await hadArrived(tools, of))
      ? at(null)
      : at(failed(`PersistentVolume ${data.pvName} is gone`));
  // Who deletes the PVC that it has come to deletes the volume. Another one is made then.
  if (isUnclaimed && volume.spec.persistentVolumeReclaimPolicy !== 'Retain')
    return at(running('Waiting for PV to be gone, as its PVC was deleted'));
  const problem = targetProblem(target, of);
  if (problem !== null) return at(failed(problem));
  if (target !== null && memory.isSourceGone && isBoundTo(target, volume)) {
    if (!(await hadArrived(tools, of))) await sayArrival(tools, of);
    const isRestored = await setReclaimPolicy(tools, volume, data.reclaimPolicy, 'it has come to its DataVolume');
    return isRestored ? at({ phase: 'Complete', message: 'Transfer complete' }) : at(running('Running'), true);
  }
  const isAwaited = target !== null && volume.spec.claimRef?.uid === target.metadata.uid;
  if (memory.isSourceGone && isAwaited && volume.spec.persistentVolumeReclaimPolicy === 'Retain') {
    await sayArrived(tools, target, data);
    return at(running('Waiting for target to be bound'));
  }
  // One that is being deleted gets nothing more.
  const dataVolume = await liveVolume(tools, of);
  // Before anything is deleted; what is read next says that it holds.
  if (!(await setReclaimPolicy(tools, volume, 'Retain', 'it goes to another namespace')))
    return at(running('Running'), true);
  if (source !== null && !memory.isSourceGone) {
    await removeCopier(tools, dataVolume, from);
    const wait = await giveUpSource(tools, source, volume);
    return at(wait === null ? running('Running') : wait);
  }
  if (target === null) {
    const made = await makeTarget(tools, dataVolume, data);
    return { claim: made, transfer: running('Running'), ...(made !== null && { goesOn: true }) };
  }
  if (target.spec.volumeName !== data.pvName) return at(failed('PV bound to wrong PVC'));
  if (target.metadata.deletionTimestamp !== undefined) return at(running('Waiting for target to be bound'));
  const ref = volume.spec.claimRef;
  const mayBeTaken = !ref || ref.uid === data.sourceUid || (ref.namespace === of.namespace && ref.name === of.name);
  if (!mayBeTaken) return at(failed('PV bound to wrong PVC'));
  await pointTo(tools, volume, target);
  return at(running('Waiting for target to be bound'), true);
}

/** Said before the volume can go with its PVC. */
const arrival = running('Target bound');

async function hadArrived(tools: VolumeTools, of: OfVolume): Promise<boolean> {
  const { phase, conditions = [] } = (await findTransfer(tools, of))?.status ?? {};
  return phase === 'Complete' || conditions.some(({ message }) => message === arrival.message);
}

async function sayArrival(tools: VolumeTools, of: OfVolume): Promise<void> {
  const transfer = await findTransfer(tools, of);
  if (transfer !== null && isTransferOf(transfer, of.uid)) await sayTransfer(tools, transfer, arrival);
}

const isBoundTo = (claim: Claim, volume: Volume): boolean =>
  claim.status?.phase === 'Bound' &&
  claim.spec.volumeName === volume.metadata.name &&
  volume.spec.claimRef?.uid === claim.metadata.uid;

/** @returns whether it was so already. @throws ObjectConflict */
export async function setReclaimPolicy(
  tools: VolumeTools,
  volume: Volume,
  policy: TransferData['reclaimPolicy'],
  cause: string,
): Promise<boolean> {
  const before = volume.spec.persistentVolumeReclaimPolicy;
  if (before === policy) return true;
  await patchObject(tools, storageResources.PersistentVolume, versionOf(volume.metadata), {
    change: { spec: { persistentVolumeReclaimPolicy: policy } },
    before,
    cause,
  });
  return false;
}

/** Of the volume controllers, while something is made from the claim. */
const protections = [
  'snapshot.storage.kubernetes.io/pvc-as-source-protection',
  'provisioner.storage.kubernetes.io/cloning-protection',
];

/** A Pod that has ended holds its claims too, as long as its Job keeps it. What it has copied is on the volume. */
async function removeCopier(tools: VolumeTools, { metadata }: DataVolume, { namespace }: Names): Promise<void> {
  if (metadata.annotations?.[volumeAnnotations.cloneType] !== 'copy') return;
  const key = { namespace, name: temporaryNames.job(metadata.uid) };
  const job = await tools.client.get(storageResources.Job, key, tools.scope.signal);
  if (job === null || job.metadata.deletionTimestamp !== undefined) return;
  await deleteObject(tools, storageResources.Job, job, 'its copy goes to the target');
}

/** @returns what it waits for; null: it is going */
async function giveUpSource(tools: VolumeTools, source: Claim, volume: Volume): Promise<TransferFacts | null> {
  const { namespace = '', name, uid, deletionTimestamp, finalizers = [] } = source.metadata;
  if (deletionTimestamp !== undefined) return null;
  if (volume.spec.claimRef?.uid !== uid) return failed('PV bound to wrong PVC');
  const protection = finalizers.find((one) => protections.includes(one));
  if (protection !== undefined) return running(`PVC has finalizer: ${protection}`);
  if ((await readSourceUsers(tools, { namespace, name })).length > 0) return running('Pods using PVC');
  await deleteObject(tools, storageResources.PersistentVolumeClaim, source, 'its volume goes to the target');
  return null;
}

/** It names the PV, and waits until the PV names it: no other claim can come between. */
const makeTarget = (tools: VolumeTools, dataVolume: DataVolume, data: TransferData): Promise<Claim | null> => {
  const { pvName: volumeName, accessModes, volumeMode, storageClassName, storage, cloneDepth } = data;
  const spec = {
    accessModes: accessModes.split(',').filter((mode) => mode !== ''),
    volumeMode,
    storageClassName,
    volumeName,
    resources: { requests: { storage } },
  };
  const metadata = targetMetadata(dataVolume, volumeMode, Number(cloneDepth));
  return createObject(tools, storageResources.PersistentVolumeClaim, { metadata, spec }, 'its volume has come');
};

const pointTo = (tools: VolumeTools, volume: Volume, { metadata: { namespace = '', name, uid } }: Claim) =>
  patchObject(tools, storageResources.PersistentVolume, versionOf(volume.metadata), {
    change: {
      spec: {
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion: null },
      },
    },
    before: volume.spec.claimRef ?? null,
    cause: 'its volume has come',
  });

/** The binder looks at a claim when that changes, and else every 15 s. */
async function sayArrived(tools: VolumeTools, { metadata }: Claim, { pvName }: TransferData): Promise<void> {
  if (metadata.annotations?.[volumeAnnotations.volumeArrived] === pvName) return;
  await patchObject(tools, storageResources.PersistentVolumeClaim, versionOf(metadata), {
    change: { metadata: { annotations: { [volumeAnnotations.volumeArrived]: pvName } } },
    cause: 'its volume has come',
  });
}
