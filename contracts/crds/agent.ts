import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, looseConditions } from './schema.ts';

const inventory = z.looseObject({
  hostname: z.string().optional(),
  interfaces: z.array(z.looseObject({ macAddress: z.string().optional(), name: z.string().optional() })).nullish(),
  systemVendor: z.looseObject({ serialNumber: z.string().optional() }).optional(),
});

export const agentSchema = customResource('agent-install.openshift.io/v1beta1', 'Agent', {
  spec: z
    .looseObject({
      approved: z.boolean().optional(),
      clusterDeploymentName: z.looseObject({ name: z.string().optional(), namespace: z.string().optional() }).nullish(),
      hostname: z.string().optional(),
      role: z.string().optional(),
    })
    .optional(),
  status: z
    .looseObject({
      conditions: looseConditions(),
      debugInfo: z.looseObject({ state: z.string().optional() }).optional(),
      inventory: inventory.optional(),
    })
    .optional(),
});

/** A host that has booted the discovery ISO; assisted-service's. */
export type Agent = z.output<typeof agentSchema>;

export const agentCrd: CrdBody = {
  description: 'A host that has booted the discovery ISO.',
  schema: agentSchema,
  printColumns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterDeploymentName.name' },
    { name: 'Approved', type: 'boolean', jsonPath: '.spec.approved' },
    { name: 'Role', type: 'string', jsonPath: '.spec.role' },
  ],
};
