/**
 * The simulator's matrix in parts, each about one lifecycle: which workflows run in it, which of drover's activities
 * they call, which systems are there, and so which sources decide how its cells go. A simulated cell is deterministic:
 * as long as these are what they were, it goes as it went (test/evidence/).
 */

export const partNames = [
  'evictions',
  'hypervisors',
  'nodeFailures',
  'virtualMachines',
  'resourcePolicies',
  'machines',
  'agentPools',
  'clones',
] as const;
export type PartName = (typeof partNames)[number];

/** Each has evidence of its own, `simulated-<name>`. Mutations are of all lifecycles. */
export const matrixNames = [...partNames, 'mutations'] as const;
export type MatrixName = (typeof matrixNames)[number];

/** Models of what is outside, by the file that makes them. Kubernetes and Temporal are in every cell. */
const models = {
  openstack: 'test/fakes/openstack/fake-openstack.ts',
  vsphere: 'test/fakes/vsphere/vcenter.ts',
  hosts: 'test/fakes/hosts/hosts.ts',
  storage: 'test/simulator/volumes/storage.ts',
} as const;
export type ModelName = keyof typeof models;

/** Where all comes together; its content counts for each part, and what it leads to for those that name it. */
const seams = [
  'workers/activities.ts',
  'workers/hypervisor-activities.ts',
  'workers/agent-activities.ts',
  'workers/library-image-activities.ts',
  'workers/machine-activities.ts',
  'workers/resource-policy-activities.ts',
  'workers/virtual-machine-activities.ts',
  'workers/volume-activities.ts',
  'workflows/index.ts',
  'test/faults/scenarios.ts',
  'test/faults/virtual-machine-actions.ts',
  'test/simulator/scenarios.ts',
  'test/simulator/matrix/stories.ts',
  ...Object.values(models),
] as const;
type Seam = (typeof seams)[number];

/** Those by which workers compose the activities of all lifecycles. */
export const composers = seams.filter((seam) => seam.startsWith('workers/'));

/**
 * Where what no part needs comes in: mutations and schedules have evidence of their own, nothing starts a lab, and
 * which part a scenario is in changes nothing in its cells.
 */
export const closed = [
  'test/simulator/matrix/part-of.ts',
  'test/simulator/mutations/table.ts',
  'test/simulator/schedules/run-schedule.ts',
  'test/evidence/record.ts',
  'lab/drover.ts',
  'lab/kubectl.ts',
  'lab/parts/libvirt.ts',
] as const;

export interface Part {
  title: string;
  /** Workflow types that run in its cells, by the file that is theirs. */
  workflows: Readonly<Record<string, string>>;
  models: readonly ModelName[];
  /** What its activities are composed by. */
  composedBy: readonly Seam[];
  /** Its scenarios or its story, and what only they use. */
  told: readonly string[];
}

const allocation = { allocateAllowance: 'workflows/limits/allocate-allowance.ts' };
const evicting = {
  ...allocation,
  evictHypervisor: 'workflows/eviction/evict-hypervisor.ts',
  migrateInstance: 'workflows/migration/migrate-instance.ts',
};
const hosting = {
  ...evicting,
  reconcileHypervisor: 'workflows/hypervisor/reconcile-hypervisor.ts',
  findDrift: 'workflows/hypervisor/find-drift.ts',
};
const ofHosts = ['test/faults/hypervisor-scenarios.ts', 'test/simulator/scenarios/host-scenarios.ts'];
const ofVcenter = { watchVcenter: 'workflows/vcenter/watch-vcenter.ts' };

