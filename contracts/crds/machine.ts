import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, int32, time } from './schema.ts';

const text = (description?: string) =>
  description === undefined ? z.string().optional() : z.string().optional().describe(description);

export const classReference = z.object({
  apiGroup: text(),
  kind: text(),
  name: text('Name of the MachineClass.'),
});

/** What a Machine is, in the Machine itself and in the templates of MachineSets and MachineDeployments. */
export const machineSpecSchema = z.object({
  class: classReference.optional().describe('What it is made from.'),
  creationTimeout: text('How long its node may take to join, as Go writes durations: `20m`.'),
  disableHealthTimeout: z.boolean().optional(),
  drainTimeout: text(),
  healthTimeout: text(),
  inPlaceUpdateTimeout: text(),
  machinePreserveTimeout: text(),
  maxEvictRetries: int32().optional(),
  nodeConditions: text(),
  nodeTemplate: z
    .object({
      metadata: anyObject().optional(),
      spec: z
        .object({
          podCIDR: text(),
          podCIDRs: z.array(z.string()).optional(),
          providerID: text(),
          taints: z
            .array(z.object({ effect: z.string(), key: z.string(), timeAdded: time().optional(), value: text() }))
            .optional(),
          unschedulable: z.boolean().optional(),
        })
        .optional(),
    })
    .optional()
    .describe('Metadata and spec of its Node.'),
  providerID: text('Its VM, as the provider knows it.'),
});

export const lastOperationSchema = z.object({
  description: text('What was done, or what went wrong.'),
  errorCode: text('Of the provider: `OutOfRange`.'),
  lastUpdateTime: time().optional(),
  state: text('Processing, Failed or Successful.'),
  type: text('Create, Update, InPlaceUpdate, DrainNode, HealthCheck or Delete.'),
});

export const failedMachines = () =>
  z
    .array(
      z.object({ lastOperation: lastOperationSchema.optional(), name: text(), ownerRef: text(), providerID: text() }),
    )
    .optional();

const statusSchema = z.object({
  addresses: z.array(z.object({ address: z.string(), type: z.string() })).optional(),
  conditions: z
    .array(
      z.object({
        lastHeartbeatTime: time().optional(),
        lastTransitionTime: time().optional(),
        message: text(),
        reason: text(),
        status: z.string(),
        type: z.string(),
      }),
    )
    .optional()
    .describe('Conditions of its Node.'),
  currentStatus: z
    .object({
      lastUpdateTime: time().optional(),
      phase: text(
        'Empty while its VM is made, then Pending, Available, Running, Unknown, Failed, Terminating and others.',
      ),
      preserveExpiryTime: time().optional(),
      timeoutActive: z.boolean().optional(),
    })
    .optional(),
  lastKnownState: text(),
  lastOperation: lastOperationSchema.optional(),
});

export const machineSchema = customResource('machine.sapcloud.io/v1alpha1', 'Machine', {
  spec: machineSpecSchema.optional(),
  status: statusSchema.optional(),
});

/** A VM that becomes a Node; machine-controller-manager's (docs/machine-safety.md). */
export type Machine = z.output<typeof machineSchema>;

export const machineCrd: CrdBody = {
  shortNames: ['mc'],
  description: 'A VM that becomes a Node.',
  schema: machineSchema,
  printColumns: [
    { name: 'Status', type: 'string', jsonPath: '.status.currentStatus.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Node', type: 'string', jsonPath: '.metadata.labels.node' },
    { name: 'ProviderID', type: 'string', jsonPath: '.spec.providerID', priority: 1 },
  ],
};
