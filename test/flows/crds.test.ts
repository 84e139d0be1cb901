import type { Eviction } from '../../contracts/crds/eviction.ts';
import { evictionSchema } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorSchema } from '../../contracts/crds/hypervisor.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import { migrationSchema } from '../../contracts/crds/migration.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { migrationNamespace, openKubernetesWorld } from './kubernetes-world.ts';
import type { KubernetesWorld } from './kubernetes-world.ts';

/** The generated CRDs (deploy/crds, which the lab applies) on a real kube-apiserver. */
let world: KubernetesWorld;
const namespace = migrationNamespace;

const hypervisor = (name: string, spec: object) => ({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name: `crds-${name}` }, spec });
const eviction = (name: string, spec: object = { hypervisor: `crds-${name}`, reason: 'test' }) => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { name: `crds-${name}` },
  spec,
});
const create = ['create', '-f', '-'];
const mergePatch = (resource: string, change: object): string[] => ['patch', ...resource.split(' '), '--type=merge', '-p', JSON.stringify(change)];

beforeAll(async () => {
  world = await openKubernetesWorld();
}, 120_000);

afterAll(async () => {
  for (const kind of ['hypervisors', 'evictions', 'migrations']) {
    const names = (await world.kubectl(['get', kind, '-A', '-o', 'name'])).split('\n').filter((name) => name.includes('/crds-'));
    for (const name of names) await world.kubectl(['delete', name, ...(kind === 'migrations' ? ['-n', namespace] : [])]);
  }
  await world.close();
}, 60_000);

interface ServedDefinition {
  metadata: { name: string };
  spec: { versions: { name: string; schema: { openAPIV3Schema: object }; additionalPrinterColumns: object[] }[] };
  status: { conditions: { type: string; status: string; message: string }[]; acceptedNames: { shortNames?: string[] } };
}

test.each(definitions.map((definition) => [definition.kind, definition] as const))('%s is structural, and nothing of it was dropped', async (_kind, definition) => {
  const wanted = toCustomResourceDefinition(definition);
  const served = await world.read<ServedDefinition>('crd', wanted.metadata.name);
  expect(served?.status.conditions).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]));
  expect(served?.status.conditions.map(({ type }) => type)).not.toContain('NonStructuralSchema');
  expect(served?.status.acceptedNames.shortNames).toEqual(definition.shortNames);
  expect(served?.spec.versions).toMatchObject(JSON.parse(JSON.stringify(wanted.spec.versions)) as object[]);
});

test('defaults are filled in, and what is read is what the schema says', async () => {
  await world.kubectl(create, hypervisor('defaults', { overcommit: { cpu: 2 } }));
  const served = await world.read<Hypervisor>('hv', 'crds-defaults');
  expect(hypervisorSchema.parse(served)).toEqual(expect.objectContaining({ spec: served?.spec }));
  expect(served?.spec).toEqual(hypervisorSchema.parse(served).spec);
  expect(served?.spec).toMatchObject({ lifecycleEnabled: true, evacuateOnReboot: true, reboot: false, aggregates: [], overcommit: { cpu: 2 } });
});

test('defaults of a status are filled in', async () => {
  await world.kubectl(create, hypervisor('status', {}));
  await world.kubectl([...mergePatch('hv crds-status', { status: { capacity: { memory: '512Gi', cpu: 128 }, updateStatus: {} } }), '--subresource=status']);
  expect((await world.read<Hypervisor>('hv', 'crds-status'))?.status).toEqual({
    capacity: { memory: '512Gi', cpu: 128 },
    hypervisorVersion: 'unknown',
    libVirtVersion: 'unknown',
    numInstances: 0,
    updateStatus: { inProgress: false, installed: 'unknown', retry: 3 },
  });
});

const refused: [why: string, object: object, words: string][] = [
  ['manual maintenance without a reason', hypervisor('x', { maintenance: 'manual' }), "maintenanceReason must be non-empty when maintenance is 'manual'"],
  ['an unknown maintenance', hypervisor('x', { maintenance: 'later' }), 'Unsupported value: "later"'],
  ['undercommitting', hypervisor('x', { overcommit: { cpu: 0.5 } }), 'overcommit ratios must be >= 1.0'],
  ['a group that is nothing', hypervisor('x', { groups: [{}] }), 'exactly one group type must be set'],
  ['an aggregate without a proper id', hypervisor('x', { groups: [{ aggregate: { name: 'a', uuid: 'b' } }] }), 'should match'],
  ['an Eviction of nothing', eviction('x', { hypervisor: '', reason: 'r' }), 'should be at least 1 chars long'],
  ['an Eviction without a reason', eviction('x', { hypervisor: 'h', reason: '' }), 'should be at least 1 chars long'],
  ['an Eviction without a spec', { ...eviction('x'), spec: undefined }, 'spec: Required value'],
  ['a field that nobody knows', eviction('x', { hypervisor: 'h', reason: 'r', force: true }), 'unknown field "spec.force"'],
  ['a Migration without a spec', { apiVersion: 'kvm.cloud.sap/v1alpha1', kind: 'Migration', metadata: { name: 'crds-x', namespace } }, 'spec: Required value'],
];

