import { toCustomResourceDefinition } from './custom-resource-definition.ts';
import { definitions } from './definitions.ts';
import { evictionSchema } from './eviction.ts';
import { hypervisorSchema } from './hypervisor.ts';
import { migrationSchema } from './migration.ts';

const metadata = {
  name: 'node-1',
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const hypervisor = (spec: object) =>
  hypervisorSchema.safeParse({ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata, spec });

test('every definition has a name, a status subresource and nothing but a type for what all objects share', () => {
  for (const crd of definitions.map(toCustomResourceDefinition)) {
    const [version] = crd.spec.versions;
    expect(crd.metadata.name).toBe(`${crd.spec.names.plural}.${crd.spec.group}`);
    expect(version?.subresources).toEqual({ status: {} });
    expect(version?.schema.openAPIV3Schema.properties).toMatchObject({
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
    });
    expect(version?.schema.openAPIV3Schema.properties?.['metadata']).toEqual({ type: 'object' });
    expect(version?.schema.openAPIV3Schema.required ?? []).not.toContain('status');
  }
});

test('defaults of a Hypervisor are those of the operator', () => {
  expect(hypervisor({}).data?.spec).toEqual({
    reboot: false,
    evacuateOnReboot: true,
    lifecycleEnabled: true,
    skipTests: false,
    customTraits: [],
    aggregates: [],
    allowedProjects: [],
    highAvailability: true,
    createCertManagerCertificate: false,
    installCertificate: true,
  });
});

const refusedSpecs: [spec: object, message: string][] = [
  [{ maintenance: 'manual' }, "maintenanceReason must be non-empty when maintenance is 'manual'"],
  [{ overcommit: { cpu: 0.5 } }, 'overcommit ratios must be >= 1.0'],
  [{ groups: [{}] }, 'exactly one group type must be set'],
  [
    { groups: [{ trait: { name: 't' }, aggregate: { name: 'a', uuid: '00000000-0000-0000-0000-000000000000' } }] },
    'exactly one group type must be set',
  ],
  [{ maintenance: 'later' }, 'Invalid option'],
];

test.each(refusedSpecs)('%j is refused without kube-apiserver too', (spec, message) => {
  expect(
    hypervisor(spec)
      .error?.issues.map((issue) => issue.message)
      .join(),
  ).toContain(message);
});

test('quantities are read as they are written', () => {
  const parsed = hypervisorSchema.parse({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata,
    status: { numInstances: 2, capacity: { memory: '512Gi', cpu: 128 } },
  });
  expect(parsed.status).toEqual({
    libVirtVersion: 'unknown',
    hypervisorVersion: 'unknown',
    numInstances: 2,
    capacity: { memory: '512Gi', cpu: 128 },
  });
});

test('a Migration needs no status', () => {
  expect(
    migrationSchema.safeParse({ apiVersion: 'kvm.cloud.sap/v1alpha1', kind: 'Migration', metadata, spec: {} }).success,
  ).toBe(true);
});

test('an Eviction needs a hypervisor and a reason', () => {
  const { error } = evictionSchema.safeParse({
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Eviction',
    metadata,
    spec: { hypervisor: '' },
  });
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual(['spec.hypervisor', 'spec.reason']);
});

/** vm-operator's, as scripts and people know them: `kubectl get` shows them first, and drover's own after them. */
const upstreams: [kind: string, shortNames: string[], columns: string[], wide: string[]][] = [
  [
    'VirtualMachine',
    ['vm'],
    ['Power-State', 'Class', 'Image', 'Primary-IP4', 'Age'],
    ['Class', 'Image', 'Primary-IP4'],
  ],
  ['VirtualMachineClass', ['vmclass'], ['CPU', 'Memory', 'Capabilities'], ['Capabilities']],
  [
    'VirtualMachineImage',
    ['vmi', 'vmimage'],
    ['Display Name', 'Type', 'Image Version', 'OS Name', 'OS Version', 'Hardware Version', 'Capabilities'],
    [],
  ],
  [
    'ClusterVirtualMachineImage',
    ['cvmi', 'cvmimage', 'clustervmi', 'clustervmimage'],
    ['Display Name', 'Type', 'Image Version', 'OS Name', 'OS Version', 'Hardware Version'],
    [],
  ],
  ['Machine', ['mc'], ['Status', 'Age', 'Node', 'ProviderID'], ['ProviderID']],
];

test.each(upstreams)(
  '%s has the short names and the columns of the replaced operator',
  (kind, names, columns, wide) => {
    const { shortNames, printColumns = [] } = definitions.find((one) => one.kind === kind) ?? {};
    expect(shortNames).toEqual(names);
    const first = printColumns.slice(0, columns.length);
    expect(first.map(({ name }) => name)).toEqual(columns);
    expect(first.flatMap(({ name, priority = 0 }) => (priority > 0 ? [name] : []))).toEqual(wide);
  },
);
