import { areas } from '../areas.ts';
import { closed, composers, type PartName, parts, sourcesOf } from '../simulator/matrix/parts.ts';
import { type SuiteGroup, suitesOf } from '../simulated-suites.ts';
import type { ProvenArea } from '../tiers.ts';
import { flowTiers } from '../tiers.ts';

/**
 * What is proven by long runs, and which paths each is about. The newest record of a series counts; older ones are its
 * history.
 */
export interface Series {
  title: string;
  /** Makes a record of it. */
  command: string;
  globs: readonly string[];
  /** Why `npm run test:all` neither makes it nor fails where it is old. */
  exempt?: string;
}

/** What real parts alone prove: that the lab has them, and what it gives to its kube-apiserver. */
const realParts = ['lab/**', '!lab/demo/**', 'deploy/crds/**', 'deploy/rbac/**', 'deploy/admission/**', 'bin/**'];
const judges = ['test/invariants/**', 'test/read-world.ts'];
/** What drives the matrix on real parts, the worker that it starts, and the bridge. */
export const matrixEntries = ['test/faults/matrix.ts', 'test/faults/worker.ts', 'starters/bridge.ts'] as const;
/** Drover's processes and commands are all started by one program. */
export const chaosEntries = ['test/chaos/run-chaos.ts', 'starters/main.ts'] as const;
/** What the simulator does for so many minutes; what counts them is below the same folder. */
export const scheduleEntries = [
  'test/simulator/schedules/run-schedule.ts',
  'test/simulator/schedules/tell-stories.ts',
] as const;
/** How a person or the ladder asks for it, and how it is kept, decide nothing. */
const notAsked = ['!package.json', '!test/evidence/**'];
const load = ['bench/*.ts', '!bench/main.ts'];

/** All that the ladder runs or reads, but for evidence, which it writes. */
const folders =
  'activities bench bin contracts deploy docs k8s-bridge lab runtime starters test workers workflows'.split(' ');
const files = [
  'package.json',
  'package-lock.json',
  'jest.config.mjs',
  'tsconfig.json',
  '.githooks/commit-msg',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'Dockerfile',
  'docker-compose.yml',
  'drover.example.yaml',
];

/** @param lifecycles whose activities its workers call */
const matrixOf = (title: string, area: readonly string[], ...lifecycles: PartName[]): Series => {
  const called: readonly string[] = lifecycles.flatMap((name) => parts[name].composedBy);
  return {
    title: `The every-step matrix on real parts: ${title}`,
    command: 'npm run matrix -- --record',
    globs: [
      ...area,
      'test/faults/**',
      '!test/faults/main.ts',
      ...judges,
      ...realParts,
      ...matrixEntries.map((file) => `>${file}`),
      ...composers.map((file) => `${called.includes(file) ? '>' : '|'}${file}`),
      'starters/main.ts',
      ...notAsked,
    ],
  };
};
const simulatedOf = (name: PartName): Series => ({
  title: `The every-step matrix, simulated: ${parts[name].title}`,
  command: 'npm run simulate -- --record',
  globs: sourcesOf(name),
});
/** What it shares with the matrix on real parts is followed from where it starts. */
const simulator = ['test/simulator/**', 'test/fakes/**', 'test/invariants/**'];
const isOfTests = (glob: string): boolean => /^!.*\.test\.ts$/u.test(glob);
const everything = areas.all.filter((glob) => !isOfTests(glob));
const suitesSeries = (title: string, files: readonly string[], sources: readonly string[]): Series => ({
  title,
  command: 'npm run test:all',
  globs: [
    ...sources,
    ...files.map((file) => `>${file}`),
    ...simulator,
    'jest.config.mjs',
    'test/jest/**',
    'test/*.mjs',
    'test/seed.ts',
  ],
});
const suitesOfGroup = (group: SuiteGroup): Series =>
  suitesSeries(
    `Suites of the simulator: ${group === 'all' ? 'all lifecycles' : parts[group].title}`,
    suitesOf(group),
    group === 'all' ? everything : sourcesOf(group),
  );
const simulatedFlows = Object.keys(flowTiers).filter((name) => flowTiers[name]?.tier === 'simulated');
const benchOf = (suite: string, title: string, area: readonly string[]): Series => ({
  title,
  command: `npm run bench -- ${suite}`,
  globs: [...area, `bench/${suite}/**`, ...load],
  exempt: 'it is measured apart, on a machine that does nothing else',
});
/** Some flows start all of drover, and a few of its files decide how they go: the others are about what they import. */
const isByImports = (area: ProvenArea): boolean => !['lab', 'codec', 'telemetry'].includes(area);
const flowsOf = (area: ProvenArea): Series => {
  const suites = Object.entries(flowTiers).filter(([, row]) => row.tier === 'changed' && row.area === area);
  return {
    title: `Flows on real counterparts: ${area}`,
    command: 'npm run test:all',
    globs: [...areas[area], ...suites.map(([name]) => `${isByImports(area) ? '>' : ''}test/flows/${name}.test.ts`)],
  };
};

