import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, looseConditions } from './schema.ts';

export const clusterMachineSchema = customResource('cluster.x-k8s.io/v1beta1', 'Machine', {
  spec: z.looseObject({ clusterName: z.string().optional(), providerID: z.string().nullish() }).optional(),
  status: z
    .looseObject({
      conditions: looseConditions(),
      nodeRef: z.looseObject({ name: z.string().optional() }).nullish(),
      phase: z.string().optional(),
    })
    .optional(),
});

/** A Machine of Cluster API: what becomes a Node of a hosted cluster. */
export type ClusterMachine = z.output<typeof clusterMachineSchema>;

export const clusterMachineCrd: CrdBody = {
  description: 'What becomes a Node of a hosted cluster.',
  schema: clusterMachineSchema,
  printColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
