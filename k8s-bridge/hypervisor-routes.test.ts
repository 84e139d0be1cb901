import type { ActiveMode } from '../contracts/kinds/kind.ts';
import { findCauses, readFacts } from './facts.ts';
import type { KubeObject } from './kube-object.ts';
import { type Route, routesFor } from './routes.ts';

const routes = routesFor({ copiedLabels: ['example.com/rack'], imageCacheNamespace: null, groups: false });
/** For the runs of Hypervisors. */
const routeOf = (kind: string): Route =>
  routes.find(({ row, resource }) => row.kind === 'Hypervisor' && resource.kind === kind)!;
const time = '2026-01-01T00:00:00Z';
const later = '2026-01-02T00:00:00Z';
const condition = (type: string, status: string, reason = 'Because', more: object = {}) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: time,
  ...more,
});

const objectOf =
  (base: KubeObject) =>
  (metadata: Partial<KubeObject['metadata']> = {}, parts: object = {}): KubeObject => ({
    ...base,
    metadata: { ...base.metadata, ...metadata },
    ...parts,
  });
const metadata = { name: 'node-1', uid: 'u1', resourceVersion: '5', generation: 1, creationTimestamp: time };
const notes = (given: Record<string, string>) => ({ annotations: given });

type Row = [why: string, before: KubeObject, after: KubeObject, causes: string[]];
const causesOf = (kind: string, before: KubeObject | null, after: KubeObject): string[] =>
  findCauses(before && readFacts(routeOf(kind), before, 'act'), readFacts(routeOf(kind), after, 'act'));

describe('a Hypervisor', () => {
  const hypervisor = objectOf({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata, spec: {} });
  /** With the given fields written by drover. */
  const withStatus = (status: object, own: object = {}): KubeObject =>
    hypervisor(
      { managedFields: [{ manager: 'drover', fieldsV1: { 'f:status': { 'f:traits': {}, ...own } } }] },
      { status },
    );
  const conditions = (...all: object[]) => withStatus({ conditions: all });
  const ownConditions = (type: string, ...all: object[]) =>
    withStatus(
      { conditions: all },
      { 'f:conditions': { [`k:${JSON.stringify({ type })}`]: { 'f:status': {}, 'f:reason': {} } } },
    );

  const rows: Row[] = [
    ['nothing but the resourceVersion', hypervisor(), hypervisor({ resourceVersion: '6' }), []],
    ['the spec', hypervisor(), hypervisor({ generation: 2 }), ['spec']],
    ['its deletion', hypervisor(), hypervisor({ deletionTimestamp: time }), ['deleted']],
    ['another controller’s finalizer', hypervisor(), hypervisor({ finalizers: ['example.com/x'] }), []],
    ['a retry', hypervisor(), hypervisor(notes({ 'drover.dev/retry': 'a' })), ['retry']],
    ['a consent', hypervisor(), hypervisor(notes({ 'drover.dev/consent': 'delete-allocations' })), ['annotations']],
    ['its mode', hypervisor(), hypervisor(notes({ 'drover.dev/mode': 'observe' })), ['annotations']],
    [
      'what drover itself notes',
      hypervisor(),
      hypervisor(
        notes({
          'drover.dev/from-node': 'a',
          'drover.dev/node-uid': 'b',
          'drover.dev/applied-traits': 'c',
          'drover.dev/rolling-update': 'd',
          'drover.dev/retry-handled': 'e',
        }),
      ),
      [],
    ],
    ['labels', hypervisor(), hypervisor({ labels: { 'kubernetes.io/hostname': 'node-1' } }), []],
    [
      'the node agent learns libvirt’s version',
      withStatus({ libVirtVersion: 'unknown' }),
      withStatus({ libVirtVersion: '10.0.0' }),
      ['status'],
    ],
    [
      'drover writes it',
      withStatus({ libVirtVersion: 'unknown' }),
      withStatus({ libVirtVersion: '10.0.0' }, { 'f:libVirtVersion': {} }),
      [],
    ],
    [
      'an instance comes',
      withStatus({ numInstances: 0, instances: [] }),
      withStatus({ numInstances: 1, instances: [{ id: 'a' }] }),
      ['status'],
    ],
    [
      'another one comes',
      withStatus({ numInstances: 1, instances: [{ id: 'a' }] }),
      withStatus({ numInstances: 2, instances: [{ id: 'a' }, { id: 'b' }] }),
      [],
    ],
    ['the last one goes', withStatus({ numInstances: 1 }), withStatus({ numInstances: 0 }), ['status']],
    [
      'what else the node agent reports',
      withStatus({}),
      withStatus({ capacity: { cpu: '4' }, cells: [], operatingSystem: { version: '1' } }),
      [],
    ],
    [
      'the connection to libvirt breaks',
      conditions(condition('LibVirtConnection', 'True')),
      conditions(condition('LibVirtConnection', 'False')),
      ['status'],
    ],
    [
      'the same, in other words',
      conditions(condition('libvirtd.service', 'False', 'Stopped')),
      conditions(condition('libvirtd.service', 'False', 'Failed')),
      ['status'],
    ],
    [
      'a message',
      conditions(condition('LibVirtConnection', 'True')),
      conditions(condition('LibVirtConnection', 'True', 'Because', { message: 'x', lastTransitionTime: later })),
      [],
    ],
    ['another client writes HaEnabled', conditions(), conditions(condition('HaEnabled', 'True')), ['status']],
    ['drover writes HaEnabled', conditions(), ownConditions('HaEnabled', condition('HaEnabled', 'True')), []],
    [
      'drover takes HaEnabled over',
      conditions(condition('HaEnabled', 'True')),
      ownConditions('HaEnabled', condition('HaEnabled', 'False')),
      [],
    ],
    [
      'another client takes HaEnabled from drover',
      ownConditions('HaEnabled', condition('HaEnabled', 'True')),
      conditions(condition('HaEnabled', 'False')),
      ['status'],
    ],
    [
      'drover says how far it has come',
      conditions(),
      ownConditions('Lifecycle', condition('Lifecycle', 'Unknown')),
      [],
    ],
    ['drover takes a condition away', ownConditions('Evicting', condition('Evicting', 'False')), conditions(), []],
    [
      'a user resets the onboarding',
      ownConditions('Onboarding', condition('Onboarding', 'False', 'Aborted')),
      conditions(),
      ['status'],
    ],
    [
      'drover begins the onboarding',
      conditions(),
      ownConditions('Onboarding', condition('Onboarding', 'True', 'Initial')),
      [],
    ],
  ];

  test.each(rows)('changes: %s', (_why, before, after, causes) => {
    expect(causesOf('Hypervisor', before, after)).toEqual(causes);
  });

  const lifecycle = (status: string, observedGeneration = 1) =>
    hypervisor(
      {},
      { status: { numInstances: 0, conditions: [condition('Lifecycle', status, 'Active', { observedGeneration })] } },
    );
  test.each([
    ['where it should be', lifecycle('True'), 'act', true],
    ['at rest', lifecycle('False'), 'act', true],
    ['on its way', lifecycle('Unknown'), 'act', false],
    ['of an earlier generation', lifecycle('True', 0), 'act', false],
    ['where drover only observes and has not yet', lifecycle('True'), 'observe', false],
    ['new', hypervisor(), 'act', false],
    ['odd', hypervisor({}, { status: { conditions: 'odd' } }), 'act', false],
  ] as const)('reconciled: %s', (_why, object, mode, isReconciled) => {
    expect(readFacts(routeOf('Hypervisor'), object, mode)).toMatchObject({
      reconciled: isReconciled,
      subject: 'node-1',
    });
  });
});

