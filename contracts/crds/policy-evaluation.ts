import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { customResource, int64, looseConditions, reference } from './schema.ts';

/**
 * What the controller of policies evaluates (`vsphere.policy.vmware.com/v1alpha1`): which policies apply to a VM, and
 * by which tags of vCenter.
 */

export const guestFamilies = ['Darwin', 'Linux', 'Netware', 'Other', 'Solaris', 'Windows'] as const;

const labels = () => z.record(z.string(), z.string()).optional();

export const policyEvaluationSchema = customResource('vsphere.policy.vmware.com/v1alpha1', 'PolicyEvaluation', {
  spec: z
    .object({
      image: z.object({ name: z.string().optional(), labels: labels() }).optional(),
      workload: z
        .object({
          guest: z.object({ guestID: z.string().optional(), guestFamily: z.enum(guestFamilies).optional() }).optional(),
          labels: labels(),
        })
        .optional(),
      policies: z.array(reference()).optional().describe('Policies that are named.'),
    })
    .optional(),
  status: z
    .looseObject({
      observedGeneration: int64().optional(),
      policies: z
        .array(
          z.looseObject({
            apiVersion: z.string().optional(),
            kind: z.string(),
            name: z.string(),
            /** Of the policy. */
            observedGeneration: int64().optional(),
            tags: z.array(z.string()).optional(),
          }),
        )
        .optional(),
      conditions: looseConditions(),
    })
    .optional(),
});
export type PolicyEvaluation = z.output<typeof policyEvaluationSchema>;

export const policyEvaluationCrd: CrdBody = {
  shortNames: ['policyeval'],
  description: 'Has the policies of a workload evaluated.',
  schema: policyEvaluationSchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
