import type { Condition } from '../conditions.ts';
import type { Eviction } from '../crds/eviction.ts';
import type { Hypervisor } from '../crds/hypervisor.ts';
import type { VirtualMachine } from '../crds/virtual-machine.ts';
import { kindTable } from './table.ts';

const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  observedGeneration?: number,
): Condition => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...(observedGeneration !== undefined && { observedGeneration }),
});
const succeeded = condition('Evicting', 'False', 'Succeeded', 2);
const retry = (asked: string, handled?: string) => ({
  'drover.dev/retry': asked,
  ...(handled !== undefined && { 'drover.dev/retry-handled': handled }),
});

interface Given {
  conditions?: Condition[];
  annotations?: Record<string, string>;
  deleting?: { finalizers: string[] };
  finalizers?: string[];
  mode?: 'observe' | 'act';
  hypervisor?: string;
}

const rows: [why: string, given: Given, reconciled: boolean][] = [
  ['a new one', {}, false],
  ['one that runs', { conditions: [condition('Evicting', 'True', 'Running', 2)] }, false],
  ['one that waits for its turn', { conditions: [condition('Evicting', 'Unknown', 'AlreadyRunning', 2)] }, false],
  ['one that was switched off', { conditions: [condition('Evicting', 'Unknown', 'ModeOff', 2)] }, false],
  ['one that succeeded', { conditions: [succeeded] }, true],
  ['one that failed', { conditions: [condition('Evicting', 'False', 'Failed', 2)] }, true],
  ['one that a person stopped', { conditions: [condition('Evicting', 'False', 'Stopped', 2)] }, true],
  ['one whose spec changed since', { conditions: [condition('Evicting', 'False', 'Failed', 1)] }, false],
  [
    'one that the replaced operator ended, which notes no generation',
    { conditions: [condition('Evicting', 'False', 'Failed')] },
    true,
  ],
  [
    'one that waits for the node',
    { conditions: [succeeded, condition('HypervisorReEnabled', 'Unknown', 'WaitingForNode', 2)] },
    false,
  ],
  [
    'one whose host is enabled again',
    { conditions: [succeeded, condition('HypervisorReEnabled', 'True', 'Succeeded', 2)] },
    true,
  ],

  ['a retry', { conditions: [succeeded], annotations: retry('b') }, false],
  ['a retry that was taken up', { conditions: [succeeded], annotations: retry('b', 'b') }, true],
  ['a retry after another', { conditions: [succeeded], annotations: retry('b', 'a') }, false],
  ['an earlier value counts as a new one', { conditions: [succeeded], annotations: retry('a', 'b') }, false],

  [
    'a deleted one that drover holds',
    { conditions: [succeeded], deleting: { finalizers: ['drover.dev/eviction'] } },
    false,
  ],
  [
    'a deleted one that another controller holds',
    { conditions: [], deleting: { finalizers: ['example.com/other'] } },
    true,
  ],

  [
    'one with a bad annotation',
    {
      conditions: [condition('Evicting', 'False', 'InvalidObject', 2)],
      annotations: { 'drover.dev/deadline': 'soon' },
    },
    true,
  ],
  [
    'one whose annotation was corrected',
    { conditions: [condition('Evicting', 'False', 'InvalidObject', 2)], annotations: {} },
    false,
  ],
  [
    'one whose host has no name that a host can have',
    { conditions: [condition('Evicting', 'False', 'InvalidObject', 2)], hypervisor: 'node 1' },
    true,
  ],
  [
    'the same of an earlier generation',
    { conditions: [condition('Evicting', 'False', 'InvalidObject', 1)], hypervisor: 'node 1' },
    false,
  ],
  [
    'a dead host',
    {
      conditions: [condition('Evicting', 'False', 'CauseNotSupported', 2)],
      annotations: { 'drover.dev/eviction-cause': 'node-failure' },
    },
    true,
  ],
  [
    'a host that is not dead after all',
    {
      conditions: [condition('Evicting', 'False', 'CauseNotSupported', 2)],
      annotations: { 'drover.dev/eviction-cause': 'admin' },
    },
    false,
  ],

  ['one to observe', { mode: 'observe' }, false],
  ['one that was observed', { mode: 'observe', conditions: [condition('Observed', 'True', 'Observed', 2)] }, true],
  [
    'one that is being observed',
    { mode: 'observe', conditions: [condition('Observed', 'Unknown', 'Running', 2)] },
    false,
  ],
  [
    'one whose observation was refused',
    {
      mode: 'observe',
      conditions: [condition('Observed', 'False', 'InvalidObject', 2)],
      annotations: { 'drover.dev/deadline': 'soon' },
    },
    true,
  ],
  [
    'one that was observed before its spec changed',
    { mode: 'observe', conditions: [condition('Observed', 'True', 'Observed', 1)] },
    false,
  ],
  [
    'one that was observed by its annotation',
    { conditions: [condition('Observed', 'True', 'Observed', 2)], annotations: { 'drover.dev/mode': 'observe' } },
    true,
  ],
  [
    'one that was observed before drover was told to act',
    { conditions: [condition('Observed', 'True', 'Observed', 2)] },
    false,
  ],
  [
    'one that the replaced operator runs while drover observes',
    {
      mode: 'observe',
      conditions: [condition('Evicting', 'True', 'Running'), condition('Observed', 'True', 'Observed', 2)],
    },
    true,
  ],
  [
    'one that was refused in earnest, and observed once it was corrected',
    {
      conditions: [condition('Evicting', 'False', 'InvalidObject', 2), condition('Observed', 'True', 'Observed', 2)],
      annotations: { 'drover.dev/mode': 'observe' },
    },
    true,
  ],
  [
    'one that was begun in earnest, and whose run was lost when it was to be observed',
    {
      conditions: [condition('Evicting', 'True', 'Running', 2), condition('Observed', 'False', 'Stopped', 2)],
      annotations: { 'drover.dev/mode': 'observe' },
      finalizers: ['drover.dev/eviction'],
    },
    false,
  ],
  [
    'the same, which says how it ended',
    {
      conditions: [condition('Evicting', 'False', 'Observed', 2)],
      annotations: { 'drover.dev/mode': 'observe' },
      finalizers: ['drover.dev/eviction'],
    },
    true,
  ],
];

