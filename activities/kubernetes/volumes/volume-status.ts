import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import { setVolumeConditions } from '../../../contracts/data-volume/conditions.ts';
import type { VolumeCondition, VolumeStatus } from '../../../contracts/data-volume/data-volume.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { conditionMessageLimit, cut } from '../lib/cut-text.ts';
import { patchHolds } from '../lib/merge-patch.ts';
import { announce } from '../lib/write-event.ts';
import type { VolumeTools } from './dependencies.ts';

const cutMessage = (condition: VolumeCondition): VolumeCondition => ({
  ...condition,
  message: cut(condition.message, conditionMessageLimit),
});

/**
 * Writes the status where it differs, and its Event. What the object says of itself is no mutation that `drover stop`
 * holds back.
 *
 * @returns metadata of the object then
 * @throws ObjectConflict, ObjectNotFound
 */
export async function writeVolumeStatus(
  tools: VolumeTools,
  found: DataVolume,
  { phase, progress, claimName, conditions, event }: VolumeStatus,
): Promise<DataVolume['metadata']> {
  const { client, scope, clock } = tools;
  const { metadata } = found;
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const status = {
    phase,
    progress,
    claimName,
    conditions: setVolumeConditions(found.status?.conditions ?? [], conditions.map(cutMessage), now),
  };
  if (patchHolds(found.status, status)) return metadata;
  if (event !== null) {
    const { namespace = '', name, uid } = metadata;
    // Before the status, which shows what is said already.
    await announce(tools, { regarding: { resource: resources.DataVolume, namespace, name, uid }, ...event }, [
      uid,
      String(scope.scheduledMs),
      event.reason,
      event.message,
    ]);
  }
  return (await client.patchStatus(resources.DataVolume, metadata, status, scope.signal)).metadata;
}
