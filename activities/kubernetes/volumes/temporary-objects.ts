import { volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import type { ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { type Claim, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { findTransfer, isTransferOf, transferData } from './object-transfer.ts';
import { isDeleting, leaveSnapshots } from './snapshot-users.ts';
import { setReclaimPolicy } from './transfer-claim.ts';
import { deleteObject } from './write-object.ts';

/**
 * What was made for one clone, and how it goes: what uses another goes before it, and what holds the data only while no
 * target has it.
 */

export interface Removal extends OfVolume {
  /** Where it was made; undefined: not known, so that it is looked for everywhere. */
  madeIn: string | undefined;
  /** The PVC goes too, where it was made for the DataVolume. */
  withTarget: boolean;
  /** The volume is complete: a PV on its way is not given back. */
  isComplete: boolean;
  /** It was, or may have been, copied by a Job. */
  isCopied: boolean;
  /** A snapshot in the namespace of the DataVolume was, or may have been, restored to be copied. */
  isRestored: boolean;
}

/** An object that is going, and is to be seen gone. */
interface Going {
  resource: Resource;
  metadata: ObjectVersion & { uid: string };
}

/** Remembers over the rounds what is to be seen gone. */
export interface Remover {
  /** Deletes what can be deleted now. @returns what is left, as a person calls it */
  round(): Promise<readonly string[]>;
}

const claims = storageResources.PersistentVolumeClaim;
const volumes = storageResources.PersistentVolume;

const nameOf = ({ resource: { kind }, metadata: { namespace, name } }: Going): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

export function createRemover(tools: VolumeTools, removal: Removal): Remover {
  const { client, scope } = tools;
  const going = new Map<string, Going>();
  const watch = (resource: Resource, metadata: Going['metadata']): void => {
    const { namespace, name, uid } = metadata;
    going.set(uid, { resource, metadata: { name, uid, ...(namespace !== undefined && { namespace }) } });
  };
  const labelSelector = `${volumeLabels.temporaryFor}=${removal.uid}`;
  const getTarget = (): Promise<Claim | null> =>
    client.get(claims, { namespace: removal.namespace, name: removal.name }, scope.signal);

  async function removeJobs(): Promise<void> {
    const jobs = await client.listValid(
      storageResources.Job,
      { namespace: removal.madeIn, labelSelector },
      scope.signal,
    );
    for (const job of jobs) {
      if (job.metadata.deletionTimestamp === undefined)
        await deleteObject(tools, storageResources.Job, job, 'the copy is not needed any more');
      watch(storageResources.Job, job.metadata);
    }
  }

  /** One that has its data goes with its DataVolume, by Kubernetes, unless a user has made it an orphan to keep it. */
  async function removeTarget(target: Claim | null): Promise<void> {
    if (target?.metadata.annotations?.[volumeAnnotations.createdForDataVolume] !== removal.uid) return;
    if (target.metadata.annotations[volumeAnnotations.populatedFor] === removal.name) return;
    if (target.metadata.deletionTimestamp === undefined)
      await deleteObject(tools, claims, target, 'its DataVolume does not need it any more');
  }

  /**
   * A PV that is on its way is given back its reclaim policy: with the claim that it belongs to then, it goes.
   *
   * @returns what keeps it from that
   */
  async function giveBack(): Promise<readonly string[]> {
    const transfer = await findTransfer(tools, removal);
    if (transfer === null || !isTransferOf(transfer, removal.uid)) return [];
    const data = transferData(transfer);
    if (data === null) return [];
    const volume = await client.get(volumes, { name: data.pvName }, scope.signal);
    if (volume?.metadata.uid !== data.pvUid) return [];
    const isAsBefore = volume.spec.persistentVolumeReclaimPolicy === data.reclaimPolicy;
    if (isAsBefore && (!removal.isComplete || transfer.status?.phase === 'Complete')) return [];
    const target = await getTarget();
    const owner = volume.spec.claimRef?.uid;
    const isAtTarget =
      target !== null && owner === target.metadata.uid && target.metadata.deletionTimestamp === undefined;
    if (removal.isComplete && !(isAtTarget && transfer.status?.phase === 'Complete'))
      return [`ObjectTransfer ${transfer.metadata.name}`];
    // One that waits for the PV in vain.
    if (!isAtTarget && target?.spec.volumeName === data.pvName) {
      await removeTarget(target);
      return [`PersistentVolumeClaim ${removal.namespace}/${removal.name}`];
    }
    await setReclaimPolicy(tools, volume, data.reclaimPolicy, 'it goes no further');
    if (!isAtTarget && data.reclaimPolicy !== 'Retain') watch(volumes, volume.metadata);
    return [];
  }

  /** @returns those that hold the volume of the target still */
  async function removeClaims(): Promise<readonly string[]> {
    const found = await client.listValid(claims, { namespace: removal.madeIn, labelSelector }, scope.signal);
    if (found.length === 0) return [];
    const target = await getTarget();
    const kept: string[] = [];
    for (const claim of found) {
      // Its labels are those of the DataVolume, whatever these are.
      if (claim.metadata.uid === target?.metadata.uid) continue;
      const { volumeName = '' } = claim.spec;
      if (volumeName !== '' && volumeName === target?.spec.volumeName) {
        kept.push(`PersistentVolumeClaim ${claim.metadata.namespace ?? ''}/${claim.metadata.name}`);
        continue;
      }
      if (claim.metadata.deletionTimestamp === undefined)
        await deleteObject(tools, claims, claim, 'the clone does not need it any more');
      watch(claims, claim.metadata);
      if (volumeName !== '') await watchVolume(volumeName, claim.metadata.uid);
    }
    return kept;
  }

  async function watchVolume(name: string, claimUid: string): Promise<void> {
    const volume = await client.get(volumes, { name }, scope.signal);
    const { claimRef, persistentVolumeReclaimPolicy: policy } = volume?.spec ?? {};
    if (volume !== null && claimRef?.uid === claimUid && policy !== 'Retain') watch(volumes, volume.metadata);
  }

  async function removeSnapshots(): Promise<void> {
    for (const { snapshot, content } of await leaveSnapshots(tools, removal, removal.madeIn)) {
      if (content !== null) watch(storageResources.VolumeSnapshotContent, content.metadata);
      // The name of what the driver has no more: it is held by a provisioner that looks for such names
      // each five minutes.
      if (content === null && isDeleting(snapshot)) going.delete(snapshot.metadata.uid);
      else watch(storageResources.VolumeSnapshot, snapshot.metadata);
    }
  }

  async function see(): Promise<readonly string[]> {
    for (const [uid, { resource, metadata }] of going) {
      const found = (await client.get(resource, metadata, scope.signal)) as Going | null;
      if (found?.metadata.uid !== uid) going.delete(uid);
    }
    return [...going.values()].map(nameOf);
  }

  async function removeTransfer(): Promise<void> {
    const transfer = await findTransfer(tools, removal);
    if (transfer !== null && isTransferOf(transfer, removal.uid))
      await deleteObject(tools, resources.ObjectTransfer, transfer, 'nothing is left to be undone');
  }

  return {
    round: () =>
      retryConflicts(async () => {
        const isElsewhere = removal.madeIn !== removal.namespace;
        if (removal.isCopied) await removeJobs();
        if (removal.withTarget) await removeTarget(await getTarget());
        const kept = isElsewhere ? await giveBack() : [];
        if (kept.length > 0) return kept;
        // In the namespace of the DataVolume there is no other claim but the target.
        const claimed = isElsewhere || removal.isRestored ? await removeClaims() : [];
        await removeSnapshots();
        const left = [...claimed, ...(await see())];
        // The record of what is to be undone goes last.
        if (left.length === 0 && isElsewhere) await removeTransfer();
        return left;
      }),
  };
}
