import type { Eviction } from '../../contracts/crds/eviction.ts';
import { evictionSchema } from '../../contracts/crds/eviction.ts';
import { definitions } from '../../contracts/crds/definitions.ts';
import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { until } from './until.ts';
import { migrationNamespace, openKubernetesWorld } from './kubernetes-world.ts';
import type { KubernetesWorld } from './kubernetes-world.ts';

/**
 * The generated CRDs (deploy/crds, which the lab applies) on a real kube-apiserver: what their contract
 * (test/contracts/kubernetes-schemas.ts) leaves to it.
 */
let world: KubernetesWorld;
const namespace = migrationNamespace;

const hypervisor = (name: string, spec: object) => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata: { name: `crds-${name}` },
  spec,
});
const eviction = (name: string, spec: object = { hypervisor: `crds-${name}`, reason: 'test' }) => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { name: `crds-${name}` },
  spec,
});
const virtualMachine = (spec: object) => ({
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachine',
  metadata: { name: 'crds-x', namespace },
  spec,
});
const create = ['create', '-f', '-'];
/** In the place of what a failed attempt has left. */
const createAnew = async (object: object): Promise<void> => {
  await world.kubectl(['delete', '--ignore-not-found', '-f', '-'], object);
  await world.kubectl(create, object);
};
const mergePatch = (resource: string, change: object): string[] => [
  'patch',
  ...resource.split(' '),
  '--type=merge',
  '-p',
  JSON.stringify(change),
];

beforeAll(async () => {
  world = await openKubernetesWorld();
}, 120_000);

afterAll(async () => {
  for (const kind of ['hypervisors', 'evictions', 'migrations']) {
    const names = (await world.kubectl(['get', kind, '-A', '-o', 'name']))
      .split('\n')
      .filter((name) => name.includes('/crds-'));
    for (const name of names)
      await world.kubectl(['delete', name, ...(kind === 'migrations' ? ['-n', namespace] : [])]);
  }
  await world.close();
}, 60_000);

interface ServedDefinition {
  metadata: { name: string };
  spec: { versions: { name: string; schema: { openAPIV3Schema: object }; additionalPrinterColumns: object[] }[] };
  status: { conditions: { type: string; status: string; message: string }[]; acceptedNames: { shortNames?: string[] } };
}

test.each(definitions.map((definition) => [definition.kind, definition] as const))(
  '%s is structural, and nothing of it was dropped',
  async (_kind, definition) => {
    const wanted = toCustomResourceDefinition(definition);
    const served = await world.read<ServedDefinition>('crd', wanted.metadata.name);
    expect(served?.status.conditions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
    );
    expect(served?.status.conditions.map(({ type }) => type)).not.toContain('NonStructuralSchema');
    expect(served?.status.acceptedNames.shortNames).toEqual(definition.shortNames);
    expect(served?.spec.versions).toMatchObject(JSON.parse(JSON.stringify(wanted.spec.versions)) as object[]);
  },
);

const refused: [why: string, object, message: string][] = [
  [
    'manual maintenance without a reason',
    hypervisor('x', { maintenance: 'manual' }),
    "maintenanceReason must be non-empty when maintenance is 'manual'",
  ],
  ['undercommitting', hypervisor('x', { overcommit: { cpu: 0.5 } }), 'overcommit ratios must be >= 1.0'],
  ['a group that is nothing', hypervisor('x', { groups: [{}] }), 'exactly one group type must be set'],
  [
    'an aggregate without a proper id',
    hypervisor('x', { groups: [{ aggregate: { name: 'a', uuid: 'b' } }] }),
    'should match',
  ],
  [
    'a VM that is to be encrypted',
    virtualMachine({ crypto: { encryptionClassName: 'c' } }),
    'drover does not encrypt VMs',
  ],
  [
    'a property of one of its cards',
    virtualMachine({ network: { interfaces: [{ name: 'eth0' }, { name: 'eth1', ipamModes: ['DHCPv4'] }] } }),
    'drover does not choose how addresses are given out',
  ],
  ['an unknown field', eviction('x', { hypervisor: 'h', reason: 'r', force: true }), 'unknown field "spec.force"'],
];

test.each(refused)('%s is refused', async (_why, object, message) => {
  expect(await world.refusal(create, object)).toContain(message);
});

test('the host of an Eviction cannot be changed, its reason can', async () => {
  await createAnew(eviction('immutable'));
  expect(await world.refusal(mergePatch('evi crds-immutable', { spec: { hypervisor: 'other' } }))).toContain(
    'Value is immutable',
  );
  await world.kubectl(mergePatch('evi crds-immutable', { spec: { reason: 'another' } }));
  expect(evictionSchema.parse(await world.read<Eviction>('evi', 'crds-immutable')).metadata.generation).toBe(2);
});

