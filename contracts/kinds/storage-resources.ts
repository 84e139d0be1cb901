import type { Resource } from './object.ts';

/** The kinds that volumes are made of, which drover reads or keeps and does not drive. */

const core = { group: '', version: 'v1', namespaced: true } as const;
const storage = { group: 'storage.k8s.io', version: 'v1', namespaced: false } as const;
const snapshots = { group: 'snapshot.storage.k8s.io', version: 'v1' } as const;
const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

export const persistentVolumeClaim = {
  ...core,
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
} as const satisfies Resource;
export const persistentVolume = {
  ...core,
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
} as const satisfies Resource;
export const pod = { ...core, kind: 'Pod', plural: 'pods' } as const satisfies Resource;
/** As the parts of the storage stack write them. */
export const coreEvent = { ...core, kind: 'Event', plural: 'events' } as const satisfies Resource;
export const resourceQuota = { ...core, kind: 'ResourceQuota', plural: 'resourcequotas' } as const satisfies Resource;
export const job = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
} as const satisfies Resource;
export const storageClass = { ...storage, kind: 'StorageClass', plural: 'storageclasses' } as const satisfies Resource;
export const csiDriver = { ...storage, kind: 'CSIDriver', plural: 'csidrivers' } as const satisfies Resource;
export const volumeSnapshot = {
  ...snapshots,
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  namespaced: true,
} as const satisfies Resource;
export const volumeSnapshotContent = {
  ...snapshots,
  kind: 'VolumeSnapshotContent',
  plural: 'volumesnapshotcontents',
  namespaced: false,
} as const satisfies Resource;
export const volumeSnapshotClass = {
  ...snapshots,
  kind: 'VolumeSnapshotClass',
  plural: 'volumesnapshotclasses',
  namespaced: false,
} as const satisfies Resource;
export const admissionPolicy = {
  ...admission,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
} as const satisfies Resource;
export const admissionPolicyBinding = {
  ...admission,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
} as const satisfies Resource;
