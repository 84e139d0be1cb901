import type { Node } from './node-facts.ts';
import { nodeSchema, toNodeFacts } from './node-facts.ts';

const at = (time: string): number => Date.parse(time);
const created = '2026-01-01T00:00:00Z';
const later = '2026-01-01T01:00:00Z';

const node = (more: { metadata?: object; spec?: object; status?: object } = {}): Node =>
  nodeSchema.parse({ ...more, metadata: { name: 'node-1', uid: 'n', resourceVersion: '1', creationTimestamp: created, ...more.metadata } });

const withCondition = (type: string, status: string, more: object = {}): Node => node({ status: { conditions: [{ type, status, lastTransitionTime: later, ...more }] } });

const rows: [why: string, node: Node, facts: object][] = [
  ['one that says nothing yet', node(), { name: 'node-1', uid: 'n', labels: {}, annotations: {}, internalIp: null, ready: false, readySinceMs: at(created), bootId: '', cordoned: false, terminatingSinceMs: null, deletedAtMs: null, inPlaceUpdate: null, offboardingTaint: false }],
  ['Ready', withCondition('Ready', 'True'), { ready: true, readySinceMs: at(later) }],
  ['not Ready', withCondition('Ready', 'Unknown'), { ready: false, readySinceMs: at(later) }],
  ['Ready, nobody knows since when', withCondition('Ready', 'True', { lastTransitionTime: null }), { ready: true, readySinceMs: at(created) }],
  ['terminating', withCondition('Terminating', 'True'), { terminatingSinceMs: at(later) }],
  ['terminating no more', withCondition('Terminating', 'False'), { terminatingSinceMs: null }],
  ['being deleted', node({ metadata: { deletionTimestamp: later } }), { deletedAtMs: at(later) }],
  ['chosen for an update in place', withCondition('InPlaceUpdate', 'True', { reason: 'SelectedForUpdate' }), { inPlaceUpdate: 'SelectedForUpdate' }],
  ['cordoned', node({ spec: { unschedulable: true } }), { cordoned: true }],
  ['its addresses', node({ status: { addresses: [{ type: 'Hostname', address: 'node-1' }, { type: 'InternalIP', address: '192.0.2.1' }, { type: 'InternalIP', address: '2001:db8::1' }] } }), { internalIp: '192.0.2.1' }],
  ['its boot id', node({ status: { nodeInfo: { bootID: 'boot-1' } } }), { bootId: 'boot-1' }],
  ['tainted for offboarding', node({ spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] } }), { offboardingTaint: true }],
  ['tainted with another effect', node({ spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoSchedule' }] } }), { offboardingTaint: false }],
];

test.each(rows)('a Node: %s', (_why, given, facts) => {
  expect(toNodeFacts(given, [])).toMatchObject(facts);
});

test('only what decisions read is kept', () => {
  const labels = { 'topology.kubernetes.io/zone': 'a', 'nova.openstack.cloud.sap/virt-driver': 'kvm', 'node.machine.sapcloud.io/update-result': 'failed', 'example.com/rack': '7', 'example.com/other': 'x' };
  const annotations = { 'nova.openstack.cloud.sap/aggregates': 'tenants', 'example.com/other': 'x' };
  const facts = toNodeFacts(node({ metadata: { labels, annotations } }), ['example.com/rack']);
  const { 'example.com/other': _, ...kept } = labels;
  expect(facts.labels).toEqual(kept);
  expect(facts.annotations).toEqual({ 'nova.openstack.cloud.sap/aggregates': 'tenants' });
});
