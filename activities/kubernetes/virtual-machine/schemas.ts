import { z } from 'zod';

import { conditions, quantity } from '../../../contracts/crds/schema.ts';
import { secret, virtualMachineGroup, virtualMachineImageCache } from '../../../contracts/kinds/resources.ts';
import { virtualMachineKind } from '../../../contracts/kinds/virtual-machine.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';

/** What is read of kinds that others define. */

const metadata = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.int().default(0),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
});

const storageClassSchema = z.object({
  metadata,
  parameters: z.record(z.string(), z.string()).optional(),
  volumeBindingMode: z.string().optional(),
});

/** Values are base64. */
const secretSchema = z.object({ metadata, data: z.record(z.string(), z.string()).nullish() });

const storageAmount = z.object({ storage: quantity().optional() }).optional();
const claimSchema = z.object({
  metadata: metadata.extend({
    annotations: z.record(z.string(), z.string()).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    ownerReferences: z.array(z.looseObject({ uid: z.string(), controller: z.boolean().optional() })).optional(),
  }),
  spec: z
    .object({
      accessModes: z.array(z.string()).optional(),
      storageClassName: z.string().optional(),
      resources: z.object({ requests: storageAmount, limits: storageAmount }).optional(),
    })
    .optional(),
  status: z.object({ phase: z.string().optional() }).optional(),
});
export type Claim = z.output<typeof claimSchema>;

/** Everything of it, for a backup. */
const wholeVirtualMachineSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    generation: z.number(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z
    .looseObject({
      volumes: z
        .array(
          z.looseObject({
            name: z.string(),
            persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
  status: z
    .looseObject({
      volumes: z
        .array(z.looseObject({ name: z.string(), attached: z.boolean().optional(), diskUUID: z.string().optional() }))
        .optional(),
    })
    .optional(),
});
export type WholeVirtualMachine = z.output<typeof wholeVirtualMachineSchema>;

const location = { datacenterID: z.string(), datastoreID: z.string(), profileID: z.string() };

const cachedFile = z.object({ id: z.string(), type: z.enum(['Disk', 'Other']), diskType: z.string().optional() });

const imageCacheSchema = z.object({
  metadata,
  spec: z.object({
    providerID: z.string(),
    providerVersion: z.string().optional(),
    locations: z.array(z.object({ ...location, profileID: z.string().optional() })).optional(),
  }),
  status: z
    .object({
      conditions: conditions().optional(),
      locations: z
        .array(z.object({ ...location, conditions: conditions().optional(), files: z.array(cachedFile).optional() }))
        .optional(),
    })
    .optional(),
});
export type ImageCache = z.output<typeof imageCacheSchema>;

const member = { kind: z.string().default('VirtualMachine'), name: z.string() };

export const groupSchema = z.object({
  metadata,
  spec: z
    .object({ bootOrder: z.array(z.object({ members: z.array(z.object(member)).optional() })).optional() })
    .optional(),
  status: z
    .object({
      members: z
        .array(
          z.object({
            ...member,
            placement: z
              .object({
                zoneID: z.string().optional(),
                pool: z.string().optional(),
                node: z.string().optional(),
                datastores: z.array(z.object({ id: z.string().optional() })).optional(),
              })
              .optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
export type Group = z.output<typeof groupSchema>;

export const secretResource = typed(secret, secretSchema);
export const groups = typed(virtualMachineGroup, groupSchema);
export const imageCaches = typed(virtualMachineImageCache, imageCacheSchema);
export const wholeVirtualMachines = typed(virtualMachineKind, wholeVirtualMachineSchema);
export const storageClasses = typed(
  { group: 'storage.k8s.io', version: 'v1', kind: 'StorageClass', plural: 'storageclasses' },
  storageClassSchema,
);
export const claimResource = typed(
  { group: '', version: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  claimSchema,
);
