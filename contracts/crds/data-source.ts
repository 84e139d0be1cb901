import { z } from 'zod';
import { cdiConditions, cloneSources } from './data-volume.ts';
import type { CrdBody } from './definition.ts';
import { customResource } from './schema.ts';

const source = z.object({
  ...cloneSources,
  dataSource: z
    .object({ namespace: z.string().min(1).max(63), name: z.string().min(1).max(253) })
    .optional()
    .describe('Another DataSource of the same namespace, which names no third one.'),
});

export const dataSourceSchema = customResource('cdi.kubevirt.io/v1beta1', 'DataSource', {
  spec: z.object({ source }),
  status: z
    .object({
      conditions: cdiConditions().optional(),
      source: source.optional().describe('What it comes to.'),
    })
    .optional(),
});

/** A name for what volumes are cloned from. */
export type DataSource = z.output<typeof dataSourceSchema>;

export const dataSourceCrd: CrdBody = {
  shortNames: ['das'],
  categories: ['all'],
  description: 'A name for what volumes are cloned from.',
  schema: dataSourceSchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