test.each(rows)(
  '%s',
  (_why, { conditions, annotations, deleting, finalizers, mode = 'act', hypervisor = 'node-1' }, reconciled) => {
    const eviction: Eviction = {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: {
        name: 'node-1',
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers }),
        ...(deleting && { deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: deleting.finalizers }),
      },
      spec: { hypervisor, reason: 'test' },
      ...(conditions && { status: { conditions } }),
    };
    expect(kindTable.Eviction.isReconciled(eviction, mode)).toBe(reconciled);
  },
);

const hypervisorRows: [why: string, given: Omit<Given, 'deleting'> & { deleting?: boolean }, reconciled: boolean][] = [
  ['a new one', {}, false],
  ['one on its way', { conditions: [condition('Lifecycle', 'Unknown', 'Testing', 2)] }, false],
  ['one where it should be', { conditions: [condition('Lifecycle', 'True', 'Active', 2)] }, true],
  ['one that rests elsewhere', { conditions: [condition('Lifecycle', 'False', 'Aborted', 2)] }, true],
  ['one whose spec changed since', { conditions: [condition('Lifecycle', 'True', 'Active', 1)] }, false],
  ['one that another controller drove', { conditions: [condition('Ready', 'True', 'Ready')] }, false],
  [
    'one to try again',
    { conditions: [condition('Lifecycle', 'False', 'Aborted', 2)], annotations: retry('b', 'a') },
    false,
  ],
  [
    'one that was tried again',
    { conditions: [condition('Lifecycle', 'False', 'Aborted', 2)], annotations: retry('b', 'b') },
    true,
  ],
  ['one that is being deleted', { deleting: true }, true],
  ['one to observe', { mode: 'observe', conditions: [condition('Lifecycle', 'True', 'Active', 2)] }, false],
  ['one that was observed', { mode: 'observe', conditions: [condition('Observed', 'True', 'Observed', 2)] }, true],
  [
    'one that was observed by its annotation',
    { conditions: [condition('Observed', 'True', 'Observed', 2)], annotations: { 'drover.dev/mode': 'observe' } },
    true,
  ],
];

