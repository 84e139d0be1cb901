import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { conditions, customResource, int64, time } from './schema.ts';

/** `core/v1.ObjectReference`, as far as it is read. kube-apiserver sets it as a whole. */
const objectReference = (description: string) =>
  z
    .object({
      apiVersion: z.string().optional(),
      fieldPath: z.string().optional(),
      kind: z.string().optional(),
      name: z.string().optional(),
      namespace: z.string().optional(),
      resourceVersion: z.string().optional(),
      uid: z.string().optional(),
    })
    .meta({ 'x-kubernetes-map-type': 'atomic' })
    .optional()
    .describe(description);

/** What is known of one VM of a pool, in the pool and in its VsphereAgent. */
export const ownedVmSchema = z.object({
  agentRef: objectReference('Its Agent.'),
  biosUUID: z.string().optional(),
  lastTransitionTime: time().optional().describe('When phase or reason last changed.'),
  macAddress: z.string().optional().describe('Of its first card, with hyphens.'),
  machineRef: objectReference('Its Machine.'),
  name: z.string(),
  phase: z.string().optional().describe('Provisioning, Available, Bound, Released or Orphaned.'),
  reason: z.string().optional(),
});

export const vsphereAgentSchema = customResource('agent-forge.containeroo.ch/v1alpha1', 'VsphereAgent', {
  spec: z.object({ poolRef: z.object({ name: z.string().min(1) }).describe('The pool that it is made by.') }),
  status: z
    .object({
      conditions: conditions().optional(),
      observedGeneration: int64().optional(),
      vm: ownedVmSchema.optional(),
    })
    .optional(),
});

/** One VM of a pool (docs/agent-pools.md). */
export type VsphereAgent = z.output<typeof vsphereAgentSchema>;

export const vsphereAgentCrd: CrdBody = {
  shortNames: ['va'],
  description: 'One VM in vSphere that becomes an Agent.',
  schema: vsphereAgentSchema,
  printColumns: [
    { name: 'Pool', type: 'string', jsonPath: '.spec.poolRef.name' },
    { name: 'VM', type: 'string', jsonPath: '.status.vm.name' },
    { name: 'Phase', type: 'string', jsonPath: '.status.vm.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
