import type { Condition } from '../../../contracts/conditions.ts';
import type { HypervisorStatus } from '../../../contracts/crds/hypervisor.ts';
import type { HypervisorStatusPatch } from '../../../contracts/hypervisor/hypervisor.ts';
import { statusChange } from './publish-hypervisor.ts';

const before = '2026-01-01T00:00:00Z';
const now = new Date('2026-02-01T00:00:00Z');
const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: before,
  observedGeneration: 1,
});

const nothing: HypervisorStatusPatch = {
  conditions: [],
  removed: [],
  hypervisorId: null,
  serviceId: null,
  traits: null,
  aggregates: null,
  internalIp: null,
  evicted: null,
  libVirtVersion: null,
};
const saying = (type: string, status: Condition['status'], reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 1,
});

const agent = condition('libvirtd.service', 'True', 'Running');
const testing = condition('Lifecycle', 'Unknown', 'Testing');
const aggregate = { name: 'a', uuid: 'u', metadata: { k: 'v' } };

const rows: [
  why: string,
  current: HypervisorStatus | undefined,
  patch: Partial<HypervisorStatusPatch>,
  change: Partial<HypervisorStatus> | null,
][] = [
  ['nothing to say', undefined, {}, null],
  [
    'the first word',
    undefined,
    { conditions: [saying('Lifecycle', 'Unknown', 'Testing')] },
    { conditions: [{ ...testing, lastTransitionTime: now.toISOString() }] },
  ],
  [
    'said already',
    { numInstances: 0, conditions: [agent, testing] },
    { conditions: [saying('Lifecycle', 'Unknown', 'Testing')] },
    null,
  ],
  [
    'the same status for another reason keeps its time',
    { numInstances: 0, conditions: [agent, testing] },
    { conditions: [saying('Lifecycle', 'Unknown', 'Onboarding')] },
    { conditions: [agent, { ...testing, reason: 'Onboarding' }] },
  ],
  [
    'another status has another time',
    { numInstances: 0, conditions: [testing] },
    { conditions: [saying('Lifecycle', 'True', 'Active')] },
    { conditions: [{ ...condition('Lifecycle', 'True', 'Active'), lastTransitionTime: now.toISOString() }] },
  ],
  [
    'a condition that holds no longer',
    { numInstances: 0, conditions: [agent, condition('Evicting', 'False', 'Succeeded')] },
    { removed: ['Evicting'] },
    { conditions: [agent] },
  ],
  ['one that is gone already', { numInstances: 0, conditions: [agent] }, { removed: ['Evicting'] }, null],
  [
    'fields',
    { numInstances: 3, hypervisorId: 'h' },
    {
      hypervisorId: 'h',
      serviceId: 's',
      internalIp: '192.0.2.1',
      evicted: true,
      traits: ['A'],
      aggregates: [aggregate],
    },
    { serviceId: 's', internalIp: '192.0.2.1', evicted: true, traits: ['A'], aggregates: [aggregate] },
  ],
  [
    'fields that say so already',
    { numInstances: 3, serviceId: 's', evicted: false, traits: ['A'], aggregates: [aggregate] },
    { serviceId: 's', evicted: false, traits: ['A'], aggregates: [aggregate] },
    null,
  ],
  ['empty lists are said', undefined, { traits: [], aggregates: [] }, { traits: [], aggregates: [] }],
  [
    'a version that was not known',
    { numInstances: 0, libVirtVersion: 'unknown' },
    { libVirtVersion: '10.0.0' },
    { libVirtVersion: '10.0.0' },
  ],
  ['a version where there is no status', undefined, { libVirtVersion: '10.0.0' }, { libVirtVersion: '10.0.0' }],
  [
    'a version that the node agent has told since',
    { numInstances: 0, libVirtVersion: '11.1.0' },
    { libVirtVersion: '10.0.0' },
    null,
  ],
];

test.each(rows)('%s', (_why, current, patch, change) => {
  expect(statusChange(current, { ...nothing, ...patch }, now)).toEqual(change);
});

test('a message is cut to what kube-apiserver takes', () => {
  const change = statusChange(
    undefined,
    { ...nothing, conditions: [saying('Lifecycle', 'Unknown', 'Testing', 'x'.repeat(40_000))] },
    now,
  );
  expect(change?.conditions?.[0]?.message).toHaveLength(32_768);
});