describe('a Node', () => {
  const node = objectOf({ apiVersion: 'v1', kind: 'Node', metadata: { ...metadata, generation: 0 } });
  const labelled = (key: string, value = '') => node({ labels: { [key]: value } });
  const withStatus = (status: object) => node({}, { status });
  const withSpec = (spec: object) => node({}, { spec });
  const conditions = (...all: object[]) => withStatus({ conditions: all });

  const rows: Row[] = [
    [
      'a heartbeat',
      conditions(condition('Ready', 'True')),
      conditions(condition('Ready', 'True', 'Because', { lastHeartbeatTime: later })),
      [],
    ],
    [
      'images, capacity, and what is attached',
      withStatus({}),
      withStatus({ images: [{ names: ['a'] }], capacity: { cpu: '4' }, volumesAttached: [] }),
      [],
    ],
    ['a generation', node(), node({ generation: 2 }), []],
    ['a finalizer', node(), node({ finalizers: ['node.machine.sapcloud.io/machine-controller'] }), []],
    ['it becomes a hypervisor', node(), labelled('nova.openstack.cloud.sap/virt-driver', 'libvirt'), ['labels']],
    ['it is one no more', labelled('nova.openstack.cloud.sap/virt-driver', 'libvirt'), node(), ['labels']],
    ['its lifecycle', node(), labelled('cobaltcore.cloud.sap/node-hypervisor-lifecycle', 'skip-tests'), ['labels']],
    [
      'its zone',
      labelled('topology.kubernetes.io/zone', 'a'),
      labelled('topology.kubernetes.io/zone', 'b'),
      ['labels'],
    ],
    ['a label that is copied', node(), labelled('kubernetes.metal.cloud.sap/bb', 'bb1'), ['labels']],
    ['its turn to be updated', node(), labelled('node.machine.sapcloud.io/selected-for-update'), ['labels']],
    ['how its update went', node(), labelled('node.machine.sapcloud.io/update-result', 'failed'), ['labels']],
    ['a label that is not read', node(), labelled('kubernetes.metal.cloud.sap/bbq'), []],
    ['its aggregates', node(), node(notes({ 'nova.openstack.cloud.sap/aggregates': 'a' })), ['annotations']],
    ['its traits', node(), node(notes({ 'nova.openstack.cloud.sap/custom-traits': 'CUSTOM_A' })), ['annotations']],
    [
      'an annotation that is not read',
      node(),
      node(notes({ 'volumes.kubernetes.io/controller-managed-attach-detach': 'true', 'drover.dev/retry': 'x' })),
      [],
    ],
    ['a cordon', withSpec({}), withSpec({ unschedulable: true }), ['spec']],
    [
      'the offboarding taint',
      withSpec({}),
      withSpec({ taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] }),
      ['spec'],
    ],
    [
      'another taint',
      withSpec({}),
      withSpec({ taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] }),
      [],
    ],
    ['not Ready', conditions(condition('Ready', 'True')), conditions(condition('Ready', 'Unknown')), ['status']],
    [
      'not Ready, and now for certain',
      conditions(condition('Ready', 'Unknown')),
      conditions(condition('Ready', 'False', 'Because', { lastTransitionTime: later })),
      ['status'],
    ],
    ['it terminates', conditions(), conditions(condition('Terminating', 'True', 'ScaleDown')), ['status']],
    [
      'it terminates no more',
      conditions(condition('Terminating', 'True')),
      conditions(condition('Terminating', 'False')),
      ['status'],
    ],
    [
      'an update in place',
      conditions(condition('InPlaceUpdate', 'True', 'CandidateForUpdate')),
      conditions(condition('InPlaceUpdate', 'True', 'SelectedForUpdate')),
      ['status'],
    ],
    ['pressure', conditions(), conditions(condition('MemoryPressure', 'True')), []],
    ['another boot', withStatus({ nodeInfo: { bootID: 'a' } }), withStatus({ nodeInfo: { bootID: 'b' } }), ['status']],
    [
      'its address',
      withStatus({}),
      withStatus({ addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] }),
      ['status'],
    ],
    ['its deletion', node(), node({ deletionTimestamp: time }), ['deleted']],
    ['a label that the settings name', node(), labelled('example.com/rack', '7'), ['labels']],
    ['one that they do not name', node(), labelled('example.com/other', '7'), []],
    [
      'several at once',
      withSpec({}),
      node({ labels: { 'node.machine.sapcloud.io/selected-for-update': '' } }, { spec: { unschedulable: true } }),
      ['labels', 'spec'],
    ],
  ];

  test.each(rows)('changes: %s', (_why, before, after, causes) => {
    expect(causesOf('Node', before, after)).toEqual(causes);
  });

  const hypervisor = { labels: { 'nova.openstack.cloud.sap/virt-driver': 'libvirt' } };
  const reconciledRows: [why: string, object: KubeObject, mode: ActiveMode, isReconciled: boolean][] = [
    ['one that is a hypervisor', node(hypervisor), 'act', false],
    ['one that is none', node(), 'act', true],
    ['one that goes', node({ ...hypervisor, deletionTimestamp: time }), 'act', true],
    ['where drover only observes, it makes no Hypervisor', node(hypervisor), 'observe', true],
  ];
  test.each(reconciledRows)('reconciled by itself: %s', (_why, object, mode, isReconciled) => {
    expect(readFacts(routeOf('Node'), object, mode)).toMatchObject({
      reconciled: isReconciled,
      subject: 'node-1',
      retry: null,
    });
  });
});

