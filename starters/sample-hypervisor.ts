import type { Condition } from '../contracts/conditions.ts';
import type { LifecycleState } from '../contracts/hypervisor-conditions.ts';
import type { HypervisorObject } from './hypervisor-facts.ts';
import { ago } from './render/sample-progress.ts';

/** Facts that the tests of commands for hypervisors share. */

export const lifecycle = (
  reason: LifecycleState,
  status: Condition['status'] = 'True',
  message = `${reason} it is`,
  observedGeneration = 3,
): Condition => ({
  type: 'Lifecycle',
  status,
  reason,
  message,
  lastTransitionTime: ago(120),
  observedGeneration,
});

export const terminating: Condition = {
  type: 'Terminating',
  status: 'True',
  reason: 'Terminating',
  message: 'Node is terminating',
  lastTransitionTime: ago(60),
};

export const sampleHypervisor = (facts: Partial<HypervisorObject> = {}): HypervisorObject => ({
  name: 'node-1',
  uid: 'uid-node-1',
  generation: 3,
  resourceVersion: '77',
  createdAt: ago(90_000),
  deleting: false,
  annotations: {},
  lifecycleEnabled: true,
  skipTests: false,
  maintenance: '',
  maintenanceReason: null,
  maintainedBy: null,
  forNodeUpdate: false,
  observed: false,
  conditions: [lifecycle('Active', 'True', 'node-1 is in service')],
  instances: 12,
  libVirtVersion: '10.0.0',
  evicted: false,
  ...facts,
});
