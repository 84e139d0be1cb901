import type { Area } from './areas.ts';

/**
 * When each file of test/flows/ runs, and what decides how it goes.
 *
 * - `push`: in every `npm test`, as only the real counterparts prove it, or no other test does yet.
 * - `changed`: in `npm test` when the sources of its area are not those of the last evidence
 *   (evidence/flows-<area>/): the suites of outside systems, and what a few files decide.
 * - `simulated`: in every `npm test` over the fakes in virtual time, in `npm run test:all` on the real counterparts
 *   too.
 * - `daily`: in `npm run test:all` only; `coveredBy` says which tests cover it on a push.
 *
 * `npm run test:all` runs every file. `npm run test:changed` runs those of the other tiers whose area has changed.
 */
export type FlowTier =
  | { tier: 'push'; area: Area; because: string }
  | { tier: 'changed'; area: ProvenArea }
  | { tier: 'simulated'; area: Area }
  | { tier: 'daily'; area: Area; coveredBy: readonly string[] };

/** Areas whose flows make evidence together. */
export const provenAreas = [
  'openstack',
  'vsphere',
  'kubernetes',
  'hosts',
  'temporal',
  'lab',
  'codec',
  'telemetry',
] as const satisfies readonly Area[];
export type ProvenArea = (typeof provenAreas)[number];

const push = (area: Area, because: string): FlowTier => ({ tier: 'push', area, because });
const daily = (area: Area, coveredBy: readonly string[]): FlowTier => ({ tier: 'daily', area, coveredBy });
const changed = (area: ProvenArea): FlowTier => ({ tier: 'changed', area });
const simulated = (area: Area): FlowTier => ({ tier: 'simulated', area });

