import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { conditions, customResource, int64, withRules } from './schema.ts';

const specSchema = z
  .object({
    hypervisor: withRules(z.string().min(1).describe('Name of the hypervisor to empty. Cannot be changed.'), {
      cel: 'self == oldSelf',
      message: 'Value is immutable',
    }),
    reason: z.string().min(1).describe('Why, for people. Selects nothing.'),
  })
  .describe('What is asked for.');

const statusSchema = z
  .object({
    hypervisorServiceId: z.string().optional().describe('Id of the hypervisor in Nova.'),
    outstandingRamMb: int64()
      .default(0)
      .optional()
      .describe('Memory of the instances that are still on the hypervisor, in MiB.'),
    outstandingInstances: z
      .array(z.string())
      .optional()
      .describe('Ids of the instances that are still on the hypervisor.'),
    evictionState: z
      .enum(['Pending', 'Running', 'Failed', 'Succeeded'])
      .optional()
      .describe('The condition Evicting in a word, as node agents read it on the Eviction of their host’s name.'),
    conditions: conditions().optional(),
  })
  .describe('How far it has come.');

export const evictionSchema = customResource('kvm.cloud.sap/v1', 'Eviction', {
  spec: specSchema,
  status: statusSchema.optional(),
});

/** Asks for a hypervisor to be emptied. See docs/compatibility.md#eviction-object. */
export type Eviction = z.output<typeof evictionSchema>;
export type EvictionStatus = NonNullable<Eviction['status']>;

export const evictionCrd: CrdBody = {
  shortNames: ['evi'],
  description: 'Asks for a hypervisor to be emptied of its instances.',
  schema: evictionSchema,
  printColumns: [
    { name: 'Hypervisor', type: 'string', jsonPath: '.spec.hypervisor' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    { name: 'State', type: 'string', jsonPath: '.status.conditions[?(@.type=="Evicting")].reason' },
    { name: 'Created', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
