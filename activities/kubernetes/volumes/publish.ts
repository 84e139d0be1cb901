import { retryHandledAnnotation } from '../../../contracts/eviction/annotations.ts';
import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { DataVolumeActivities } from '../../../contracts/data-volume/data-volume.ts';
import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { announce } from '../lib/write-event.ts';
import { findVolume } from './begin-work.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { writeVolumeStatus } from './volume-status.ts';
import { versionOf } from './write-object.ts';

type Requests = { [Name in keyof DataVolumeActivities]: Parameters<DataVolumeActivities[Name]>[0] };

/** Of one that is gone nothing is said. What the object says of itself is no mutation that `drover stop` holds back. */
async function say(tools: VolumeTools, of: OfVolume, write: (found: DataVolume) => Promise<void>): Promise<void> {
  await retryConflicts(async () => {
    const found = await findVolume(tools, of);
    if (found === null) return;
    try {
      await write(found);
    } catch (error) {
      if (!isFailure(error, 'ObjectNotFound')) throw error;
    }
  });
}

async function annotate(
  { client, scope }: VolumeTools,
  metadata: DataVolume['metadata'],
  key: string,
  value: string,
): Promise<void> {
  if (metadata.annotations?.[key] === value) return;
  const change = { metadata: { annotations: { [key]: value } } };
  await client.patch(resources.DataVolume, versionOf(metadata), change, scope.signal);
}

export const publishDataVolume = (
  tools: VolumeTools,
  { status, retryHandled, ...of }: Requests['publishDataVolume'],
): Promise<void> =>
  say(tools, of, async (found) => {
    const metadata = await writeVolumeStatus(tools, found, status);
    if (retryHandled !== null) await annotate(tools, metadata, retryHandledAnnotation, retryHandled);
  });

/** Its status is CDI's. */
export const leaveDataVolume = (tools: VolumeTools, { source, ...of }: Requests['leaveDataVolume']): Promise<void> =>
  say(tools, of, async ({ metadata }) => {
    if (metadata.annotations?.[volumeAnnotations.leftTo] === 'cdi') return;
    const { namespace, name, uid } = of;
    await announce(
      tools,
      {
        regarding: { resource: resources.DataVolume, namespace, name, uid },
        type: 'Normal',
        reason: 'LeftToCdi',
        message: `drover clones volumes and makes empty ones; a volume of the source ${source} is left to CDI`,
      },
      [uid, 'LeftToCdi'],
    );
    await annotate(tools, metadata, volumeAnnotations.leftTo, 'cdi');
  });
