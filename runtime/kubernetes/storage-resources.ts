import { z } from 'zod';

import {
  admissionPolicy,
  admissionPolicyBinding,
  coreEvent,
  csiDriver,
  job,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  storageClass,
  volumeSnapshot,
  volumeSnapshotClass,
  volumeSnapshotContent,
} from '../../contracts/kinds/storage-resources.ts';
import { typed } from './resources.ts';

/** What is read of the kinds that volumes are made of. All else in them is kept as it is. */

const texts = z.record(z.string(), z.string());

const owner = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
});

const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string(),
  resourceVersion: z.string(),
  creationTimestamp: z.string(),
  deletionTimestamp: z.string().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z.array(owner).optional(),
});

const volumeMode = z.enum(['Filesystem', 'Block']).optional();

/** Of an object of the same namespace. */
const reference = z.looseObject({ apiGroup: z.string().nullish(), kind: z.string(), name: z.string() });

const storage = z.looseObject({ storage: z.string().optional() });

const condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const claimSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    accessModes: z.array(z.string()).optional(),
    dataSource: reference.nullish(),
    resources: z.looseObject({ requests: storage.optional() }).optional(),
    storageClassName: z.string().optional(),
    volumeMode,
    volumeName: z.string().optional(),
  }),
  status: z
    .looseObject({
      phase: z.enum(['Pending', 'Bound', 'Lost']).optional(),
      capacity: storage.optional(),
      conditions: z.array(condition).optional(),
    })
    .optional(),
});
export type Claim = z.output<typeof claimSchema>;

const volumeSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    capacity: storage.optional(),
    claimRef: z
      .looseObject({
        namespace: z.string().optional(),
        name: z.string().optional(),
        uid: z.string().nullish(),
        resourceVersion: z.string().nullish(),
      })
      .nullish(),
    persistentVolumeReclaimPolicy: z.enum(['Retain', 'Delete', 'Recycle']).optional(),
    storageClassName: z.string().optional(),
    csi: z.looseObject({ driver: z.string() }).optional(),
  }),
  status: z.looseObject({ phase: z.string().optional() }).optional(),
});
export type Volume = z.output<typeof volumeSchema>;

const storageClassSchema = z.looseObject({
  metadata,
  provisioner: z.string(),
  parameters: texts.optional(),
  allowVolumeExpansion: z.boolean().optional(),
  reclaimPolicy: z.string().optional(),
  volumeBindingMode: z.string().optional(),
});
export type StorageClass = z.output<typeof storageClassSchema>;

const snapshotSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    source: z.looseObject({
      persistentVolumeClaimName: z.string().optional(),
      volumeSnapshotContentName: z.string().optional(),
    }),
    volumeSnapshotClassName: z.string().optional(),
  }),
  status: z
    .looseObject({
      boundVolumeSnapshotContentName: z.string().optional(),
      creationTime: z.string().nullish(),
      readyToUse: z.boolean().optional(),
      restoreSize: z.union([z.string(), z.number()]).nullish(),
      error: z.looseObject({ message: z.string().optional() }).nullish(),
    })
    .optional(),
});
export type Snapshot = z.output<typeof snapshotSchema>;

const snapshotContentSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    deletionPolicy: z.enum(['Delete', 'Retain']),
    driver: z.string(),
    sourceVolumeMode: volumeMode,
    volumeSnapshotRef: z.looseObject({
      namespace: z.string().optional(),
      name: z.string().optional(),
      uid: z.string().optional(),
    }),
  }),
});
export type SnapshotContent = z.output<typeof snapshotContentSchema>;

const snapshotClassSchema = z.looseObject({ metadata, driver: z.string(), deletionPolicy: z.string().optional() });
export type SnapshotClass = z.output<typeof snapshotClassSchema>;

const containerState = z.looseObject({
  waiting: z.looseObject({ reason: z.string().optional(), message: z.string().optional() }).nullish(),
});

const podSchema = z.looseObject({
  metadata,
  spec: z.looseObject({
    volumes: z
      .array(z.looseObject({ persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional() }))
      .optional(),
  }),
  status: z
    .looseObject({
      phase: z.string().optional(),
      conditions: z.array(condition).nullish(),
      containerStatuses: z.array(z.looseObject({ state: containerState.nullish() })).nullish(),
    })
    .optional(),
});
export type Pod = z.output<typeof podSchema>;

const jobSchema = z.looseObject({
  metadata,
  spec: z.looseObject({}).optional(),
  status: z
    .looseObject({
      conditions: z.array(condition).optional(),
      // How many of its Pods do, or did.
      ready: z.number().nullish(),
      succeeded: z.number().nullish(),
      failed: z.number().nullish(),
      terminating: z.number().nullish(),
    })
    .optional(),
});
export type Job = z.output<typeof jobSchema>;

const eventSchema = z.looseObject({
  metadata,
  involvedObject: z.looseObject({ uid: z.string().optional() }).nullish(),
  type: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  firstTimestamp: z.string().nullish(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
  series: z.looseObject({ lastObservedTime: z.string().optional() }).nullish(),
});
export type CoreEvent = z.output<typeof eventSchema>;

const wholeSchema = z.looseObject({ metadata, spec: z.unknown() });

export const storageResources = {
  PersistentVolumeClaim: typed(persistentVolumeClaim, claimSchema),
  PersistentVolume: typed(persistentVolume, volumeSchema),
  StorageClass: typed(storageClass, storageClassSchema),
  CSIDriver: typed(csiDriver, z.looseObject({ metadata })),
  VolumeSnapshot: typed(volumeSnapshot, snapshotSchema),
  VolumeSnapshotContent: typed(volumeSnapshotContent, snapshotContentSchema),
  VolumeSnapshotClass: typed(volumeSnapshotClass, snapshotClassSchema),
  Pod: typed(pod, podSchema),
  Job: typed(job, jobSchema),
  Event: typed(coreEvent, eventSchema),
  ValidatingAdmissionPolicy: typed(admissionPolicy, wholeSchema),
  ValidatingAdmissionPolicyBinding: typed(admissionPolicyBinding, wholeSchema),
};
