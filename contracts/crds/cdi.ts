import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource } from './schema.ts';

const printColumns = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }] as const;

export const cdiSchema = customResource('cdi.kubevirt.io/v1beta1', 'CDI', {
  spec: z.looseObject({ cloneStrategyOverride: z.string().nullish() }).optional(),
});

/** The installation of CDI, as far as it says how volumes are cloned. */
export type Cdi = z.output<typeof cdiSchema>;

export const cdiCrd: CrdBody = {
  description: 'The installation of CDI.',
  schema: cdiSchema,
  printColumns,
};

export const cdiConfigSchema = customResource('cdi.kubevirt.io/v1beta1', 'CDIConfig', {
  status: z
    .looseObject({
      filesystemOverhead: z
        .looseObject({
          global: z.string().nullish(),
          storageClass: z.record(z.string(), z.string()).nullish(),
        })
        .nullish(),
    })
    .optional(),
});

/** The settings of CDI, of which there is one, `config`. */
export type CdiConfig = z.output<typeof cdiConfigSchema>;

export const cdiConfigCrd: CrdBody = {
  description: 'The settings of CDI.',
  schema: cdiConfigSchema,
  printColumns,
};
