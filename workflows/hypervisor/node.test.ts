import type { DesiredHypervisor, HypervisorPatch, ObservedNode } from '../../contracts/hypervisor/hypervisor.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import { beginMs, desiredOf, nodeOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { mapNode, newHypervisor } from './node.ts';

const { virtDriver, lifecycle, zone, aggregates, customTraits } = nodeMetadata;
const without = (key: string): Record<string, string> =>
  Object.fromEntries(Object.entries(nodeOf().labels).filter(([known]) => known !== key));
const memory = ['label:kubernetes.io/hostname', `label:${zone}`];
const fromNode = (...fields: string[]): Record<string, string> => ({
  'drover.dev/from-node': [...memory, ...fields].toSorted().join(','),
});
const patched = (...patches: HypervisorPatch[]): HypervisorPatch[] => patches;

type Row = [
  why: string,
  node: ObservedNode | null,
  desired: Partial<DesiredHypervisor>,
  patches: HypervisorPatch[] | null,
];
const rows: Row[] = [
  ['what agrees stays', nodeOf(), {}, null],
  ['a Node that is gone says nothing: the Hypervisor outlives it', null, {}, null],
  [
    'a Node that never was a hypervisor is none of drover’s',
    nodeOf({ labels: without(virtDriver) }),
    { nodeUid: null, fromNode: [] },
    null,
  ],

  [
    'its boot is recorded, so that it can be named when the Node is gone',
    nodeOf({ bootId: 'boot-2' }),
    {},
    patched({ annotations: { 'drover.dev/last-boot-id': 'boot-2' } }),
  ],
  ['one that is not known is not', nodeOf({ bootId: '' }), {}, null],

  [
    'the label switches the lifecycle on',
    nodeOf(),
    { lifecycleEnabled: false },
    patched({ spec: { lifecycleEnabled: true } }),
  ],
  [
    'its value leaves the tests out',
    nodeOf({ labels: { ...nodeOf().labels, [lifecycle]: 'skip-tests' } }),
    {},
    patched({ spec: { skipTests: true } }),
  ],
  [
    'any other value does not',
    nodeOf({ labels: { ...nodeOf().labels, [lifecycle]: 'yes' } }),
    { skipTests: true },
    patched({ spec: { skipTests: false } }),
  ],
  [
    'taking the label off takes it back (H15)',
    nodeOf({ labels: without(lifecycle) }),
    { skipTests: true },
    patched({ annotations: fromNode(), spec: { lifecycleEnabled: false, skipTests: false } }),
  ],
  ['but not what a user switched on', nodeOf({ labels: without(lifecycle) }), { fromNode: memory }, null],
  [
    'a Node that is no hypervisor any more switches it off too',
    nodeOf({ labels: without(virtDriver) }),
    {},
    patched({ annotations: fromNode(), spec: { lifecycleEnabled: false } }),
  ],

  [
    'aggregates come with the zone',
    nodeOf({ annotations: { [aggregates]: ' a, ,b ' } }),
    {},
    patched({ spec: { aggregates: ['a', 'b', 'zone-a'] } }),
  ],
  ['once', nodeOf({ annotations: { [aggregates]: 'zone-a,tenants' } }), {}, null],
  ['without the annotation they stay', nodeOf(), { aggregates: ['mine'] }, null],
  [
    'an empty annotation leaves the zone',
    nodeOf({ annotations: { [aggregates]: '' } }),
    {},
    patched({ spec: { aggregates: ['zone-a'] } }),
  ],
  [
    'traits',
    nodeOf({ annotations: { [customTraits]: 'CUSTOM_A, CUSTOM_B' } }),
    {},
    patched({ spec: { customTraits: ['CUSTOM_A', 'CUSTOM_B'] } }),
  ],
  ['no traits', nodeOf({ annotations: { [customTraits]: '' } }), {}, patched({ spec: { customTraits: [] } })],

  [
    'a label follows',
    nodeOf({ labels: { ...nodeOf().labels, [zone]: 'zone-b' } }),
    {},
    patched({ labels: { [zone]: 'zone-b' } }),
  ],
  [
    'a new one too',
    nodeOf({ labels: { ...nodeOf().labels, 'kubernetes.metal.cloud.sap/bb': 'bb1' } }),
    {},
    patched({
      labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1' },
      annotations: fromNode('label:kubernetes.metal.cloud.sap/bb', 'lifecycleEnabled', 'skipTests'),
    }),
  ],
  [
    'a label that is gone goes (H15)',
    nodeOf({ labels: without('kubernetes.io/hostname') }),
    {},
    patched({
      labels: { 'kubernetes.io/hostname': null },
      annotations: { 'drover.dev/from-node': [`label:${zone}`, 'lifecycleEnabled', 'skipTests'].join(',') },
    }),
  ],
  [
    'one that the Node never had stays',
    nodeOf(),
    { labels: { ...desiredOf().labels, 'kubernetes.metal.cloud.sap/bb': 'mine' } },
    null,
  ],
  ['any other label of the Node is its own', nodeOf({ labels: { ...nodeOf().labels, team: 'x' } }), {}, null],
  [
    'a Node made anew is noted',
    nodeOf({ uid: 'another' }),
    {},
    patched({ annotations: { 'drover.dev/node-uid': 'another' } }),
  ],
  [
    'an owner reference would delete it with its Node',
    nodeOf(),
    { ownedByNode: true },
    patched({ dropNodeOwner: true }),
  ],

  ['a Node that terminates changes no spec', nodeOf({ terminatingSinceMs: beginMs }), {}, null],
  [
    'nor can the spec be changed in termination',
    nodeOf({ terminatingSinceMs: beginMs, annotations: { [customTraits]: 'CUSTOM_A' } }),
    { maintenance: 'termination' },
    null,
  ],
  [
    'one made for a terminating Node leaves termination with it, by the only way there is (H15)',
    nodeOf(),
    { maintenance: 'termination', fromNode: [...memory, 'lifecycleEnabled', 'maintenance', 'skipTests'] },
    patched(
      { spec: { maintenance: 'ha' } },
      { annotations: fromNode('lifecycleEnabled', 'skipTests'), spec: { maintenance: '' } },
    ),
  ],
  [
    'what else is taken over on that way leaves it drover’s',
    nodeOf({ labels: { ...nodeOf().labels, 'kubernetes.metal.cloud.sap/bb': 'bb1' } }),
    { maintenance: 'termination', fromNode: [...memory, 'lifecycleEnabled', 'maintenance', 'skipTests'] },
    patched(
      {
        labels: { 'kubernetes.metal.cloud.sap/bb': 'bb1' },
        annotations: fromNode('label:kubernetes.metal.cloud.sap/bb', 'lifecycleEnabled', 'maintenance', 'skipTests'),
        spec: { maintenance: 'ha' },
      },
      {
        annotations: fromNode('label:kubernetes.metal.cloud.sap/bb', 'lifecycleEnabled', 'skipTests'),
        spec: { maintenance: '' },
      },
    ),
  ],
  [
    'where only the first of the two patches was written, it is taken back the rest of the way',
    nodeOf(),
    { maintenance: 'ha', fromNode: [...memory, 'lifecycleEnabled', 'maintenance', 'skipTests'] },
    patched({ annotations: fromNode('lifecycleEnabled', 'skipTests'), spec: { maintenance: '' } }),
  ],
  ['a failed host’s ha stays', nodeOf(), { maintenance: 'ha' }, null],
  ['not where a user asked for it', nodeOf(), { maintenance: 'termination' }, null],
  [
    'nor while the Node terminates',
    nodeOf({ deletedAtMs: beginMs }),
    { maintenance: 'termination', fromNode: [...memory, 'lifecycleEnabled', 'maintenance', 'skipTests'] },
    null,
  ],
];

