import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, int32, int64, listMap, quantity } from './schema.ts';
import { olderVersions } from '../virtual-machine/older-versions.ts';

const amounts = z.object({ cpu: quantity().optional(), memory: quantity().optional() });

const spec = z.object({
  configSpec: anyObject().optional(),
  controllerName: z.string().optional(),
  description: z.string().optional(),
  hardware: z
    .object({
      cpus: int64().optional(),
      devices: z
        .object({
          dynamicDirectPathIODevices: z
            .array(z.object({ customLabel: z.string().optional(), deviceID: int64(), vendorID: int64() }))
            .optional(),
          vgpuDevices: listMap(['profileName'], z.object({ profileName: z.string() })).optional(),
        })
        .optional(),
      instanceStorage: z
        .object({
          storageClass: z.string().optional(),
          volumes: z.array(z.object({ size: quantity() })).optional(),
        })
        .optional(),
      memory: quantity().optional(),
    })
    .optional(),
  policies: z
    .object({
      resources: z
        .object({
          limits: amounts.optional(),
          requests: amounts.optional(),
        })
        .optional(),
    })
    .optional(),
  reservedProfileID: z.string().optional(),
  reservedSlots: int32().min(0).optional(),
});

const status = z.object({});

export const virtualMachineClassSchema = customResource('vmoperator.vmware.com/v1alpha6', 'VirtualMachineClass', {
  spec: spec.optional(),
  status: status.optional(),
});

/** A size of VMs. */
export type VirtualMachineClass = z.output<typeof virtualMachineClassSchema>;

export const virtualMachineClassCrd: CrdBody = {
  shortNames: ['vmclass'],
  olderVersions,
  description: 'A size of virtual machines, with its devices and reservations.',
  schema: virtualMachineClassSchema,
  printColumns: [
    { name: 'CPU', type: 'string', jsonPath: '.spec.hardware.cpus' },
    { name: 'Memory', type: 'string', jsonPath: '.spec.hardware.memory' },
    { name: 'Capabilities', type: 'string', jsonPath: '.status.capabilities', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
