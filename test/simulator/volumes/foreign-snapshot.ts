import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { storageNames } from './storage-classes.ts';
import type { VolumeWorld, VolumeWorldOptions } from './volume-world.ts';

/** A VolumeSnapshot of the world's driver, and a class of another one. */

export const other = 'other.csi.drover.dev';
export const otherClass = 'other';

export const withOtherDriver = (settings: object = {}, more: object = {}): VolumeWorldOptions => ({
  settings: { copyImage: 'drover:test', ...settings },
  otherDrivers: [{ name: other }],
  async prepare(api) {
    await applyObject(api, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: otherClass },
      provisioner: other,
      allowVolumeExpansion: true,
      ...more,
    });
    await applyObject(api, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: other },
      spec: { attachRequired: false },
    });
  },
});

/** A source of the world's driver is cut, and written again: only the snapshot has the bytes. */
export async function cutMonday(world: VolumeWorld, namespace: string): Promise<void> {
  await world.makeSource('golden', 'bytes', { storageClassName: storageNames.classes.fixed }, namespace);
  await applyObject(world.api, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { namespace, name: 'monday' },
    spec: { source: { persistentVolumeClaimName: 'golden' }, volumeSnapshotClassName: storageNames.snapshotClass },
  });
  await world.until(async () => (await world.snapshots(namespace)).some(({ status }) => status?.readyToUse === true));
  world.storage.write(namespace, 'golden', 'newer');
}
