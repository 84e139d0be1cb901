import type { HypervisorObject } from './hypervisor-objects.ts';
import { maintenanceBy, shownHypervisors, shownNodes } from './hypervisor-objects.ts';
import { now } from '../../test/fixtures/starters/progress.ts';

const object = (spec: object, metadata: object = {}, status: object = {}): object => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata: {
    name: 'node-1',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-31T10:00:00Z',
    ...metadata,
  },
  spec,
  status: { numInstances: 3, ...status },
});
const wrote = (manager: string) => ({
  managedFields: [
    { manager: 'kubelet', fieldsV1: { 'f:status': {} } },
    { manager, fieldsV1: { 'f:spec': { 'f:maintenance': {} } } },
  ],
});
const noted = { annotations: { 'drover.dev/maintenance-by': 'alice 2026-01-31T11:00:00Z' } };
const manual = { maintenance: 'manual', maintenanceReason: 'disks' };

test.each<[why: string, spec: object, metadata: object, by: string | null]>([
  ['no maintenance', {}, noted, null],
  ['it is not known', manual, {}, null],
  ['a command noted it', manual, { ...noted, ...wrote('drover') }, 'alice 2026-01-31T11:00:00Z'],
  ['drover wrote it, and it is not noted', manual, wrote('drover'), null],
  ['another user wrote it after that command', manual, { ...noted, ...wrote('kubectl-patch') }, 'kubectl-patch'],
  ['fields are not tracked', manual, noted, 'alice 2026-01-31T11:00:00Z'],
  [
    'an update of its Node',
    { maintenance: 'auto' },
    { annotations: { ...noted.annotations, 'drover.dev/rolling-update': 'boot-1' } },
    'drover, for an update of its Node',
  ],
  [
    'its Node terminated when it was made',
    { maintenance: 'termination' },
    { annotations: { 'drover.dev/from-node': 'label:a,maintenance' } },
    'drover, as its Node terminates',
  ],
])('who maintains it: %s', (_why, spec, metadata, by) => {
  expect(shownHypervisors.schema.parse(object(spec, metadata)).maintainedBy).toBe(by);
});

test('what people are shown of it', () => {
  expect(
    shownHypervisors.schema.parse(
      object(
        { lifecycleEnabled: false },
        { annotations: { 'drover.dev/mode': 'observe' }, deletionTimestamp: '2026-01-31T11:00:00Z' },
        { libVirtVersion: 'unknown' },
      ),
    ),
  ).toEqual({
    name: 'node-1',
    uid: 'u',
    generation: 2,
    resourceVersion: '7',
    createdAt: '2026-01-31T10:00:00Z',
    deleting: true,
    annotations: { 'drover.dev/mode': 'observe' },
    lifecycleEnabled: false,
    skipTests: false,
    maintenance: '',
    maintenanceReason: null,
    maintainedBy: null,
    forNodeUpdate: false,
    observed: true,
    conditions: [],
    instances: 3,
    libVirtVersion: null,
    evicted: false,
  } satisfies HypervisorObject);
});

test.each<[why: string, answer: unknown]>([
  ['nothing', null],
  ['another kind', { kind: 'Status' }],
  ['a maintenance that is none', object({ maintenance: 'coffee' })],
])('what is no Hypervisor: %s', (_why, answer) => {
  expect(shownHypervisors.schema.safeParse(answer).success).toBe(false);
});

const node = (labels?: object) => ({
  metadata: { name: 'node-1', uid: 'n', resourceVersion: '5', ...(labels && { labels }) },
});
test.each<[why: string, answer: unknown, speaks: object | null]>([
  ['none', null, null],
  ['without labels', node(), { isHypervisor: false, lifecycle: null }],
  [
    'a hypervisor that says nothing',
    node({ 'nova.openstack.cloud.sap/virt-driver': '' }),
    { isHypervisor: true, lifecycle: null },
  ],
  [
    'one that speaks',
    node({ 'nova.openstack.cloud.sap/virt-driver': 'kvm', 'cobaltcore.cloud.sap/node-hypervisor-lifecycle': '' }),
    { isHypervisor: true, lifecycle: '' },
  ],
])('a Node: %s', (_why, answer, speaks) => {
  expect(shownNodes.schema.safeParse(answer).data).toEqual(
    speaks === null ? undefined : { name: 'node-1', uid: 'n', resourceVersion: '5', ...speaks },
  );
});

test('who asked, and when', () => {
  expect(maintenanceBy('alice@ops', now)).toBe('alice@ops 2026-01-31T12:00:00Z');
});
