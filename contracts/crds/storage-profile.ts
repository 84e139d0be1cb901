import { z } from 'zod';
import { accessModes, cdiConditions, cloneStrategy, volumeMode } from './data-volume.ts';
import type { CrdBody } from './definition.ts';
import { customResource } from './schema.ts';

const profile = {
  claimPropertySets: z
    .array(
      z.object({
        accessModes: accessModes().describe('Those that volumes of that mode can have.'),
        volumeMode: volumeMode(),
      }),
    )
    .max(8)
    .optional()
    .describe('What the volumes of the class can be, the best first.'),
  cloneStrategy: cloneStrategy().optional().describe('How the volumes of the class are cloned.'),
  dataImportCronSourceFormat: z.enum(['pvc', 'snapshot']).optional(),
  snapshotClass: z.string().optional().describe('The VolumeSnapshotClass for its volumes.'),
};

export const storageProfileSchema = customResource('cdi.kubevirt.io/v1beta1', 'StorageProfile', {
  spec: z.object(profile).describe('What is to be otherwise than drover knows it.').optional(),
  status: z
    .object({
      ...profile,
      conditions: cdiConditions().optional(),
      provisioner: z.string().optional(),
      storageClass: z.string().optional(),
    })
    .optional(),
});

/** How volumes of a StorageClass are claimed and cloned (docs/data-volumes.md#storage-profiles). */
export type StorageProfile = z.output<typeof storageProfileSchema>;

export const storageProfileCrd: CrdBody = {
  description: 'How volumes of the StorageClass of that name are claimed and cloned.',
  schema: storageProfileSchema,
  printColumns: [
    { name: 'Provisioner', type: 'string', jsonPath: '.status.provisioner' },
    { name: 'Strategy', type: 'string', jsonPath: '.status.cloneStrategy' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
