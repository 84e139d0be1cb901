import { kindTable } from '../kinds/table.ts';
import type { VirtualMachineSetResourcePolicy } from '../crds/virtual-machine-set-resource-policy.ts';
import { virtualMachineSetResourcePolicySchema } from '../crds/virtual-machine-set-resource-policy.ts';
import { readRecordedPolicy, readResourcePolicy } from './read-resource-policy.ts';

const policy = (parts: { metadata?: object; spec?: object; status?: object } = {}): VirtualMachineSetResourcePolicy =>
  virtualMachineSetResourcePolicySchema.parse({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: {
      name: 'apart',
      namespace: 'team-a',
      uid: 'uid-1',
      resourceVersion: '7',
      generation: 3,
      creationTimestamp: '2026-01-31T12:00:00Z',
      ...parts.metadata,
    },
    spec: parts.spec ?? {},
    status: parts.status ?? {},
  });

test.each([
  ['nothing', {}, { folder: null, resourcePool: null, groups: [] }],
  ['a folder', { folder: 'apart' }, { folder: 'apart', resourcePool: null, groups: [] }],
  ['empty names', { folder: '', resourcePool: { name: '' } }, { folder: null, resourcePool: null, groups: [] }],
  [
    'a pool without amounts',
    { resourcePool: { name: 'gold' } },
    {
      folder: null,
      resourcePool: { name: 'gold', reservationCores: 0, limitCores: null, reservationMiB: 0, limitMiB: null },
      groups: [],
    },
  ],
  [
    'a pool with all of them',
    {
      resourcePool: {
        name: 'gold',
        reservations: { cpu: '1500m', memory: '1Gi' },
        limits: { cpu: 4, memory: '2000M' },
      },
    },
    {
      folder: null,
      resourcePool: { name: 'gold', reservationCores: 1.5, limitCores: 4, reservationMiB: 1_024, limitMiB: 1_908 },
      groups: [],
    },
  ],
  [
    'a group twice',
    { clusterModuleGroups: ['web', 'db', 'web'] },
    { folder: null, resourcePool: null, groups: ['web', 'db'] },
  ],
])('asks for %s', (_, spec, wanted) => {
  expect(readResourcePolicy(policy({ spec }))).toMatchObject(wanted);
});

test.each([
  ['', { made: null, observed: null, cancelled: null }],
  ['3', { made: 3, observed: null, cancelled: null }],
  ['observed 3', { made: null, observed: 3, cancelled: null }],
  ['cancelled 3', { made: null, observed: null, cancelled: 3 }],
  ['three', { made: null, observed: null, cancelled: null }],
  ['-3', { made: null, observed: null, cancelled: null }],
])('policy-made: %j', (made, recorded) => {
  expect(readRecordedPolicy(policy({ metadata: { annotations: { 'drover.dev/policy-made': made } } }))).toMatchObject(
    recorded,
  );
});

test('the status is what there is', () => {
  const status = {
    clustermodules: [{ clusterMoID: 'domain-c1', groupName: 'web', moduleUUID: 'm-1' }],
    resourcePools: [{ clusterMoID: 'domain-c1', childResourcePoolMoID: 'resgroup-2' }],
  };
  expect(readRecordedPolicy(policy({ status }))).toMatchObject({
    modules: [{ cluster: 'domain-c1', group: 'web', module: 'm-1' }],
    pools: [{ cluster: 'domain-c1', pool: 'resgroup-2' }],
  });
});

const finalizers = ['vmoperator.vmware.com/virtualmachinesetresourcepolicy'];
const deletionTimestamp = '2026-01-31T13:00:00Z';
const made = (value: string): object => ({ annotations: { 'drover.dev/policy-made': value }, finalizers });
const retried = (asked: string, handled?: string): object => ({
  annotations: {
    'drover.dev/policy-made': '3',
    'drover.dev/retry': asked,
    ...(handled !== undefined && { 'drover.dev/retry-handled': handled }),
  },
  finalizers,
});

test.each<[what: string, metadata: object, act: boolean, observe: boolean]>([
  ['new', {}, false, false],
  ['made', made('3'), true, true],
  ['made for another generation', made('2'), false, false],
  ['observed', made('observed 3'), false, true],
  [
    'observed, as it asks for',
    { annotations: { 'drover.dev/policy-made': 'observed 3', 'drover.dev/mode': 'observe' }, finalizers },
    true,
    true,
  ],
  [
    'observed, and to be made',
    { annotations: { 'drover.dev/policy-made': 'observed 3', 'drover.dev/mode': 'act' } },
    false,
    true,
  ],
  ['cancelled', made('cancelled 3'), true, true],
  ['cancelled at another generation', made('cancelled 2'), false, false],
  ['cancelled while it was deleted', { ...made('cancelled 3'), deletionTimestamp }, true, true],
  ['made, and to be tried again', retried('now'), false, false],
  ['made, and tried again', retried('now', 'now'), true, true],
  ['deleted and held', { ...made('3'), deletionTimestamp }, false, true],
  ['deleted and let go', { deletionTimestamp, finalizers: ['example.com/other'] }, true, false],
])('%s: reconciled by act %p, by observe %p', (_, metadata, act, observe) => {
  expect([
    kindTable.VirtualMachineSetResourcePolicy.isReconciled(policy({ metadata }), 'act'),
    kindTable.VirtualMachineSetResourcePolicy.isReconciled(policy({ metadata }), 'observe'),
  ]).toEqual([act, observe]);
});
