import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, looseConditions } from './schema.ts';

const status = z.looseObject({
  agentRef: z.looseObject({ name: z.string().optional(), namespace: z.string().optional() }).nullish(),
  conditions: looseConditions(),
  ready: z.boolean().optional(),
  /** Where an older version of the kind has those of the newer one. */
  v1beta2: z.looseObject({ conditions: looseConditions() }).optional(),
});

export const agentMachineSchema = customResource('capi-provider.agent-install.openshift.io/v1beta1', 'AgentMachine', {
  spec: z.looseObject({ agentLabelSelector: anyObject().nullish(), providerID: z.string().nullish() }).optional(),
  status: status.optional(),
});

/** A Machine that waits for an Agent, and takes it; cluster-api-provider-agent's. */
export type AgentMachine = z.output<typeof agentMachineSchema>;

export const agentMachineCrd: CrdBody = {
  description: 'A Machine that takes an Agent.',
  schema: agentMachineSchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
