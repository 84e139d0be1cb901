import { z } from 'zod';
import { cdiConditions } from './data-volume.ts';
import type { CrdBody } from './definition.ts';
import { customResource, withRules } from './schema.ts';

export const objectTransferSchema = customResource('cdi.kubevirt.io/v1beta1', 'ObjectTransfer', {
  spec: z.object({
    parentName: z.string().optional(),
    source: z.object({
      apiVersion: z.string().optional(),
      kind: z.string(),
      name: z.string(),
      namespace: z.string(),
      requiredAnnotations: z.record(z.string(), z.string()).optional(),
    }),
    target: withRules(z.object({ name: z.string().optional(), namespace: z.string().optional() }), {
      cel: 'has(self.name) || has(self.namespace)',
      message: 'Target namespace and/or target name must be supplied',
    }),
  }),
  status: z
    .object({
      conditions: cdiConditions().optional(),
      data: z.record(z.string(), z.string()).optional().describe('What was there before each step.'),
      phase: z.enum(['', 'Pending', 'Running', 'Complete', 'Error']).optional(),
    })
    .optional(),
});

/**
 * How far a volume has come on its way to another namespace: drover's own record. It drives none that others have made.
 */
export type ObjectTransfer = z.output<typeof objectTransferSchema>;

export const objectTransferCrd: CrdBody = {
  shortNames: ['ot', 'ots'],
  description:
    'How far a volume has come on its way to another namespace. A record: drover drives none that others have made.',
  schema: objectTransferSchema,
  printColumns: [
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ],
};
