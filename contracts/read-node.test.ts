import { readNode } from './read-node.ts';

const metadata = { name: 'node-1', uid: 'u1' };
const at = (status: string, reason = 'Because') => ({ status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z', lastHeartbeatTime: '2026-02-02T00:00:00Z' });
const atMs = Date.parse('2026-01-01T00:00:00Z');

test('a Node that says nothing', () => {
  expect(readNode({ metadata })).toEqual({
    name: 'node-1',
    uid: 'u1',
    labels: {},
    annotations: {},
    internalIp: null,
    ready: false,
    readySinceMs: 0,
    bootId: '',
    cordoned: false,
    terminatingSinceMs: null,
    deletedAtMs: null,
    inPlaceUpdate: null,
    offboardingTaint: false,
  });
});

test('a Node that says everything, without what decisions do not need', () => {
  const node = {
    metadata: {
      ...metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      labels: { 'nova.openstack.cloud.sap/virt-driver': 'libvirt', 'topology.kubernetes.io/zone': 'a', 'node.machine.sapcloud.io/selected-for-update': '', mine: 'x', other: 'x' },
      annotations: { 'nova.openstack.cloud.sap/aggregates': 'a,b', other: 'x' },
    },
    spec: { unschedulable: true, taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] },
    status: {
      nodeInfo: { bootID: 'boot-1', kernelVersion: '6' },
      addresses: [{ type: 'Hostname', address: 'node-1' }, { type: 'InternalIP', address: '192.0.2.1' }, { type: 'InternalIP', address: '192.0.2.2' }],
      images: [{ names: ['a'] }],
      conditions: [{ type: 'Ready', ...at('True') }, { type: 'Terminating', ...at('True') }, { type: 'InPlaceUpdate', ...at('True', 'DrainSuccessful') }],
    },
  };
  expect(readNode(node, ['mine'])).toEqual({
    name: 'node-1',
    uid: 'u1',
    labels: { 'nova.openstack.cloud.sap/virt-driver': 'libvirt', 'topology.kubernetes.io/zone': 'a', 'node.machine.sapcloud.io/selected-for-update': '', mine: 'x' },
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

test.each(['False', 'Unknown'])('Terminating %s is not terminating', (status) => {
  expect(readNode({ metadata, status: { conditions: [{ type: 'Terminating', ...at(status) }] } }).terminatingSinceMs).toBeNull();
});
