import { kindTable } from '../contracts/kinds/table.ts';
import { findCauses, readFacts } from './facts.ts';
import type { KubeObject } from './kube-object.ts';
import { type Route, routesFor, subjectOf } from './routes.ts';

const routesOf = (imageCacheNamespace: string | null, groups: boolean): readonly Route[] =>
  routesFor({ copiedLabels: [], imageCacheNamespace, groups }).filter(({ row }) => row.kind === 'VirtualMachine');
const [route, ...references] = routesOf('drover-system', true) as [Route, ...Route[]];
const time = '2026-01-01T00:00:00Z';
const metadata = {
  name: 'web',
  namespace: 'team',
  uid: 'u1',
  resourceVersion: '5',
  generation: 1,
  creationTimestamp: time,
};
const vm = (more: Partial<KubeObject['metadata']> = {}, parts: object = {}): KubeObject => ({
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachine',
  spec: {},
  metadata: { ...metadata, ...more },
  ...parts,
});
const notes = (given: Record<string, string>) => vm({ annotations: given });
const facts = (object: KubeObject) => readFacts(route, object, 'act');
const group = 'vmoperator.vmware.com';

const inVcenter = (id: string, manager: string): KubeObject =>
  vm({
    annotations: { [`${group}/manager-id`]: id },
    managedFields: [{ manager, fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${group}/manager-id`]: {} } } } }],
  });

/** With the given fields written by drover. */
const withVolumes = (attached: boolean, own: object = { 'f:powerState': {} }): KubeObject =>
  vm(
    { managedFields: [{ manager: 'drover', fieldsV1: { 'f:status': own } }] },
    { status: { volumes: [{ name: 'a', type: 'Managed', attached }] } },
  );

const withVm = (uniqueID: string, manager: string): KubeObject =>
  vm({ managedFields: [{ manager, fieldsV1: { 'f:status': { 'f:uniqueID': {} } } }] }, { status: { uniqueID } });

const withPolicies = (labels: Record<string, string>): KubeObject =>
  vm({ labels }, { spec: { policies: [{ apiVersion: 'v1', kind: 'ComputePolicy', name: 'gold' }] } });

const rows: [why: string, before: KubeObject, after: KubeObject, causes: string[]][] = [
  ['nothing but the resourceVersion', vm(), vm({ resourceVersion: '6' }), []],
  ['the spec', vm(), vm({ generation: 2 }), ['spec']],
  ['its deletion', vm(), vm({ deletionTimestamp: time }), ['deleted']],
  ['a finalizer, drover’s or not', vm(), vm({ finalizers: ['vmoperator.vmware.com/virtualmachine', 'a/b'] }), []],
  ['a retry', vm(), notes({ 'drover.dev/retry': 'a' }), ['retry']],
  ['its mode', vm(), notes({ 'drover.dev/mode': 'observe' }), ['annotations']],
  ['whether Tools are waited for', vm(), notes({ 'drover.dev/wait-for-tools': '' }), ['annotations']],
  ['a pause', vm(), notes({ [`${group}/paused`]: '' }), ['annotations']],
  ['a gate before power-on', notes({ [`poweron.check.${group}/a`]: '' }), vm(), ['annotations']],
  ['a gate before deletion', vm(), notes({ [`delete.check.${group}/a`]: '' }), ['annotations']],
  ['a condition of another client', vm(), notes({ [`condition.${group}.protected/a`]: 'A;True;B;' }), ['annotations']],
  ['the time of its group', vm(), notes({ [`${group}.protected/apply-power-state-time`]: time }), ['annotations']],
  [
    'what drover itself notes',
    vm(),
    notes({
      'drover.dev/creating': time,
      'drover.dev/retry-handled': 'a',
      [`${group}/last-resized-vm-class`]: '{}',
      [`${group}/bootstrap-hash-configspec`]: 'h',
      [`vmicache.${group}/location`]: 'a,b,c',
      [`${group}/upgraded-to-build-version`]: '1',
    }),
    [],
  ],
  ['which vCenter it is in, as drover notes it', vm(), inVcenter('v', 'drover'), []],
  ['as a user says it', inVcenter('v', 'drover'), inVcenter('w', 'kubectl'), ['annotations']],
  ['labels of people', vm(), vm({ labels: { app: 'web', 'topology.kubernetes.io/zone': 'z' } }), []],
  ['labels that policies may select it by', withPolicies({}), withPolicies({ app: 'web' }), ['labels']],
  [
    'those that drover notes',
    withPolicies({}),
    withPolicies({ 'topology.kubernetes.io/zone': 'z', [`vmicache.${group}/name`]: 'c' }),
    [],
  ],
  [
    'that it becomes a node of a cluster',
    vm(),
    vm({ labels: { 'capv.vmware.com/cluster.role': 'worker' } }),
    ['labels'],
  ],
  ['a volume that another controller has attached', withVolumes(false), withVolumes(true), ['status']],
  ['the VM that a user says it has', withVm('vm-1', 'drover'), withVm('vm-2', 'kubectl-edit'), ['status']],
  ['the VM that drover has made', vm(), withVm('vm-1', 'drover'), []],
  [
    'a volume that drover says is attached',
    withVolumes(false),
    withVolumes(true, { 'f:volumes': { 'k:{"name":"a","type":"Managed"}': { 'f:attached': {} } } }),
    [],
  ],
  ['what else its status says', vm(), vm({}, { status: { powerState: 'PoweredOn', conditions: [] } }), []],
];
test.each(rows)('%s', (_why, before, after, causes) => {
  expect(findCauses(facts(before), facts(after))).toEqual(causes);
});

test('it is found by namespace and name', () => {
  expect(facts(vm())).toMatchObject({ subject: 'team/web', fullName: 'team/web', name: 'web', namespace: 'team' });
  expect(kindTable.VirtualMachine.workflowId('team/web', '')).toBe('virtualmachine/team/web');
  expect(kindTable.VirtualMachine.workflowId('team/web.a', 'eu')).toBe('eu/virtualmachine/team/web.a');
});

test.each<[what: string, spec: unknown, policy: string | null]>([
  ['names one', { reserved: { resourcePolicyName: 'apart' } }, 'team/apart'],
  ['names none', { reserved: {} }, null],
  ['has no room for one', {}, null],
  ['holds anything', { reserved: { resourcePolicyName: 7 } }, null],
  ['has no spec', null, null],
])('the policy of a VirtualMachine that %s', (_, spec, policy) => {
  const [own, users] = routesFor({ copiedLabels: [], imageCacheNamespace: null, groups: false }).filter(
    ({ row }) => row.kind === 'VirtualMachineSetResourcePolicy',
  );
  expect(subjectOf(users!, vm({}, { spec }))).toBe(policy);
  // Only a deleted one waits for its VirtualMachines: nothing is started for them.
  expect([users?.resource.kind, users?.watch?.concerns, own?.observesMore]).toEqual([
    'VirtualMachine',
    'deleting',
    false,
  ]);
});

test('what it names', () => {
  const spec = {
    className: 'small',
    imageName: 'vmi-0',
    image: { kind: 'ClusterVirtualMachineImage', name: 'cvmi-1' },
    groupName: 'g',
    policies: [{ apiVersion: 'v1', kind: 'ComputePolicy', name: 'gold' }],
    hardware: {
      cdrom: [
        { image: { kind: 'VirtualMachineImage', name: 'iso' } },
        { image: { kind: 'ConfigMap', name: 'c' } },
        null,
        {},
      ],
    },
  };
  expect(facts(vm({ labels: { [`vmicache.${group}/name`]: 'vmi-cache' } }, { spec })).names).toEqual([
    'VirtualMachineClass team/small',
    'VirtualMachineImage team/iso',
    'ClusterVirtualMachineImage cvmi-1',
    'PolicyEvaluation team/vm-web',
    'VirtualMachineImageCache drover-system/vmi-cache',
    'VirtualMachineGroup team/g',
  ]);
  // Where both are there, the reference counts, as the run reads it.
  expect(facts(vm({}, { spec: { imageName: 'vmi-0' } })).names).toEqual(['VirtualMachineImage team/vmi-0']);
  for (const odd of [null, [], { className: 1, image: 'x', hardware: { cdrom: {} } }, { image: null, hardware: null }])
    expect(facts(vm({}, { spec: odd })).names).toEqual([]);
});

test('reconciled by what it says of its generation, and never where it is no VirtualMachine', () => {
  const lifecycle = (status: string, observedGeneration = 1) =>
    vm(
      {},
      {
        status: {
          conditions: [
            { type: 'Lifecycle', status, reason: 'R', message: '', observedGeneration, lastTransitionTime: time },
          ],
        },
      },
    );
  expect(facts(lifecycle('True')).reconciled).toBe(true);
  expect(facts(lifecycle('False')).reconciled).toBe(true);
  expect(facts(lifecycle('Unknown')).reconciled).toBe(false);
  expect(facts(lifecycle('True', 0)).reconciled).toBe(false);
  expect(facts({ ...lifecycle('True'), spec: { powerState: 'Broken' } }).reconciled).toBe(false);
});

describe('what of the kinds that it names matters', () => {
  const watchedOf = (kind: string, object: object) =>
    readFacts(
      references.find(({ resource }) => resource.kind === kind)!,
      { metadata, ...object },
      'act',
    ).watched;
  const ready = (status: string, message = '') => ({
    status: { conditions: [{ type: 'Ready', status, reason: 'R', message, lastTransitionTime: time }] },
  });

  test.each<[kind: string, same: [object, object], other: [object, object]]>([
    [
      'VirtualMachineClass',
      [{ metadata }, { metadata: { ...metadata, labels: { a: 'b' } } }],
      [{ metadata }, { metadata: { ...metadata, generation: 2 } }],
    ],
    ['VirtualMachineImage', [ready('True'), ready('True', 'again')], [ready('False'), ready('True')]],
    [
      'ClusterVirtualMachineImage',
      [ready('True'), ready('True')],
      [{ status: {} }, { status: { providerItemID: 'i' } }],
    ],
    [
      'VirtualMachineSetResourcePolicy',
      [{ metadata }, { metadata: { ...metadata, annotations: { a: 'b' } } }],
      [{ metadata }, { metadata, status: { clustermodules: [{ clusterMoID: 'c', groupName: 'g', moduleUUID: 'm' }] } }],
    ],
    [
      'PolicyEvaluation',
      [{ metadata }, { metadata: { ...metadata, generation: 2 } }],
      [{ status: {} }, { status: { policies: [{ kind: 'ComputePolicy', name: 'gold', tags: ['t'] }] } }],
    ],
    [
      'VirtualMachineImageCache',
      [{ status: { ovf: 1 } }, { status: { ovf: 2 } }],
      [{ status: {} }, { status: { locations: [{ datacenterID: 'd', datastoreID: 's', profileID: 'p' }] } }],
    ],
    [
      'VirtualMachineGroup',
      [{ status: { lastUpdatedPowerStateTime: 'a' } }, {}],
      [{}, { status: { members: [{ name: 'web' }] } }],
    ],
  ])('%s', (kind, same, other) => {
    expect(watchedOf(kind, same[0])).toEqual(watchedOf(kind, same[1]));
    expect(watchedOf(kind, other[0])).not.toEqual(watchedOf(kind, other[1]));
  });

  test('caches and groups are watched where VMs may wait for them', () => {
    const kindsOf = (imageCacheNamespace: string | null, groups: boolean) =>
      routesOf(imageCacheNamespace, groups).map(({ resource }) => resource.kind);
    expect(kindsOf(null, false)).toEqual([
      'VirtualMachine',
      'VirtualMachineClass',
      'VirtualMachineImage',
      'ClusterVirtualMachineImage',
      'VirtualMachineSetResourcePolicy',
      'PolicyEvaluation',
    ]);
    expect(kindsOf('n', true)).toEqual(expect.arrayContaining(['VirtualMachineImageCache', 'VirtualMachineGroup']));
  });
});
