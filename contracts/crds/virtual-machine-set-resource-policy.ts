import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, quantity } from './schema.ts';
import { olderVersions } from '../virtual-machine/older-versions.ts';

const amounts = z.object({ cpu: quantity().optional(), memory: quantity().optional() });

const spec = z.object({
  clusterModuleGroups: z.array(z.string()).optional(),
  folder: z.string().optional(),
  resourcePool: z
    .object({
      limits: amounts.optional(),
      name: z.string().optional(),
      reservations: amounts.optional(),
    })
    .optional(),
});

const status = z.object({
  clustermodules: z
    .array(z.object({ clusterMoID: z.string(), groupName: z.string(), moduleUUID: z.string() }))
    .optional(),
  resourcePools: z.array(z.object({ childResourcePoolMoID: z.string(), clusterMoID: z.string() })).optional(),
});

export const virtualMachineSetResourcePolicySchema = customResource(
  'vmoperator.vmware.com/v1alpha6',
  'VirtualMachineSetResourcePolicy',
  { spec: spec.optional(), status: status.optional() },
);

/**
 * A folder, a resource pool and modules of anti-affinity that VMs share. See docs/compatibility.md#resource-policies.
 */
export type VirtualMachineSetResourcePolicy = z.output<typeof virtualMachineSetResourcePolicySchema>;

export const virtualMachineSetResourcePolicyCrd: CrdBody = {
  olderVersions,
  description: 'A folder, a resource pool and modules of anti-affinity that virtual machines share.',
  schema: virtualMachineSetResourcePolicySchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
