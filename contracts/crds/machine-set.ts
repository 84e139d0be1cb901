import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { classReference, failedMachines, lastOperationSchema, machineSpecSchema } from './machine.ts';
import { anyObject, customResource, int32, int64, intOrString, time } from './schema.ts';

const selector = z.object({
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
  matchLabels: z.record(z.string(), z.string()).optional(),
});

const template = z.object({ metadata: anyObject().optional(), spec: machineSpecSchema.optional() });

const condition = z.object({
  lastTransitionTime: time().optional(),
  message: z.string().optional(),
  reason: z.string().optional(),
  status: z.string(),
  type: z.string(),
});

const count = () => int32().optional();

export const machineSetSchema = customResource('machine.sapcloud.io/v1alpha1', 'MachineSet', {
  spec: z
    .object({
      autoPreserveFailedMachineMax: count(),
      machineClass: classReference.optional(),
      minReadySeconds: count(),
      replicas: count(),
      selector: selector.optional(),
      template: template.optional(),
    })
    .optional(),
  status: z
    .object({
      autoPreserveFailedMachineCount: count(),
      availableReplicas: count(),
      failedMachines: failedMachines(),
      fullyLabeledReplicas: count(),
      lastOperation: lastOperationSchema.optional(),
      machineSetCondition: z.array(condition).optional(),
      observedGeneration: int64().optional(),
      preservedFailedReplicas: count(),
      readyReplicas: count(),
      replicas: count(),
    })
    .optional(),
});

/** So many Machines of one template. */
export type MachineSet = z.output<typeof machineSetSchema>;

export const machineSetCrd: CrdBody = {
  shortNames: ['mcs'],
  description: 'So many Machines of one template.',
  schema: machineSetSchema,
  printColumns: [
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Current', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

const share = z.object({ maxSurge: intOrString().optional(), maxUnavailable: intOrString().optional() });

export const machineDeploymentSchema = customResource('machine.sapcloud.io/v1alpha1', 'MachineDeployment', {
  spec: z
    .object({
      autoPreserveFailedMachineMax: count(),
      minReadySeconds: count(),
      paused: z.boolean().optional(),
      progressDeadlineSeconds: count(),
      replicas: count(),
      revisionHistoryLimit: count(),
      rollbackTo: z.object({ revision: int64().optional() }).optional(),
      selector: selector.optional(),
      strategy: z
        .object({
          inPlaceUpdate: share.extend({ orchestrationType: z.string().optional() }).optional(),
          rollingUpdate: share.optional(),
          type: z.string().optional(),
        })
        .optional(),
      template,
    })
    .optional(),
  status: z
    .object({
      availableReplicas: count(),
      collisionCount: count(),
      conditions: z.array(condition.extend({ lastUpdateTime: time().optional() })).optional(),
      failedMachines: failedMachines(),
      observedGeneration: int64().optional(),
      preservedFailedReplicas: count(),
      readyReplicas: count(),
      replicas: count(),
      unavailableReplicas: count(),
      updatedReplicas: count(),
    })
    .optional(),
});

/** MachineSets, replaced one by the next when their template changes. */
export type MachineDeployment = z.output<typeof machineDeploymentSchema>;

export const machineDeploymentCrd: CrdBody = {
  shortNames: ['mcd'],
  description: 'MachineSets, replaced one by the next when their template changes.',
  schema: machineDeploymentSchema,
  printColumns: [
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Up-to-date', type: 'integer', jsonPath: '.status.updatedReplicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
