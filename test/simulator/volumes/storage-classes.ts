import type { FakeKubernetes } from '../../fakes/kubernetes/fake-kubernetes.ts';

/** As the lab has them for its directory driver. */
export const storageNames = {
  driver: 'dir.csi.drover.dev',
  classes: { plain: 'dir', fixed: 'dir-fixed', delayed: 'dir-wffc' },
  snapshotClass: 'dir',
} as const;

const storageClass = (name: string, provisioner: string, more: object = {}): object => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner,
  allowVolumeExpansion: true,
  ...more,
});

/** The classes of one driver. */
export function installClasses({ answer }: Pick<FakeKubernetes, 'answer'>): void {
  const { driver, classes, snapshotClass } = storageNames;
  const storage = '/apis/storage.k8s.io/v1';
  const isDefault = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };
  for (const body of [
    storageClass(classes.plain, driver, { metadata: { name: classes.plain, ...isDefault } }),
    storageClass(classes.fixed, driver, { allowVolumeExpansion: false }),
    storageClass(classes.delayed, driver, { volumeBindingMode: 'WaitForFirstConsumer' }),
  ])
    answer({ method: 'POST', path: `${storage}/storageclasses`, body });
  answer({
    method: 'POST',
    path: `${storage}/csidrivers`,
    body: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: driver },
      spec: { attachRequired: false },
    },
  });
  answer({
    method: 'POST',
    path: '/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses',
    body: {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: { name: snapshotClass },
      driver,
      deletionPolicy: 'Delete',
    },
  });
}