describe('an Eviction, for its host', () => {
  const eviction = objectOf({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata: { ...metadata, name: 'evict-1' },
    spec: { hypervisor: 'node-1', reason: 'test' },
  });
  const evicting = (status: string, reason: string, message = '') =>
    eviction({}, { status: { conditions: [condition('Evicting', status, reason, { message })] } });

  const rows: Row[] = [
    ['it begins', eviction(), evicting('True', 'Running'), ['status']],
    ['how far it has come', evicting('True', 'Running', '1 of 9'), evicting('True', 'Running', '2 of 9'), []],
    ['it ends', evicting('True', 'Running'), evicting('False', 'Succeeded'), ['status']],
    ['it ends otherwise', evicting('False', 'Succeeded'), evicting('False', 'Failed'), ['status']],
    [
      'its reason in words, its annotations, its finalizers',
      eviction(),
      eviction({ generation: 2, finalizers: ['a'], ...notes({ 'drover.dev/retry': 'x' }) }),
      [],
    ],
    ['its deletion', eviction(), eviction({ generation: 2, deletionTimestamp: time }), ['deleted']],
  ];

  test.each(rows)('changes: %s', (_why, before, after, causes) => {
    expect(causesOf('Eviction', before, after)).toEqual(causes);
  });

  test('a new one is told, and comparisons leave it to its Hypervisor', () => {
    expect(causesOf('Eviction', null, eviction())).toEqual(['spec']);
    expect(readFacts(routeOf('Eviction'), eviction(), 'act')).toMatchObject({ reconciled: true, subject: 'node-1' });
    expect(readFacts(routeOf('Eviction'), eviction({}, { spec: {} }), 'act').subject).toBeNull();
  });
});