test.each(hypervisorRows)(
  'a Hypervisor: %s',
  (_why, { conditions, annotations, deleting = false, mode = 'act' }, reconciled) => {
    const hypervisor: Hypervisor = {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Hypervisor',
      metadata: {
        name: 'node-1',
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...(annotations && { annotations }),
        ...(deleting && { deletionTimestamp: '2026-01-02T00:00:00Z' }),
      },
      ...(conditions && { status: { numInstances: 0, conditions } }),
    };
    expect(kindTable.Hypervisor.isReconciled(hypervisor, mode)).toBe(reconciled);
  },
);

const virtualMachineRows: [
  why: string,
  given: Omit<Given, 'deleting'> & { finalizers?: string[] },
  reconciled: boolean,
][] = [
  ['a new one', {}, false],
  ['one on its way', { conditions: [condition('Lifecycle', 'Unknown', 'Creating', 2)] }, false],
  ['one as its spec wants it', { conditions: [condition('Lifecycle', 'True', 'Reconciled', 2)] }, true],
  ['one that a user has to look at', { conditions: [condition('Lifecycle', 'False', 'NotOwned', 2)] }, true],
  ['one whose spec changed since', { conditions: [condition('Lifecycle', 'True', 'Reconciled', 1)] }, false],
  ['one that the operator before drove', { conditions: [condition('VirtualMachineCreated', 'True', 'True')] }, false],
  [
    'one to try again',
    { conditions: [condition('Lifecycle', 'False', 'Failed', 2)], annotations: retry('b', 'a') },
    false,
  ],
  ['one to observe', { mode: 'observe', conditions: [condition('Lifecycle', 'True', 'Reconciled', 2)] }, false],
  ['one that was observed', { mode: 'observe', conditions: [condition('Observed', 'True', 'Observed', 2)] }, true],
  [
    'one that was observed by its annotation',
    { annotations: { 'drover.dev/mode': 'observe' }, conditions: [condition('Observed', 'True', 'Observed', 2)] },
    true,
  ],
  [
    'a deleted one that drover holds',
    {
      finalizers: ['vmoperator.vmware.com/virtualmachine'],
      conditions: [condition('Lifecycle', 'True', 'Reconciled', 2)],
    },
    false,
  ],
  ['by the deprecated finalizer', { finalizers: ['virtualmachine.vmoperator.vmware.com'] }, false],
  [
    'a deleted one that is held on purpose',
    {
      finalizers: ['vmoperator.vmware.com/virtualmachine'],
      conditions: [condition('Lifecycle', 'False', 'Paused', 2)],
    },
    true,
  ],
  ['a deleted one that others hold', { finalizers: ['a/b'] }, true],
];

test.each(virtualMachineRows)(
  'a VirtualMachine: %s',
  (_why, { conditions, annotations, finalizers, mode = 'act' }, reconciled) => {
    const vm: VirtualMachine = {
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachine',
      metadata: {
        name: 'web',
        namespace: 'team',
        uid: 'u',
        resourceVersion: '7',
        generation: 2,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ...(annotations && { annotations }),
        ...(finalizers && { finalizers, deletionTimestamp: '2026-01-02T00:00:00Z' }),
      },
      ...(conditions && { status: { conditions } }),
    };
    expect(kindTable.VirtualMachine.isReconciled(vm, mode)).toBe(reconciled);
  },
);

const bootstrapReady = 'VirtualMachineBootstrapReady';

test.each<[why: string, conditions: Condition[], lacks: boolean]>([
  ['one without a bootstrap', [], false],
  ['one whose Secrets are there', [condition(bootstrapReady, 'True', 'True')], false],
  ['one whose Secret is missing', [condition(bootstrapReady, 'False', 'NotFound')], true],
  ['one whose Secret has not all keys', [condition(bootstrapReady, 'False', 'RequiredKeyNotFound')], true],
  ['one whose Secret drover may not read', [condition(bootstrapReady, 'False', 'Forbidden')], false],
  ['one whose class is missing', [condition('VirtualMachineClassReady', 'False', 'NotFound')], false],
])('a VirtualMachine lacks a Secret, or a key of one: %s', (_why, conditions, lacks) => {
  const metadata = { name: 'web', namespace: 'team', uid: 'u', resourceVersion: '7', generation: 2 };
  expect(kindTable.VirtualMachine.lacksSecret({ metadata, status: { conditions } })).toBe(lacks);
});
