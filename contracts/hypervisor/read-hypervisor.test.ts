import type { Eviction } from '../crds/eviction.ts';
import type { Hypervisor } from '../crds/hypervisor.ts';
import type { OwnerReference } from './read-hypervisor.ts';
import { readDesired, readEviction, readRecorded } from './read-hypervisor.ts';

const metadata = {
  name: 'node-1',
  uid: 'u',
  resourceVersion: '1',
  generation: 4,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const hypervisor = (annotations: Record<string, string>, spec?: object, more: object = {}): Hypervisor =>
  ({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { ...metadata, annotations, ...more },
    ...(spec && { spec }),
  }) as Hypervisor;

test('a Hypervisor that says nothing asks for what the CRD’s defaults say', () => {
  expect(readDesired(hypervisor({}), [])).toEqual({
    name: 'node-1',
    uid: 'u',
    generation: 4,
    labels: {},
    lifecycleEnabled: true,
    skipTests: false,
    highAvailability: true,
    createCertManagerCertificate: false,
    customTraits: [],
    aggregates: [],
    maintenance: '',
    maintenanceReason: null,
    fromNode: [],
    nodeUid: null,
    lastBootId: null,
    ownedByNode: false,
    appliedTraits: [],
    rollingUpdateBootId: null,
    retry: null,
    consent: [],
    consentBy: null,
    touchedByKubectl: false,
    mode: 'act',
    deleting: false,
  });
});

const by = { 'drover.dev/consent-by': 'jane 2026-01-31T12:00:00Z' };

const rows: [why: string, annotations: Record<string, string>, desired: object][] = [
  [
    'what came from the Node',
    {
      'drover.dev/from-node': 'label:a, lifecycleEnabled,,',
      'drover.dev/node-uid': 'n',
      'drover.dev/last-boot-id': 'boot-1',
    },
    { fromNode: ['label:a', 'lifecycleEnabled'], nodeUid: 'n', lastBootId: 'boot-1' },
  ],
  [
    'drover’s traits',
    { 'drover.dev/applied-traits': 'CUSTOM_A,CUSTOM_B' },
    { appliedTraits: ['CUSTOM_A', 'CUSTOM_B'] },
  ],
  ['an update of the Node', { 'drover.dev/rolling-update': 'boot-1' }, { rollingUpdateBootId: 'boot-1' }],
  ['a retry', { 'drover.dev/retry': 'b', 'drover.dev/retry-handled': 'a' }, { retry: 'b' }],
  ['a retry that was taken up', { 'drover.dev/retry': 'b', 'drover.dev/retry-handled': 'b' }, { retry: null }],
  [
    'consent',
    { 'drover.dev/consent': 'force-complete, delete-allocations', ...by },
    { consent: ['delete-allocations'], consentBy: 'jane 2026-01-31T12:00:00Z' },
  ],
  ['consent without a name and a time is none', { 'drover.dev/consent': 'delete-allocations' }, { consent: [] }],
  ['a name without consent is none', by, { consent: [], consentBy: null }],
  ['mode', { 'drover.dev/mode': 'observe' }, { mode: 'observe' }],
  ['a misspelt mode', { 'drover.dev/mode': 'obsreve' }, { mode: 'observe' }],
  ['the mode act', { 'drover.dev/mode': 'act' }, { mode: 'act' }],
];

test.each(rows)('%s', (_why, annotations, desired) => {
  expect(readDesired(hypervisor(annotations), [])).toMatchObject(desired);
});

test('who has written it, and who would take it along', () => {
  const written = hypervisor(
    {},
    { maintenance: 'manual', maintenanceReason: 'disks' },
    { managedFields: [{ manager: 'drover' }, { manager: 'kubectl-edit' }], deletionTimestamp: '2026-01-02T00:00:00Z' },
  );
  expect(readDesired(written, [{ kind: 'Node', uid: 'n' }])).toMatchObject({
    touchedByKubectl: true,
    ownedByNode: true,
    deleting: true,
    maintenance: 'manual',
    maintenanceReason: 'disks',
  });
});

test('the status: what the node agent does not know yet is not known', () => {
  const nothing = { traits: null, aggregates: null, internalIp: null };
  expect(
    readRecorded({ ...hypervisor({}), status: { numInstances: 0, libVirtVersion: 'unknown', serviceId: '' } }),
  ).toEqual({ conditions: [], hypervisorId: null, serviceId: null, evicted: false, libVirtVersion: null, ...nothing });
  expect(
    readRecorded({
      ...hypervisor({}),
      status: {
        numInstances: 0,
        libVirtVersion: '10.0.0',
        serviceId: 's',
        hypervisorId: 'h',
        evicted: true,
        traits: ['CUSTOM_A'],
        aggregates: [{ name: 'a', uuid: 'u' }],
        internalIp: '192.0.2.1',
      },
    }),
  ).toEqual({
    conditions: [],
    hypervisorId: 'h',
    serviceId: 's',
    evicted: true,
    libVirtVersion: '10.0.0',
    traits: ['CUSTOM_A'],
    aggregates: [{ name: 'a', uuid: 'u', metadata: {} }],
    internalIp: '192.0.2.1',
  });
});

const eviction = (status: string | null, reason = 'Any'): Eviction => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { ...metadata, annotations: { 'drover.dev/deadline': '2026-01-01T02:00:00Z' } },
  spec: { hypervisor: 'node-1', reason: 'test' },
  ...(status !== null && {
    status: {
      conditions: [
        {
          type: 'Evicting',
          status: status as 'True',
          reason,
          message: 'so far',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  }),
});
const owner: OwnerReference = { kind: 'Hypervisor', uid: 'hv-1', controller: true };

test.each([
  ['a new one', eviction(null), 'waiting'],
  ['one that waits for its turn', eviction('Unknown', 'AlreadyRunning'), 'waiting'],
  ['one that runs', eviction('True', 'Running'), 'running'],
  ['one that succeeded', eviction('False', 'Succeeded'), 'succeeded'],
  ['one that was cancelled', eviction('False', 'Stopped'), 'stopped'],
  ['one that failed', eviction('False', 'Failed'), 'failed'],
  ['one that was refused', eviction('False', 'PreflightFailed'), 'failed'],
])('an Eviction: %s', (_why, object, state) => {
  expect(readEviction(object, [owner])).toMatchObject({
    name: 'node-1',
    ownerUid: 'hv-1',
    state,
    deadline: '2026-01-01T02:00:00Z',
  });
});

test('an Eviction that only plans is no work on the host; one that its Hypervisor made, or that has begun, is', () => {
  const observing = (object: Eviction): Eviction => ({
    ...object,
    metadata: { ...object.metadata, annotations: { 'drover.dev/mode': 'observe' } },
  });
  expect(readEviction(observing(eviction(null)), []).state).toBe('observed');
  expect(readEviction(observing(eviction(null)), [owner]).state).toBe('waiting');
  expect(readEviction(observing(eviction('True', 'Running')), []).state).toBe('running');
  expect(readEviction(eviction(null), []).state).toBe('waiting');
});

test('an Eviction of its own that a user has only plan is stopped once it has said its plan', () => {
  const planning = (status: 'Unknown' | 'True'): Eviction => ({
    ...eviction(null),
    metadata: { ...eviction(null).metadata, annotations: { 'drover.dev/mode': 'observe' } },
    status: {
      conditions: [
        {
          type: 'Observed',
          status,
          reason: 'Observed',
          message: 'Observed only: 2 servers',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  });
  expect(readEviction(planning('Unknown'), [owner]).state).toBe('waiting');
  expect(readEviction(planning('True'), [owner])).toMatchObject({
    state: 'stopped',
    message: 'Observed only: 2 servers',
  });
  expect(readEviction(planning('True'), []).state).toBe('observed');
});

test('only its controller has made an Eviction', () => {
  expect(readEviction(eviction(null), [{ ...owner, controller: false }]).ownerUid).toBeNull();
  expect(readEviction(eviction(null), [{ ...owner, kind: 'Deployment' }]).ownerUid).toBeNull();
});