test.each(rows)('%s', (_why, node, desired, patches) => {
  const step = mapNode(desiredOf(desired), node, []);
  expect(step === null || step.kind !== 'patchHypervisor' ? null : step.patches).toEqual(patches);
});

test('what was written is not written again', () => {
  const labels = { ...nodeOf().labels, [zone]: 'zone-b', more: 'x' };
  expect(
    mapNode(
      desiredOf({
        labels: { 'kubernetes.io/hostname': 'node-1', [zone]: 'zone-b', more: 'x' },
        fromNode: ['label:kubernetes.io/hostname', 'label:more', `label:${zone}`, 'lifecycleEnabled', 'skipTests'],
      }),
      nodeOf({ labels }),
      ['more'],
    ),
  ).toBeNull();
});

test('a Node without the virt-driver label gets no Hypervisor', () => {
  expect(newHypervisor(nodeOf({ labels: without(virtDriver) }), [])).toBeNull();
});

test('a new Hypervisor says every field, as the CRD’s defaults are others', () => {
  const node = nodeOf({
    labels: { ...without(lifecycle), extra: 'x' },
    annotations: { [aggregates]: 'tenants', [customTraits]: 'CUSTOM_A' },
  });
  expect(newHypervisor(node, ['extra'])).toEqual({
    name: 'node-1',
    labels: { 'kubernetes.io/hostname': 'node-1', [zone]: 'zone-a', extra: 'x' },
    annotations: {
      'drover.dev/last-boot-id': 'boot-1',
      'drover.dev/from-node': `label:extra,label:kubernetes.io/hostname,label:${zone}`,
      'drover.dev/node-uid': 'node-uid',
    },
    spec: {
      lifecycleEnabled: false,
      skipTests: false,
      customTraits: ['CUSTOM_A'],
      aggregates: ['tenants', 'zone-a'],
      maintenance: '',
      highAvailability: true,
      installCertificate: true,
      createCertManagerCertificate: false,
      evacuateOnReboot: false,
      reboot: false,
      allowedProjects: [],
    },
  });
});

test.each([
  ['with the lifecycle', nodeOf(), { lifecycleEnabled: true, skipTests: false, maintenance: '' }],
  [
    'without tests',
    nodeOf({ labels: { ...nodeOf().labels, [lifecycle]: 'skip-tests' } }),
    { lifecycleEnabled: true, skipTests: true, maintenance: '' },
  ],
  [
    'of a Node that terminates already',
    nodeOf({ terminatingSinceMs: beginMs }),
    { lifecycleEnabled: true, maintenance: 'termination' },
  ],
])('a new Hypervisor %s', (_why, node, spec) => {
  expect(newHypervisor(node, [])?.spec).toMatchObject(spec);
});
