import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { ClaimedVolume, VolumeWork } from '../../../contracts/data-volume/data-volume.ts';
import { writeClaimedSource } from '../../../contracts/data-volume/read-data-volume.ts';
import { dataVolumeFinalizer, volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { patchHolds } from '../lib/merge-patch.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { writeVolumeStatus } from './volume-status.ts';
import { patchObject, versionOf } from './write-object.ts';

/** Null: there is none of that uid any more. */
export async function findVolume({ client, scope }: VolumeTools, of: OfVolume): Promise<DataVolume | null> {
  const { namespace, name, uid } = of;
  const found = await client.get(resources.DataVolume, { namespace, name }, scope.signal);
  return found?.metadata.uid === uid ? found : null;
}

/** One for which something may be made. @throws ObjectNotFound where it is gone or being deleted */
export async function liveVolume(tools: VolumeTools, of: OfVolume): Promise<DataVolume> {
  const found = await findVolume(tools, of);
  if (found !== null && found.metadata.deletionTimestamp === undefined) return found;
  throw droverFailure('ObjectNotFound', `DataVolume ${of.namespace}/${of.name} is gone or being deleted`);
}

/**
 * Says what the work is before it begins: the finalizer and what is fixed, then the status.
 *
 * @throws ObjectNotFound where the DataVolume is gone or being deleted
 */
export const beginWork = (tools: VolumeTools, { begin, ...of }: VolumeWork): Promise<DataVolume> =>
  retryConflicts(async () => {
    const found = await liveVolume(tools, of);
    if (begin === null) return found;
    const { claimed, status } = begin;
    const held = claimed === null ? found : await hold(tools, found, claimed);
    return status === null ? held : { ...held, metadata: await writeVolumeStatus(tools, held, status) };
  });

/** Work whose status is written when it has begun: storage does not wait for that. */
export interface HeldWork {
  /** The DataVolume as it is. @throws ObjectNotFound where the DataVolume is gone or being deleted meanwhile */
  live: () => Promise<DataVolume>;
  /** Writes the status, once. */
  say: () => Promise<void>;
}

/** As {@link beginWork}, but for the status: only one that says that the volume is complete is written first. */
export async function holdWork(tools: VolumeTools, { begin, ...of }: VolumeWork): Promise<HeldWork> {
  let volume = await beginWork(tools, { ...of, begin: begin && { ...begin, status: null } });
  let status = begin?.status ?? null;
  let isNew = true;
  const work: HeldWork = {
    async live() {
      // Until the work has begun it was read a moment ago.
      if (!isNew) volume = await liveVolume(tools, of);
      isNew = false;
      return volume;
    },
    async say() {
      isNew = false;
      const due = status;
      if (due === null) return;
      let known: DataVolume | null = volume;
      await retryConflicts(async () => {
        const found = known ?? (await findVolume(tools, of));
        known = null;
        if (found !== null) await writeVolumeStatus(tools, found, due);
      });
      // One that could not be written is due again.
      status = null;
    },
  };
  // What is made would be taken for the complete volume where the worker dies before the status is written.
  if (volume.status?.phase === 'Succeeded') await work.say();
  return work;
}

/** The status alone, of one that may be gone or being deleted. */
export const sayWork = async (tools: VolumeTools, { begin, ...of }: VolumeWork): Promise<void> => {
  const status = begin?.status ?? null;
  if (status === null) return;
  await retryConflicts(async () => {
    const found = await findVolume(tools, of);
    if (found !== null) await writeVolumeStatus(tools, found, status);
  });
};

/** What is fixed for a clone that begins anew, once nothing of the last attempt is left. */
export const fixAnew = async (tools: VolumeTools, { begin, ...of }: VolumeWork): Promise<void> => {
  const claimed = begin?.claimed ?? null;
  if (claimed === null) return;
  await retryConflicts(async () => {
    const found = await findVolume(tools, of);
    if (found !== null && found.metadata.deletionTimestamp === undefined) await hold(tools, found, claimed);
  });
};

async function hold(
  tools: VolumeTools,
  found: DataVolume,
  { strategy, fallbackReason, source }: ClaimedVolume,
): Promise<DataVolume> {
  const { metadata } = found;
  const { finalizers = [] } = metadata;
  const annotations = {
    [volumeAnnotations.cloneType]: strategy,
    [volumeAnnotations.cloneFallbackReason]: fallbackReason,
    [volumeAnnotations.cloneSource]: writeClaimedSource(source),
  };
  const change = {
    annotations,
    ...(!finalizers.includes(dataVolumeFinalizer) && { finalizers: [...finalizers, dataVolumeFinalizer] }),
  };
  if (patchHolds(metadata, change)) return found;
  return await patchObject(tools, resources.DataVolume, versionOf(metadata), {
    change: { metadata: change },
    before: { finalizers },
    cause: 'its clone begins',
  });
}