/** By the name of the file, without `.test.ts`. */
export const flowTiers: Readonly<Record<string, FlowTier>> = {
  // Surfaces: commands, pages and messages.
  cli: push('commands', 'the process of the drover command, kubectl, and what doctor asks of every counterpart'),
  commands: simulated('commands'),
  'eviction-start': push('eviction', 'kubectl, drover, tctl and temporal start an eviction and steer it'),
  'eviction-commands': simulated('eviction'),
  'hypervisor-commands': simulated('hypervisor'),
  'virtual-machine-commands': simulated('commands'),
  'web-ui': push('eviction', 'what Temporal’s Web UI shows in Chromium'),
  'payload-codec': changed('codec'),
  canaries: push('all', 'secrets in histories, logs and outputs of real processes'),
  'canaries-login': daily('all', [
    'test/flows/canaries.test.ts',
    'runtime/redaction.test.ts',
    'activities/keystone/client.test.ts',
  ]),
  observability: changed('telemetry'),
  tracing: changed('telemetry'),

  // Evictions.
  'eviction-durability': push('eviction', 'kill -9 of the worker, the bridge, Temporal and kube-apiserver'),
  'eviction-recovery': simulated('eviction'),
  'eviction-answers': daily('eviction', [
    'test/flows/canaries.test.ts',
    'test/flows/eviction-bad-input.test.ts',
    'activities/nova/client.test.ts',
  ]),
  'eviction-cancel': simulated('eviction'),
  'eviction-tools': push('eviction', 'tctl, temporal and the button of the Web UI stop evictions, and start bad ones'),
  'eviction-moves': simulated('eviction'),
  'eviction-hazards': simulated('eviction'),
  'eviction-limits': simulated('eviction'),
  'eviction-queue': simulated('eviction'),
  'eviction-re-enable': simulated('eviction'),
  'eviction-modes': simulated('eviction'),
  'eviction-bad-input': simulated('eviction'),
  'eviction-history': simulated('eviction'),
  allowance: simulated('eviction'),
  matrix: push(
    'hypervisor',
    'a cancel and a fault on real parts, of evictions and of hypervisors, and a kill -9 of these',
  ),
  'matrix-mutations': daily('all', ['test/simulator/schedules/schedules.test.ts']),

  // Hypervisors.
  hypervisor: push('hypervisor', 'from the Node into service, into maintenance and back'),
  'hypervisor-arrows': simulated('hypervisor'),
  'hypervisor-certificate': simulated('hypervisor'),
  'hypervisor-checks': simulated('hypervisor'),
  'node-failure': push('hypervisor', 'a host that is fenced by a BMC and evacuated by Nova'),
  'node-failure-automatic': daily('hypervisor', [
    'test/flows/node-failure.test.ts',
    'test/flows/node-failure-run.test.ts',
    'test/simulator/schedules/schedules.test.ts',
  ]),
  'node-failure-run': simulated('hypervisor'),
  'node-failure-guests': push('hypervisor', 'a libvirt that reports its guests over a socket'),

  // Virtual machines.
  'virtual-machine': push(
    'virtualMachine',
    'made, changed, deleted; a worker killed; a create cancelled; a Secret by its own account',
  ),
  'virtual-machine-hazards': simulated('virtualMachine'),
  'virtual-machine-bootstrap': simulated('virtualMachine'),
  'virtual-machine-fast-deploy': simulated('virtualMachine'),
  'virtual-machine-fast-deploy-auto': simulated('virtualMachine'),
  'virtual-machine-identity': simulated('virtualMachine'),
  'virtual-machine-library': push('virtualMachine', 'VMs of a content library, over vCenter’s REST'),
  'virtual-machine-attachment-kinds': simulated('virtualMachine'),
  'virtual-machine-policies': simulated('virtualMachine'),
  'virtual-machine-volumes': simulated('virtualMachine'),
  'virtual-machine-slots': simulated('virtualMachine'),
  'virtual-machine-watch': simulated('virtualMachine'),
  'matrix-virtual-machine': push('virtualMachine', 'a cancel and a fault on real parts, of VMs and of their policies'),
  'virtual-machine-budgets': push(
    'virtualMachine',
    'what the adapters ask of vCenter; recorded histories stay as they are',
  ),
  'resource-policy': simulated('virtualMachine'),
  slots: simulated('virtualMachine'),

  // Machines.
  'machine-sweep': push(
    'all',
    'orphans at vCenter and in Nova by drover’s own accounts; an API server that is cut off',
  ),
  'machine-sweep-dangers': daily('all', [
    'test/simulator/sweeps/sweep-dangers.test.ts',
    'test/simulator/sweeps/sweep-mutations.test.ts',
  ]),

  // Agent pools.
  'agent-pool': push(
    'agentPools',
    'from nothing to Nodes and back by drover’s own accounts; a worker killed; runs ended',
  ),
  'agent-pool-hazards': daily('agentPools', [
    'test/flows/agent-pool.test.ts',
    'test/simulator/pools/pool-mutations.test.ts',
    'test/simulator/pools/pool-scale-down.test.ts',
  ]),

  // Volumes.
  'data-volume': push(
    'dataVolume',
    'bytes through snapshots, clones, growth and transfer by upstream’s own controllers; a worker killed',
  ),
  'data-volume-ceph': daily('dataVolume', ['test/flows/data-volume.test.ts', 'test/flows/csi.test.ts']),

  // The bridge.
  bridge: simulated('bridge'),
  'bridge-faults': push('bridge', 'watches that break, 410 Gone, pages, Temporal away, what service accounts may do'),
  'bridge-hypervisor': simulated('bridge'),
  'bridge-virtual-machine': simulated('bridge'),
  'bridge-load': daily('bridge', ['test/flows/bridge.test.ts', 'test/simulator/bridge.test.ts']),

  // Several clusters.
  clusters: push('all', 'two kube-apiservers and their drovers in one namespace of Temporal; a third is refused'),

  chaos: daily('all', ['test/simulator/schedules/schedules.test.ts']),

  // The suites of outside systems.
  'contract-kubernetes': changed('kubernetes'),
  'contract-openstack': changed('openstack'),
  'contract-openstack-activities': changed('openstack'),
  'openstack-lab': changed('openstack'),
  'agent-isos': changed('vsphere'),
  'contract-storage': changed('lab'),
  'data-volume-rules': changed('kubernetes'),
  'contract-vsphere': changed('vsphere'),
  vsphere: changed('vsphere'),
  crds: changed('kubernetes'),
  'served-versions': changed('kubernetes'),
  'object-activities': changed('kubernetes'),
  stop: changed('kubernetes'),
  'contract-hosts': changed('hosts'),
  'simulator-conformance': changed('temporal'),
  lab: changed('lab'),
  csi: changed('lab'),
  'csi-sanity': daily('lab', ['test/flows/csi.test.ts']),
};
