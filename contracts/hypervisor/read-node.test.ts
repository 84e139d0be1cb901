import type { NodeObject } from './read-node.ts';
import { readNode } from './read-node.ts';

const metadata = { name: 'node-1', uid: 'u1' };
const at = (status: string, reason = 'Because') => ({
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  lastHeartbeatTime: '2026-02-02T00:00:00Z',
});
const atMs = Date.parse('2026-01-01T00:00:00Z');

test('a Node that says everything, without what decisions do not need', () => {
  const node = {
    metadata: {
      ...metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        'nova.openstack.cloud.sap/virt-driver': 'libvirt',
        'topology.kubernetes.io/zone': 'a',
        'node.machine.sapcloud.io/selected-for-update': '',
        mine: 'x',
        other: 'x',
      },
      annotations: { 'nova.openstack.cloud.sap/aggregates': 'a,b', other: 'x' },
    },
    spec: { unschedulable: true, taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] },
    status: {
      nodeInfo: { bootID: 'boot-1', kernelVersion: '6' },
      addresses: [
        { type: 'Hostname', address: 'node-1' },
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'InternalIP', address: '192.0.2.2' },
      ],
      images: [{ names: ['a'] }],
      conditions: [
        { type: 'Ready', ...at('True') },
        { type: 'Terminating', ...at('True') },
        { type: 'InPlaceUpdate', ...at('True', 'DrainSuccessful') },
      ],
    },
  };
  expect(readNode(node, ['mine'])).toEqual({
    name: 'node-1',
    uid: 'u1',
    labels: {
      'nova.openstack.cloud.sap/virt-driver': 'libvirt',
      'topology.kubernetes.io/zone': 'a',
      'node.machine.sapcloud.io/selected-for-update': '',
      mine: 'x',
    },
    annotations: { 'nova.openstack.cloud.sap/aggregates': 'a,b' },
    internalIp: '192.0.2.1',
    ready: true,
    readySinceMs: atMs,
    bootId: 'boot-1',
    cordoned: true,
    terminatingSinceMs: atMs,
    deletedAtMs: atMs,
    inPlaceUpdate: 'DrainSuccessful',
    offboardingTaint: true,
  });
});

const created = '2026-01-01T00:00:00Z';
const later = '2026-01-01T01:00:00Z';
const time = (text: string): number => Date.parse(text);
const node = ({
  metadata: more,
  ...parts
}: { metadata?: object; spec?: object; status?: object } = {}): NodeObject => ({
  ...parts,
  metadata: { ...metadata, creationTimestamp: created, ...more },
});
const withCondition = (type: string, status: string, more: object = {}): NodeObject =>
  node({ status: { conditions: [{ type, status, lastTransitionTime: later, ...more }] } });

const rows: [why: string, node: NodeObject, facts: object][] = [
  [
    'one that says nothing yet',
    node(),
    {
      name: 'node-1',
      uid: 'u1',
      labels: {},
      annotations: {},
      internalIp: null,
      ready: false,
      readySinceMs: time(created),
      bootId: '',
      cordoned: false,
      terminatingSinceMs: null,
      deletedAtMs: null,
      inPlaceUpdate: null,
      offboardingTaint: false,
    },
  ],
  ['Ready', withCondition('Ready', 'True'), { ready: true, readySinceMs: time(later) }],
  ['not Ready', withCondition('Ready', 'Unknown'), { ready: false, readySinceMs: time(later) }],
  [
    'Ready, and since when is not known',
    withCondition('Ready', 'True', { lastTransitionTime: null }),
    { ready: true, readySinceMs: time(created) },
  ],
  ['terminating', withCondition('Terminating', 'True'), { terminatingSinceMs: time(later) }],
  ['terminating no more', withCondition('Terminating', 'False'), { terminatingSinceMs: null }],
  ['being deleted', node({ metadata: { deletionTimestamp: later } }), { deletedAtMs: time(later) }],
  [
    'chosen for an update in place',
    withCondition('InPlaceUpdate', 'True', { reason: 'SelectedForUpdate' }),
    { inPlaceUpdate: 'SelectedForUpdate' },
  ],
  ['cordoned', node({ spec: { unschedulable: true } }), { cordoned: true }],
  [
    'its addresses',
    node({
      status: {
        addresses: [
          { type: 'Hostname', address: 'node-1' },
          { type: 'InternalIP', address: '192.0.2.1' },
          { type: 'InternalIP', address: '2001:db8::1' },
        ],
      },
    }),
    { internalIp: '192.0.2.1' },
  ],
  ['its boot id', node({ status: { nodeInfo: { bootID: 'boot-1' } } }), { bootId: 'boot-1' }],
  [
    'tainted for offboarding',
    node({ spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] } }),
    { offboardingTaint: true },
  ],
  [
    'tainted with another effect',
    node({ spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoSchedule' }] } }),
    { offboardingTaint: false },
  ],
];

test.each(rows)('a Node: %s', (_why, given, facts) => {
  expect(readNode(given)).toMatchObject(facts);
});

test('only what decisions read is kept', () => {
  const labels = {
    'topology.kubernetes.io/zone': 'a',
    'nova.openstack.cloud.sap/virt-driver': 'kvm',
    'node.machine.sapcloud.io/update-result': 'failed',
    'example.com/rack': '7',
    'example.com/other': 'x',
  };
  const annotations = { 'nova.openstack.cloud.sap/aggregates': 'tenants', 'example.com/other': 'x' };
  const facts = readNode(node({ metadata: { labels, annotations } }), ['example.com/rack']);
  const { 'example.com/other': _, ...kept } = labels;
  expect(facts.labels).toEqual(kept);
  expect(facts.annotations).toEqual({ 'nova.openstack.cloud.sap/aggregates': 'tenants' });
});
