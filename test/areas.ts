/**
 * Which paths decide what a proof shows: globs, as test/evidence/sources.ts reads them. Evidence is as old as its area
 * (test/evidence/), and a flow is run again when its area changes (test/tiers.ts).
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
const parts = (names: readonly string[]): string[] => names.map((name) => `>lab/parts/${name}.ts`);

/**
 * A suite of an outside system runs over the fake on every push, with the same names and tables: what is not about the
 * words that an adapter and the real system exchange has failed there first. That the lab starts its parts is shown by
 * its own flows.
 */
const shownElsewhere = ['!lab/*.ts', '!package.json', '!bin/**', ...noUnitTests];
const inContracts = (path: string): string => `!contracts/${path}`;
const otherClouds = (names: readonly string[]): string[] => within('!activities', names);

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
  // The systems: what the suites of one lead to (test/evidence/series.ts adds them), and the counterpart that answers.
  openstack: [
    ...parts(['openstack']),
    'lab/openstack/**',
    '!contracts/**',
    ...otherClouds(['vsphere']),
    ...shownElsewhere,
  ],
  vsphere: [
    ...parts(['vsphere', 'isos']),
    'lab/tools/vsphere/**',
    '!contracts/**',
    ...otherClouds(['nova', 'openstack', 'cinder', 'neutron']),
    ...shownElsewhere,
  ],
  kubernetes: [
    ...parts(['kubernetes']),
    'lab/tools/kubernetes/**',
    ...within('deploy', ['crds', 'rbac', 'admission']),
    // Of drover's own tables, definitions are what a kube-apiserver is given.
    ...['*.ts', 'agent-pool/**', 'data-volume/**', 'eviction/**', 'hypervisor/**', 'kinds/**'].map(inContracts),
    ...['machine-safety/**', 'node-failure/**', 'resource-policy/**', 'virtual-machine/**'].map(inContracts),
    ...shownElsewhere,
  ],
  hosts: [
    ...parts(['libvirt', 'ovs', 'ceph', 'redfish']),
    ...within('lab', ['ceph', 'redfish/bmc']),
    'lab/redfish/requirements.lock.txt',
    '!contracts/**',
    ...shownElsewhere,
  ],
  temporal: ['package-lock.json', ...parts(['temporal']), 'lab/tools/temporal/**', '!contracts/**', ...shownElsewhere],
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
  lab: ['lab/**', '!lab/demo/**', 'test/simulator/volumes/**', 'test/contracts/storage*', ...noUnitTests],
} as const satisfies Record<string, readonly string[]>;

export type Area = keyof typeof areas;
