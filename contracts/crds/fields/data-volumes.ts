import { by, informational, notApplicable, refusedBy, type FieldRows } from './field.ts';

/** What becomes of the fields of CDI’s objects that drover defines. */

const readVolume = 'contracts/data-volume/read-data-volume.ts';
const renderClaim = 'contracts/data-volume/render-claim.ts';
const volumeStatus = 'activities/kubernetes/volumes/volume-status.ts';
const resolveSource = 'activities/kubernetes/volumes/resolve-source.ts';
const transfer = 'activities/kubernetes/volumes/object-transfer.ts';
const profile = 'contracts/data-volume/storage-profile.ts';
const copyJob = 'activities/kubernetes/volumes/copy-job.ts';
const profileStatus = 'activities/kubernetes/volumes/storage-profile.ts';

export const dataVolumeFields: FieldRows = {
  'spec.checkpoints[].current': informational('of an import, which is left to CDI'),
  'spec.checkpoints[].previous': informational('of an import, which is left to CDI'),
  'spec.contentType': by([readVolume, renderClaim]),
  'spec.finalCheckpoint': informational('of an import, which is left to CDI'),
  'spec.preallocation': refusedBy(renderClaim, 'ErrClaimNotValid'),
  'spec.priorityClassName': by(copyJob),
  'spec.pvc.dataSource.apiGroup': by(readVolume, 'dataSource'),
  'spec.pvc.dataSource.kind': by(readVolume, 'dataSource'),
  'spec.pvc.dataSource.name': by(readVolume, 'dataSource'),
  'spec.pvc.dataSourceRef.apiGroup': by(readVolume, 'dataSourceRef'),
  'spec.pvc.dataSourceRef.kind': by(readVolume, 'dataSourceRef'),
  'spec.pvc.dataSourceRef.name': by(readVolume, 'dataSourceRef'),
  'spec.pvc.dataSourceRef.namespace': by(readVolume, 'dataSourceRef'),
  'spec.pvc.resources.limits{}': informational('Kubernetes makes nothing of the limits of a claim'),
  'spec.pvc.resources.requests{}': by(renderClaim),
  'spec.pvc.selector': by(renderClaim, 'selector'),
  'spec.pvc.storageClassName': by(renderClaim, 'storageClassName'),
  'spec.pvc.volumeMode': by(renderClaim, 'volumeMode'),
  'spec.pvc.volumeName': by(renderClaim, 'volumeName'),
  'spec.pvc.accessModes[]': by(renderClaim, 'accessModes'),
  'spec.pvc.volumeAttributesClassName': refusedBy(renderClaim, 'ErrClaimNotValid'),
  'spec.serviceAccountName': informational('of an import, which is left to CDI'),
  'spec.source.pvc.namespace': by(readVolume, 'source', 'namespace'),
  'spec.source.pvc.name': by(readVolume, 'source', 'name'),
  'spec.source.snapshot.namespace': by(readVolume, 'source', 'namespace'),
  'spec.source.snapshot.name': by(readVolume, 'source', 'name'),
  'spec.source.blank': by(readVolume),
  'spec.source.gcs': by(readVolume, 'foreignSource'),
  'spec.source.http': by(readVolume, 'foreignSource'),
  'spec.source.imageio': by(readVolume, 'foreignSource'),
  'spec.source.registry': by(readVolume, 'foreignSource'),
  'spec.source.s3': by(readVolume, 'foreignSource'),
  'spec.source.upload': by(readVolume, 'foreignSource'),
  'spec.source.vddk': by(readVolume, 'foreignSource'),
  'spec.sourceRef.kind': by(readVolume),
  'spec.sourceRef.name': by(readVolume),
  'spec.sourceRef.namespace': by(readVolume),
  'spec.storage.dataSource.apiGroup': by(readVolume, 'dataSource'),
  'spec.storage.dataSource.kind': by(readVolume, 'dataSource'),
  'spec.storage.dataSource.name': by(readVolume, 'dataSource'),
  'spec.storage.dataSourceRef.apiGroup': by(readVolume, 'dataSourceRef'),
  'spec.storage.dataSourceRef.kind': by(readVolume, 'dataSourceRef'),
  'spec.storage.dataSourceRef.name': by(readVolume, 'dataSourceRef'),
  'spec.storage.dataSourceRef.namespace': by(readVolume, 'dataSourceRef'),
  'spec.storage.resources.limits{}': informational('Kubernetes makes nothing of the limits of a claim'),
  'spec.storage.resources.requests{}': by(renderClaim),
  'spec.storage.selector': by(renderClaim, 'selector'),
  'spec.storage.storageClassName': by(renderClaim, 'storageClassName'),
  'spec.storage.volumeMode': by(renderClaim, 'volumeMode'),
  'spec.storage.volumeName': by(renderClaim, 'volumeName'),
  'spec.storage.accessModes[]': by(renderClaim, 'accessModes'),
  'status.conditions': by(volumeStatus, 'conditions', 'setVolumeConditions'),
  'status.claimName': by(volumeStatus),
  'status.phase': by(volumeStatus),
  'status.progress': by(volumeStatus),
  'status.restartCount': notApplicable('restarts of CDI’s importer; a copy is a Job, whose Events say so'),
};