export const series = {
  'matrix-evictions': matrixOf('evictions', areas.eviction, 'evictions'),
  'matrix-hypervisors': matrixOf(
    'hypervisors into service, into maintenance and back',
    areas.hypervisor,
    'hypervisors',
  ),
  'matrix-decommissioning': matrixOf('hypervisors out of Nova', areas.hypervisor, 'hypervisors'),
  'matrix-repairs': matrixOf('drift, release and retry of hypervisors', areas.hypervisor, 'hypervisors'),
  'matrix-guests': matrixOf('guests that fail', areas.hypervisor, 'nodeFailures'),
  'matrix-virtual-machines': matrixOf(
    'virtual machines and their resource policies',
    areas.virtualMachine,
    'virtualMachines',
    'resourcePolicies',
  ),
  'matrix-fast-deploy': matrixOf('virtual machines of cached files', areas.virtualMachine, 'virtualMachines'),
  'simulated-evictions': simulatedOf('evictions'),
  'simulated-hypervisors': simulatedOf('hypervisors'),
  'simulated-nodeFailures': simulatedOf('nodeFailures'),
  'simulated-virtualMachines': simulatedOf('virtualMachines'),
  'simulated-resourcePolicies': simulatedOf('resourcePolicies'),
  'simulated-machines': simulatedOf('machines'),
  'simulated-agentPools': simulatedOf('agentPools'),
  'simulated-clones': simulatedOf('clones'),
  'simulated-mutations': {
    title: 'Verbs and rules that are broken, simulated: each is noticed',
    command: 'npm run simulate -- --record',
    globs: [
      ...areas.all,
      ...simulator,
      '>test/simulator/matrix/shard.ts',
      '>workflows/index.ts',
      '!package.json',
      '!bin/**',
    ],
  },
  chaos: {
    title: 'Chaos: everything breaks at random under load, for 30 minutes',
    command: 'npm run chaos -- --minutes 30 --record',
    globs: [
      ...areas.all,
      'starters/**',
      'test/chaos/**',
      '!test/chaos/main.ts',
      ...judges,
      ...realParts,
      ...chaosEntries.map((file) => `>${file}`),
      // A world is simulated instead where DROVER_SIMULATED is set.
      '!test/simulator/**',
      ...notAsked,
    ],
  },
  simulation: {
    title: 'The simulator: an hour of a processor of random schedules of all lifecycles',
    command: 'npm run simulate -- --minutes 60 --record',
    globs: [
      ...areas.all,
      ...simulator,
      ...scheduleEntries.map((file) => `>${file}`),
      // Nothing of the lab is started.
      ...closed.filter((file) => file.startsWith('lab/')).map((file) => `|${file}`),
      '!bin/**',
      ...notAsked,
    ],
  },
  'bench-eviction': benchOf('eviction', 'The eviction beside a bare script', areas.eviction),
  'bench-load': benchOf('load', 'The bridge and the limits under load', areas.bridge),
  'bench-onboarding': benchOf('onboarding', 'Hypervisors onboarding at once', areas.hypervisor),
  'bench-scale': benchOf('scale', 'Evictions of a large region', [
    ...areas.hypervisor,
    'test/fakes/openstack/**',
    'test/simulator/*.ts',
    'test/simulator/temporal/**',
    '!test/simulator/main.ts',
  ]),
  'bench-machines': benchOf('machines', 'The safety jobs of Machines', areas.machines),
  'bench-agents': benchOf('agents', 'Agent pools on vSphere', areas.agentPools),
  'bench-clones': benchOf('clones', 'Clones of volumes', areas.dataVolume),
  'bench-vms': benchOf('vms', 'Virtual machines on vSphere', areas.virtualMachine),
  'flows-openstack': flowsOf('openstack'),
  'flows-vsphere': flowsOf('vsphere'),
  'flows-kubernetes': flowsOf('kubernetes'),
  'flows-hosts': flowsOf('hosts'),
  'flows-temporal': flowsOf('temporal'),
  'flows-lab': flowsOf('lab'),
  'flows-codec': flowsOf('codec'),
  'flows-telemetry': flowsOf('telemetry'),
  'suites-evictions': suitesOfGroup('evictions'),
  'suites-machines': suitesOfGroup('machines'),
  'suites-agentPools': suitesOfGroup('agentPools'),
  'suites-clones': suitesOfGroup('clones'),
  'suites-virtualMachines': suitesOfGroup('virtualMachines'),
  'suites-all': suitesOfGroup('all'),
  'suites-flows': suitesSeries(
    'Flows over the fakes',
    simulatedFlows.map((name) => `test/flows/${name}.test.ts`),
    everything,
  ),
  'test-all': {
    title: 'The whole ladder',
    command: 'npm run test:all',
    globs: [...folders.map((folder) => `${folder}/**`), ...files],
  },
} as const satisfies Record<string, Series>;

export type SeriesName = keyof typeof series;
export const seriesNames = Object.keys(series) as SeriesName[];