test('a host that is being terminated can only be handed to high availability', async () => {
  await createAnew(hypervisor('termination', { maintenance: 'termination' }));
  expect(await world.refusal(mergePatch('hv crds-termination', { spec: { maintenance: '' } }))).toContain(
    "spec is immutable when maintenance is 'termination'",
  );
  expect(await world.refusal(mergePatch('hv crds-termination', { spec: { skipTests: true } }))).toContain(
    'spec is immutable',
  );
  await world.kubectl(mergePatch('hv crds-termination', { spec: { maintenance: 'ha', skipTests: true } }));
});

test('what was stored before its field was refused stays, and all else of the object can be changed', async () => {
  const definition = definitions.find(({ kind }) => kind === 'VirtualMachine')!;
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
  const stored = (encryptionClassName: string) => ({
    ...virtualMachine({ crypto: { encryptionClassName }, powerState: 'PoweredOn' }),
    metadata: { name: 'crds-stored', namespace },
  });
  // A failed attempt may have left it.
  await world.kubectl(['delete', '--ignore-not-found', '-f', '-'], stored('before'));
  try {
    await world.kubectl(apply, toCustomResourceDefinition({ ...definition, refused: {} }));
    await until('the definition without its rules', 30_000, async () => {
      const left = await world.kubectl(create, stored('before')).then(
        () => null,
        (error: unknown) => String(error),
      );
      return left === null ? {} : left;
    });
  } finally {
    await world.kubectl(apply, toCustomResourceDefinition(definition));
  }
  const vm = `virtualmachine crds-stored -n ${namespace}`;
  await until('the rules again', 30_000, async () => {
    const refusal = await world.refusal([...create, '--dry-run=server'], stored('again')).catch(String);
    return refusal.includes('drover does not encrypt VMs') ? {} : refusal;
  });
  await world.kubectl(mergePatch(vm, { spec: { powerState: 'PoweredOff' } }));
  expect(await world.refusal(mergePatch(vm, { spec: { crypto: { encryptionClassName: 'another' } } }))).toContain(
    'drover does not encrypt VMs',
  );
  await world.kubectl(['delete', ...vm.split(' '), '--wait=false']);
});

const tables: [args: string[], columns: string[]][] = [
  [['evi'], ['NAME', 'HYPERVISOR', 'REASON', 'STATE', 'CREATED']],
  [
    ['hv'],
    [
      'NAME',
      'READY',
      'STATE',
      'TAINT',
      'LIFECYCLE',
      'HIGH AVAILABILITY',
      'SKIP TESTS',
      'VERSION',
      'IP',
      'INSTANCES',
      'AGE',
    ],
  ],
  [
    ['hv', '-o', 'wide'],
    [
      'NAME',
      'ZONE',
      'BUILDING BLOCK',
      'GROUP',
      'READY',
      'STATE',
      'TAINT',
      'LIFECYCLE',
      'HIGH AVAILABILITY',
      'SKIP TESTS',
      'VERSION',
      'IP',
      'INSTANCES',
      'HARDWARE',
      'KERNEL',
      'ONBOARDING',
      'SERVICE ID',
      'HYPERVISOR ID',
      'AGE',
    ],
  ],
  [
    ['migrations', '-n', namespace],
    [
      'NAME',
      'ORIGIN',
      'DESTINATION',
      'TYPE',
      'OPERATION',
      'STARTED',
      'ELAPSED',
      'DATA TOTAL',
      'DATA PROCESSED',
      'DATA REMAINING',
      'MEMORY TX',
      'MEMORY DIRTY RATE',
      'MEMORY ITERATION',
    ],
  ],
];

// kubectl prints no head for an empty list.
beforeAll(async () => {
  await world.kubectl(create, {
    apiVersion: 'kvm.cloud.sap/v1alpha1',
    kind: 'Migration',
    metadata: { name: 'crds-listed', namespace },
    spec: {},
  });
});

test.each(tables)('kubectl get %j shows the columns of the operator', async (args, columns) => {
  const [head = ''] = (await world.kubectl(['get', ...args])).split('\n');
  expect(head.trim().split(/\s{2,}/u)).toEqual(columns);
});

test('kubectl shows the columns of an Eviction', async () => {
  await createAnew(eviction('shown'));
  const condition = {
    type: 'Evicting',
    status: 'True',
    reason: 'Running',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  await world.kubectl([
    ...mergePatch('evi crds-shown', { status: { conditions: [condition] } }),
    '--subresource=status',
  ]);
  expect(await world.kubectl(['get', 'evi', 'crds-shown', '--no-headers'])).toMatch(
    /^crds-shown +crds-shown +test +Running +\d+s/u,
  );
});
