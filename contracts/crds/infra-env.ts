import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, looseConditions } from './schema.ts';

export const infraEnvSchema = customResource('agent-install.openshift.io/v1beta1', 'InfraEnv', {
  spec: z
    .looseObject({
      agentLabels: z.record(z.string(), z.string()).nullish(),
      clusterRef: anyObject().nullish(),
    })
    .optional(),
  status: z
    .looseObject({
      conditions: looseConditions(),
      createdTime: z.string().nullish(),
      isoDownloadURL: z.string().optional(),
    })
    .optional(),
});

/** What makes the discovery ISO; assisted-service's. */
export type InfraEnv = z.output<typeof infraEnvSchema>;

export const infraEnvCrd: CrdBody = {
  description: 'What makes the discovery ISO of Agents.',
  schema: infraEnvSchema,
  printColumns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
};
