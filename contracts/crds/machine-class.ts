import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, quantity } from './schema.ts';

const secretReference = (description: string) =>
  z.object({ name: z.string().optional(), namespace: z.string().optional() }).optional().describe(description);

export const machineClassSchema = customResource('machine.sapcloud.io/v1alpha1', 'MachineClass', {
  credentialsSecretRef: secretReference('The Secret with the credential, where it is not that of the user data.'),
  nodeTemplate: z
    .looseObject({
      architecture: z.string().optional(),
      capacity: z.record(z.string(), quantity()),
      instanceType: z.string(),
      region: z.string(),
      virtualCapacity: z.record(z.string(), quantity()).optional(),
      zone: z.string(),
    })
    .optional(),
  provider: z.string().optional().describe('Whose driver reads it: `vSphere`, `OpenStack`.'),
  providerSpec: anyObject().describe('What the provider makes a VM from.'),
  secretRef: secretReference('The Secret with the user data, and with the credential where there is no other.'),
});

/** What Machines are made from, and with which credential. */
export type MachineClass = z.output<typeof machineClassSchema>;

export const machineClassCrd: CrdBody = {
  shortNames: ['mcc'],
  description: 'What Machines are made from.',
  schema: machineClassSchema,
  printColumns: [
    { name: 'Provider', type: 'string', jsonPath: '.provider' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
