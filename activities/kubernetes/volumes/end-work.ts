import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { DataVolumeActivities, VolumeWork } from '../../../contracts/data-volume/data-volume.ts';
import { dataVolumeFinalizer, volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import type { Along, WrittenAlong } from '../../../contracts/virtual-machine/activities.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { patchFinalizer } from '../lib/patch-finalizer.ts';
import { patchHolds } from '../lib/merge-patch.ts';
import { awaitFact } from './await-fact.ts';
import { findVolume, fixAnew, sayWork } from './begin-work.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { recordedSource } from './recorded-source.ts';
import { createRemover } from './temporary-objects.ts';
import { ownerOf } from './volume-facts.ts';
import { writeVolumeStatus } from './volume-status.ts';
import { patchObject, versionOf } from './write-object.ts';

type Requests = { [Name in keyof DataVolumeActivities]: Parameters<DataVolumeActivities[Name]>[0] };
type Ended = { left: readonly string[] } & WrittenAlong;

/** So long it is waited until what was deleted is gone; then it is said what is left. */
const goneWithinMs = 30_000;

/** One that is not released here, the run releases. */
export async function releaseSlot(
  tools: VolumeTools,
  slot: Along['slot'],
): Promise<Pick<WrittenAlong, 'isSlotReleased'>> {
  if (slot === undefined) return {};
  return await tools.releaseSlot(slot).then(
    () => ({ isSlotReleased: true }),
    () => ({}),
  );
}

const ofWork = ({ namespace, name, uid }: VolumeWork): OfVolume => ({ namespace, name, uid });

/** What readers of the PVC look at, and what makes a DataVolume that is made anew take it as it is; then the status. */
export async function completeDataVolume(tools: VolumeTools, request: Requests['completeDataVolume']): Promise<Ended> {
  const of = ofWork(request);
  const volume = await retryConflicts(async () => {
    const found = await findVolume(tools, of);
    if (found === null || found.metadata.deletionTimestamp !== undefined) return found;
    await markClaim(tools, found, of);
    return { ...found, metadata: await writeVolumeStatus(tools, found, request.status) };
  });
  return await end(tools, request, volume, { withTarget: false, isComplete: true });
}

async function markClaim(tools: VolumeTools, volume: DataVolume, of: OfVolume): Promise<void> {
  const claims = storageResources.PersistentVolumeClaim;
  const { namespace, name } = of;
  const claim = await tools.client.get(claims, { namespace, name }, tools.scope.signal);
  if (claim === null || ownerOf(claim, of.uid) !== 'volume') return;
  const annotations = {
    [volumeAnnotations.populatedFor]: name,
    ...(recordedSource(volume) !== null && {
      [volumeAnnotations.cloneOf]: 'true',
      [volumeAnnotations.clonePhase]: 'Succeeded',
      [volumeAnnotations.runningCondition]: 'false',
      [volumeAnnotations.runningConditionReason]: 'Completed',
      [volumeAnnotations.runningConditionMessage]: 'Clone Complete',
    }),
  };
  if (patchHolds(claim.metadata.annotations, annotations)) return;
  await patchObject(tools, claims, versionOf(claim.metadata), {
    change: { metadata: { annotations } },
    cause: 'the volume is complete',
  });
}

export async function removeTemporary(tools: VolumeTools, request: Requests['removeTemporary']): Promise<Ended> {
  await sayWork(tools, request);
  const volume = await findVolume(tools, ofWork(request));
  const ended = await end(tools, request, volume, { withTarget: request.withTarget, isComplete: false });
  if (ended.left.length === 0) await fixAnew(tools, request);
  return ended;
}

async function end(
  tools: VolumeTools,
  work: VolumeWork,
  volume: DataVolume | null,
  how: { withTarget: boolean; isComplete: boolean },
): Promise<Ended> {
  const of = ofWork(work);
  const source = volume === null ? null : recordedSource(volume);
  const strategy = volume?.metadata.annotations?.[volumeAnnotations.cloneType];
  // Nothing was made but the volume itself.
  if (how.isComplete && volume !== null && source === null) {
    await letGo(tools, of, volume);
    return { left: [], ...(await releaseSlot(tools, work.slot)) };
  }
  // Without a record it is looked for everywhere.
  const remover = createRemover(tools, {
    ...of,
    ...how,
    madeIn: source?.namespace,
    isCopied: !how.isComplete || strategy === 'copy',
    isRestored: source?.kind === 'snapshot',
  });
  const left = await awaitFact(tools, {
    patienceMs: goneWithinMs,
    look: () => remover.round(),
    isOver: (names) => names.length === 0,
  });
  const isHeldFor = how.isComplete || volume?.metadata.deletionTimestamp !== undefined;
  if (left.length === 0 && isHeldFor) await letGo(tools, of, how.isComplete ? volume : null);
  return { left, ...(await releaseSlot(tools, work.slot)) };
}

/** @param known as it was written a moment ago; null: it is read */
const letGo = (tools: VolumeTools, { namespace, name, uid }: OfVolume, known: DataVolume | null): Promise<boolean> =>
  patchFinalizer(tools, resources.DataVolume, {
    key: { namespace, name },
    uid,
    ...(known !== null && { known: known.metadata }),
    finalizer: dataVolumeFinalizer,
    present: false,
    action: 'patchDataVolumeFinalizer',
    object: `datavolume/${namespace}/${name}`,
  });
