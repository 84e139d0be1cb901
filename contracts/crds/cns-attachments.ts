import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, int32, listMap, looseConditions } from './schema.ts';

/**
 * What the vSphere CSI driver attaches volumes to VMs by (`cns.vmware.com/v1alpha1`): one object for each volume, or
 * one for each VM.
 */

export const cnsDiskModes = [
  'persistent',
  'independent_persistent',
  'nonpersistent',
  'independent_nonpersistent',
] as const;
export const cnsSharingModes = ['sharingNone', 'sharingMultiWriter'] as const;

export const cnsNodeVmAttachmentSchema = customResource('cns.vmware.com/v1alpha1', 'CnsNodeVmAttachment', {
  spec: z.object({
    nodeuuid: z.string().describe('BIOS UUID of the VM.'),
    volumename: z.string().describe('Name of the PersistentVolumeClaim.'),
  }),
  status: z
    .looseObject({
      attached: z.boolean().optional(),
      metadata: z.record(z.string(), z.string()).optional().describe('`diskUUID`, `cnsVolumeId`.'),
      error: z.string().optional(),
    })
    .optional(),
});
export type CnsNodeVmAttachment = z.output<typeof cnsNodeVmAttachmentSchema>;

const attachedClaim = z.object({
  claimName: z.string(),
  controllerKey: int32(),
  diskMode: z.enum(cnsDiskModes),
  sharingMode: z.enum(cnsSharingModes),
  unitNumber: int32(),
});

const claimStatus = z.looseObject({
  claimName: z.string().optional(),
  cnsVolumeId: z.string().optional(),
  diskUUID: z.string().optional(),
  /** Of the kind's first versions; later ones have conditions. */
  attached: z.boolean().optional(),
  error: z.string().optional(),
  conditions: looseConditions(),
});

export const cnsNodeVmBatchAttachmentSchema = customResource('cns.vmware.com/v1alpha1', 'CnsNodeVMBatchAttachment', {
  spec: z.object({
    instanceUUID: z.string().describe('Instance UUID of the VM.'),
    volumes: listMap(['name'], z.object({ name: z.string(), persistentVolumeClaim: attachedClaim })).optional(),
  }),
  status: z
    .looseObject({
      volumes: z.array(z.looseObject({ name: z.string(), persistentVolumeClaim: claimStatus.optional() })).optional(),
    })
    .optional(),
});
export type CnsNodeVmBatchAttachment = z.output<typeof cnsNodeVmBatchAttachmentSchema>;

export const cnsNodeVmAttachmentCrd: CrdBody = {
  description: 'Has the vSphere CSI driver attach a volume to a VM.',
  schema: cnsNodeVmAttachmentSchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};

export const cnsNodeVmBatchAttachmentCrd: CrdBody = {
  shortNames: ['batchattach'],
  description: 'Has the vSphere CSI driver attach volumes to a VM.',
  schema: cnsNodeVmBatchAttachmentSchema,
  printColumns: [{ name: 'InstanceUUID', type: 'string', jsonPath: '.spec.instanceUUID' }],
};