export const dataSourceFields: FieldRows = {
  'spec.source.pvc.namespace': by(resolveSource, 'source', 'namespace'),
  'spec.source.pvc.name': by(resolveSource, 'source', 'name'),
  'spec.source.snapshot.namespace': by(resolveSource, 'source', 'namespace'),
  'spec.source.snapshot.name': by(resolveSource, 'source', 'name'),
  'spec.source.dataSource.namespace': by(resolveSource, 'source', 'namespace'),
  'spec.source.dataSource.name': by(resolveSource, 'source', 'name'),
  'status.conditions': informational('written by CDI'),
  'status.source.pvc.namespace': informational('written by CDI'),
  'status.source.pvc.name': informational('written by CDI'),
  'status.source.snapshot.namespace': informational('written by CDI'),
  'status.source.snapshot.name': informational('written by CDI'),
  'status.source.dataSource.namespace': informational('written by CDI'),
  'status.source.dataSource.name': informational('written by CDI'),
};

export const objectTransferFields: FieldRows = {
  'spec.parentName': informational('of CDI’s own transfers, which drover leaves alone'),
  'spec.source.apiVersion': informational('of CDI’s own transfers, which drover leaves alone'),
  'spec.source.kind': by(transfer, 'source'),
  'spec.source.name': by(transfer, 'source'),
  'spec.source.namespace': by(transfer, 'source'),
  'spec.source.requiredAnnotations{}': informational('of CDI’s own transfers, which drover leaves alone'),
  'spec.target.name': by(transfer, 'target'),
  'spec.target.namespace': by(transfer, 'target'),
  'status.conditions': by(transfer, 'conditions'),
  'status.data{}': by(transfer),
  'status.phase': by(transfer),
};

export const storageProfileFields: FieldRows = {
  'spec.claimPropertySets[].accessModes[]': by([profile, renderClaim], 'claimPropertySets'),
  'spec.claimPropertySets[].volumeMode': by([profile, renderClaim], 'claimPropertySets'),
  'spec.cloneStrategy': by([profile, renderClaim], 'cloneStrategy'),
  'spec.dataImportCronSourceFormat': by([profile, renderClaim], 'dataImportCronSourceFormat'),
  'spec.snapshotClass': by([profile, renderClaim], 'snapshotClass'),
  'status.conditions': by(profileStatus, 'conditions'),
  'status.claimPropertySets[].accessModes[]': by(profileStatus, 'claimPropertySets'),
  'status.claimPropertySets[].volumeMode': by(profileStatus, 'claimPropertySets'),
  'status.cloneStrategy': by(profileStatus),
  'status.dataImportCronSourceFormat': by(profileStatus),
  'status.snapshotClass': by(profileStatus),
  'status.provisioner': by(profileStatus),
  'status.storageClass': by(profileStatus),
};
