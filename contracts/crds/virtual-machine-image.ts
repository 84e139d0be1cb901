import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { conditions, customResource, int32, listMap, quantity, reference } from './schema.ts';
import { olderVersions } from '../virtual-machine/older-versions.ts';

const spec = z.object({
  providerRef: reference().optional(),
});

const status = z.object({
  capabilities: z.array(z.string()).optional(),
  conditions: conditions().optional(),
  disks: listMap(
    ['name'],
    z.object({
      controllerBusNumber: int32().optional(),
      controllerType: z.enum(['IDE', 'NVME', 'SCSI', 'SATA']).optional(),
      limit: quantity().optional(),
      name: z.string(),
      requested: quantity().optional(),
      unitNumber: int32().optional(),
    }),
  ).optional(),
  firmware: z.string().optional(),
  hardwareVersion: int32().optional(),
  name: z.string().optional(),
  osInfo: z
    .object({ id: z.string().optional(), type: z.string().optional(), version: z.string().optional() })
    .optional(),
  ovfProperties: z.array(z.object({ default: z.string().optional(), key: z.string(), type: z.string() })).optional(),
  productInfo: z
    .object({
      fullVersion: z.string().optional(),
      product: z.string().optional(),
      vendor: z.string().optional(),
      version: z.string().optional(),
    })
    .optional(),
  providerContentVersion: z.string().optional(),
  providerItemID: z.string().optional(),
  type: z.string().optional(),
  vmwareSystemProperties: z.array(z.object({ key: z.string(), value: z.string().optional() })).optional(),
});

export const virtualMachineImageSchema = customResource('vmoperator.vmware.com/v1alpha6', 'VirtualMachineImage', {
  spec: spec.optional(),
  status: status.optional(),
});
export const clusterVirtualMachineImageSchema = customResource(
  'vmoperator.vmware.com/v1alpha6',
  'ClusterVirtualMachineImage',
  { spec: spec.optional(), status: status.optional() },
);

/** What a VM can be made from: an item of a content library, or a template. */
export type VirtualMachineImage = z.output<typeof virtualMachineImageSchema>;
export type ClusterVirtualMachineImage = z.output<typeof clusterVirtualMachineImageSchema>;

export const anyImageSchema = z.discriminatedUnion('kind', [
  virtualMachineImageSchema,
  clusterVirtualMachineImageSchema,
]);
export type AnyImage = z.output<typeof anyImageSchema>;

/** vm-operator's columns, in its order; drover's own follow. */
const columns = [
  { name: 'Display Name', type: 'string', jsonPath: '.status.name' },
  { name: 'Type', type: 'string', jsonPath: '.status.type' },
  { name: 'Image Version', type: 'string', jsonPath: '.status.productInfo.version' },
  { name: 'OS Name', type: 'string', jsonPath: '.status.osInfo.type' },
  { name: 'OS Version', type: 'string', jsonPath: '.status.osInfo.version' },
  { name: 'Hardware Version', type: 'string', jsonPath: '.status.hardwareVersion' },
] as const;
const ownColumns = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const;

export const virtualMachineImageCrd: CrdBody = {
  shortNames: ['vmi', 'vmimage'],
  olderVersions,
  description: 'What virtual machines of a namespace can be made from.',
  schema: virtualMachineImageSchema,
  printColumns: [...columns, { name: 'Capabilities', type: 'string', jsonPath: '.status.capabilities' }, ...ownColumns],
};

export const clusterVirtualMachineImageCrd: CrdBody = {
  shortNames: ['cvmi', 'cvmimage', 'clustervmi', 'clustervmimage'],
  olderVersions,
  description: 'What virtual machines of every namespace can be made from.',
  schema: clusterVirtualMachineImageSchema,
  printColumns: [...columns, ...ownColumns],
};
