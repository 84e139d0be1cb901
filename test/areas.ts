/**
 * Which paths decide what a proof shows: git pathspecs in the form of globs, those with `!` excluded. Evidence is as
 * old as its area (test/evidence/), and a flow is run again when its area changes (test/tiers.ts).
 */

const within = (folder: string, names: readonly string[]): string[] => names.map((name) => `${folder}/${name}/**`);

/** What shows nothing of the real counterparts. */
const noUnitTests = [
  'contracts',
  'runtime',
  'workers',
  'workflows',
  'activities',
  'k8s-bridge',
  'starters',
  'lab',
  'test/fakes',
  'test/contracts',
  'test/simulator',
].map((folder) => `!${folder}/**/*.test.ts`);
const contracts = (names: readonly string[]): string[] => names.map((name) => `test/contracts/${name}*`);

/** Under every lifecycle. */
const foundation = [
  'package-lock.json',
  'contracts/**',
  'runtime/**',
  'workers/**',
  'workflows/*.ts',
  'workflows/lib/**',
  'activities/temporal/**',
  ...noUnitTests,
];
const openstackAdapters = within('activities', ['openstack', 'keystone', 'nova', 'placement']);
const hostAdapters = within('activities', ['libvirt', 'ovs', 'ceph', 'redfish']);
const bridge = ['k8s-bridge/**'];
const eviction = [
  ...foundation,
  ...within('workflows', ['eviction', 'migration', 'limits']),
  ...openstackAdapters,
  ...within('activities', ['preflight', 'kubernetes']),
  ...bridge,
];

export const areas = {
  eviction,
  hypervisor: [
    ...eviction,
    ...within('workflows', ['hypervisor', 'node-failure']),
    ...hostAdapters,
    'activities/hypervisor/**',
  ],
  virtualMachine: [
    ...foundation,
    ...within('workflows', ['virtual-machine', 'resource-policy', 'vcenter', 'limits']),
    ...within('activities', ['vsphere', 'virtual-machine', 'kubernetes']),
    ...bridge,
  ],
  machines: [
    ...foundation,
    'workflows/machine-safety/**',
    'activities/machines/**',
    'activities/kubernetes/machines/**',
  ],
  agentPools: [
    ...foundation,
    ...within('workflows', ['agent-pool', 'virtual-machine', 'limits']),
    ...within('activities', ['agents', 'vsphere', 'kubernetes']),
    ...bridge,
  ],
  dataVolume: [
    ...foundation,
    ...within('workflows', ['data-volume', 'limits']),
    ...within('activities', ['lib', 'kubernetes/lib', 'kubernetes/volumes']),
    'deploy/admission/data-volumes.yaml',
    ...bridge,
  ],
  bridge: [...foundation, ...bridge],
  commands: [...foundation, 'starters/**', 'bin/**', 'workflows/**', 'k8s-bridge/**'],
  all: [...foundation, 'workflows/**', 'activities/**', 'k8s-bridge/**'],
  // The systems: what speaks with one of them, and the counterpart that answers.
  openstack: [
    ...openstackAdapters,
    'activities/preflight/**',
    'activities/machines/**',
    'lab/openstack/**',
    'lab/parts/openstack.ts',
    'test/fakes/openstack/**',
    'test/flows/contract-openstack/**',
    ...contracts(['openstack', 'keystone', 'nova', 'placement']),
    ...noUnitTests,
  ],
  vsphere: [
    'activities/vsphere/**',
    'activities/machines/**',
    'activities/agents/**',
    'lab/vsphere/**',
    'lab/iso/**',
    'lab/parts/vsphere.ts',
    'lab/parts/isos.ts',
    'test/fakes/vsphere/**',
    ...contracts(['vsphere', 'vcenter', 'fake-vsphere']),
    ...noUnitTests,
  ],
  kubernetes: [
    'activities/kubernetes/**',
    'runtime/kubernetes/**',
    'runtime/stop.ts',
    'contracts/crds/**',
    'deploy/**',
    'lab/parts/kubernetes*',
    'test/fakes/kubernetes/**',
    ...contracts(['kubernetes', '*-objects', 'object-activities']),
    ...noUnitTests,
  ],
  hosts: [
    ...hostAdapters,
    ...within('lab', ['libvirt', 'ceph', 'redfish']),
    'lab/parts/libvirt*',
    'lab/parts/ovs*',
    'lab/parts/ceph*',
    'lab/parts/redfish*',
    'test/fakes/hosts/**',
    'test/contracts/hosts/**',
    'test/flows/contract-hosts/**',
    ...noUnitTests,
  ],
  temporal: [
    'package-lock.json',
    'lab/parts/temporal*',
    'test/simulator/temporal/**',
    'test/simulator/samples/**',
    ...['clock', 'network', 'process', 'simulation'].map((name) => `test/simulator/${name}.ts`),
    ...noUnitTests,
  ],
  // What a few files decide.
  codec: [
    'package-lock.json',
    'runtime/temporal/*codec*',
    'runtime/temporal/payload-keys.ts',
    'runtime/temporal/data-converter.ts',
    'runtime/temporal/failure-converter.ts',
    'starters/operate/codec-server.ts',
    ...noUnitTests,
  ],
  telemetry: [
    'package-lock.json',
    'contracts/metrics.ts',
    'runtime/telemetry/metrics.ts',
    'runtime/telemetry/trac*',
    'runtime/telemetry/outside-calls.ts',
    'workers/*metrics*',
    'workers/*gauges*',
    'workers/trace-runs.ts',
    'k8s-bridge/report-metrics.ts',
    'deploy/alerts/**',
    'deploy/grafana/**',
    ...noUnitTests,
  ],
  lab: ['lab/**', '!lab/demo/**', 'test/simulator/volumes/**', ...contracts(['storage']), ...noUnitTests],
} as const satisfies Record<string, readonly string[]>;

export type Area = keyof typeof areas;