test.each(refused)('%s is refused', async (_why, object, words) => {
  expect(await world.refusal(create, object)).toContain(words);
});

const badStatuses: [why: string, status: object, words: string][] = [
  ['an unknown status', { status: 'Maybe' }, 'Unsupported value: "Maybe"'],
  ['a reason of several words', { reason: 'two words' }, 'should match'],
  ['no transition time', { lastTransitionTime: undefined }, 'lastTransitionTime: Required value'],
  ['a time that is none', { lastTransitionTime: 'yesterday' }, 'must be of type date-time'],
];

test.each(badStatuses)('a condition with %s is refused', async (_why, change, words) => {
  await world.refusal(create, eviction('conditions'));
  const condition = { type: 'Evicting', status: 'True', reason: 'Running', message: '', lastTransitionTime: '2026-01-01T00:00:00Z', ...change };
  expect(await world.refusal([...mergePatch('evi crds-conditions', { status: { conditions: [condition] } }), '--subresource=status'])).toContain(words);
});

test('the host of an Eviction cannot be changed, its reason can', async () => {
  await world.kubectl(create, eviction('immutable'));
  expect(await world.refusal(mergePatch('evi crds-immutable', { spec: { hypervisor: 'other' } }))).toContain('Value is immutable');
  await world.kubectl(mergePatch('evi crds-immutable', { spec: { reason: 'another' } }));
  expect(evictionSchema.parse(await world.read<Eviction>('evi', 'crds-immutable')).metadata.generation).toBe(2);
});

test('a host that is being terminated can only be handed to high availability', async () => {
  await world.kubectl(create, hypervisor('termination', { maintenance: 'termination' }));
  expect(await world.refusal(mergePatch('hv crds-termination', { spec: { maintenance: '' } }))).toContain("spec is immutable when maintenance is 'termination'");
  expect(await world.refusal(mergePatch('hv crds-termination', { spec: { skipTests: true } }))).toContain('spec is immutable');
  await world.kubectl(mergePatch('hv crds-termination', { spec: { maintenance: 'ha', skipTests: true } }));
});

test('a Migration is made without a status, and its status needs a beginning', async () => {
  const { admin } = world;
  const { signal } = new AbortController();
  await world.kubectl(create, { apiVersion: 'kvm.cloud.sap/v1alpha1', kind: 'Migration', metadata: { name: 'crds-m', namespace }, spec: {} });
  const path = `/apis/kvm.cloud.sap/v1alpha1/namespaces/${namespace}/migrations/crds-m/status`;
  const patch = (status: object) => admin.request({ method: 'PATCH', path, patchType: 'merge', body: { status } }, signal);
  await expect(patch({ origin: 'a' })).rejects.toMatchObject({ type: 'ObjectRefused', message: expect.stringContaining('status.started: Required value') });
  await patch({ origin: 'a', started: '2026-01-01T00:00:00Z', memIteration: 3 });
  expect(migrationSchema.parse(await world.read<Migration>('migration', 'crds-m', '-n', namespace)).status).toMatchObject({ memIteration: 3 });
});

const tables: [args: string[], columns: string[]][] = [
  [['evi'], ['NAME', 'HYPERVISOR', 'REASON', 'STATE', 'CREATED']],
  [['hv'], ['NAME', 'READY', 'STATE', 'TAINT', 'LIFECYCLE', 'HIGH AVAILABILITY', 'SKIP TESTS', 'VERSION', 'IP', 'INSTANCES', 'AGE']],
  [
    ['hv', '-o', 'wide'],
    ['NAME', 'ZONE', 'BUILDING BLOCK', 'GROUP', 'READY', 'STATE', 'TAINT', 'LIFECYCLE', 'HIGH AVAILABILITY', 'SKIP TESTS', 'VERSION', 'IP', 'INSTANCES', 'HARDWARE', 'KERNEL', 'ONBOARDING', 'SERVICE ID', 'HYPERVISOR ID', 'AGE'],
  ],
  [
    ['migrations', '-n', namespace],
    ['NAME', 'ORIGIN', 'DESTINATION', 'TYPE', 'OPERATION', 'STARTED', 'ELAPSED', 'DATA TOTAL', 'DATA PROCESSED', 'DATA REMAINING', 'MEMORY TX', 'MEMORY DIRTY RATE', 'MEMORY ITERATION'],
  ],
];

test.each(tables)('kubectl get %j shows the columns of the operator', async (args, columns) => {
  const [head = ''] = (await world.kubectl(['get', ...args])).split('\n');
  expect(head.trim().split(/\s{2,}/u)).toEqual(columns);
});

test('kubectl shows an Eviction as people expect', async () => {
  await world.kubectl(create, eviction('shown'));
  const condition = { type: 'Evicting', status: 'True', reason: 'Running', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  await world.kubectl([...mergePatch('evi crds-shown', { status: { conditions: [condition] } }), '--subresource=status']);
  expect(await world.kubectl(['get', 'evi', 'crds-shown', '--no-headers'])).toMatch(/^crds-shown +crds-shown +test +Running +\d+s/u);
});