export const parts: Readonly<Record<PartName, Part>> = {
  evictions: {
    title: 'evictions',
    workflows: evicting,
    models: ['openstack'],
    composedBy: ['workers/activities.ts'],
    told: ['test/simulator/scenarios/eviction-scenarios.ts'],
  },
  hypervisors: {
    title: 'hypervisors',
    workflows: hosting,
    models: ['openstack', 'hosts'],
    composedBy: ['workers/activities.ts', 'workers/hypervisor-activities.ts'],
    told: ofHosts,
  },
  nodeFailures: {
    title: 'hosts and guests that fail',
    workflows: {
      ...hosting,
      handleNodeFailure: 'workflows/node-failure/handle-node-failure.ts',
      watchGuests: 'workflows/node-failure/watch-guests.ts',
    },
    models: ['openstack', 'hosts'],
    composedBy: ['workers/activities.ts', 'workers/hypervisor-activities.ts'],
    told: [...ofHosts, 'test/faults/guest-scenarios.ts'],
  },
  virtualMachines: {
    title: 'virtual machines',
    workflows: {
      ...allocation,
      ...ofVcenter,
      reconcileVirtualMachine: 'workflows/virtual-machine/reconcile.ts',
      syncContentLibrary: 'workflows/virtual-machine/sync-content-library.ts',
    },
    models: ['vsphere'],
    composedBy: ['workers/virtual-machine-activities.ts', 'workers/library-image-activities.ts'],
    told: [
      'test/faults/virtual-machine-actions.ts',
      'test/faults/virtual-machine-scenarios.ts',
      'test/faults/fast-deploy-scenarios.ts',
      'test/simulator/scenarios/machine-scenarios.ts',
    ],
  },
  resourcePolicies: {
    title: 'resource policies of virtual machines',
    workflows: { ...ofVcenter, reconcileSetResourcePolicy: 'workflows/resource-policy/reconcile.ts' },
    models: ['vsphere'],
    composedBy: ['workers/resource-policy-activities.ts', 'workers/virtual-machine-activities.ts'],
    told: ['test/faults/virtual-machine-actions.ts', 'test/faults/resource-policy-scenarios.ts'],
  },
  machines: {
    title: 'sweeps of orphan VMs',
    workflows: {
      sweepOrphans: 'workflows/machine-safety/sweep-orphans.ts',
      requestSweep: 'workflows/machine-safety/request-sweep.ts',
      watchApiServers: 'workflows/machine-safety/watch-api-servers.ts',
      watchOvershoot: 'workflows/machine-safety/watch-overshoot.ts',
    },
    models: ['openstack', 'vsphere'],
    composedBy: ['workers/machine-activities.ts'],
    told: ['test/simulator/sweeps/sweep-faults.ts'],
  },
  agentPools: {
    title: 'pools of agents',
    workflows: {
      ...allocation,
      reconcileAgentPool: 'workflows/agent-pool/reconcile-pool.ts',
      reconcileAgent: 'workflows/agent-pool/reconcile-agent.ts',
    },
    models: ['vsphere'],
    // The slots of a vCenter are observed by what also makes VMs.
    composedBy: ['workers/agent-activities.ts', 'workers/virtual-machine-activities.ts'],
    told: ['test/simulator/pools/pool-faults.ts'],
  },
  clones: {
    title: 'clones of volumes',
    workflows: {
      ...allocation,
      cloneDataVolume: 'workflows/data-volume/clone-data-volume.ts',
      reconcileStorageProfile: 'workflows/data-volume/reconcile-storage-profile.ts',
    },
    models: ['storage'],
    composedBy: ['workers/volume-activities.ts'],
    told: ['test/simulator/volumes/volume-faults.ts'],
  },
};

/** What runs every cell: one is run by a shard; how a scenario goes, and how a story is told. */
const core = [
  'test/simulator/matrix/shard.ts',
  'test/simulator/matrix/matrix.ts',
  'test/simulator/matrix/story-faults.ts',
];

/**
 * The sources of a part as globs (test/evidence/sources.ts). What says where faults can be injected follows from them.
 */
export function sourcesOf(name: PartName): string[] {
  const { workflows, models: those, composedBy, told } = parts[name];
  const followed = [...Object.values(workflows), ...those.map((model) => models[model]), ...composedBy, ...told];
  return [
    'package-lock.json',
    ...[...core, 'workflows/observe-runs.ts', ...followed].map((file) => `>${file}`),
    ...seams.filter((seam) => !followed.includes(seam)).map((seam) => `|${seam}`),
    ...closed.map((file) => `|${file}`),
    '!test/simulator/matrix/cells.json',
    '!package.json',
    '!bin/**',
  ];
}
