import { inventory } from '../../../lab/vsphere/handle.ts';
import { withClock } from '../../../lab/clock.ts';
import {
  makeMachineServer,
  makeMachineVm,
  machineFixture,
  type MachineState,
  putMachine,
  setUpMachineNamespace,
  setUpOpenStackClass,
  setUpVsphereClass,
} from '../../../lab/machines.ts';
import { labClock } from '../../../lab/clock.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import type { VcenterWitness } from '../../../lab/vsphere/witness.ts';
import { loadWorkflows } from '../bundle.ts';
import { violations } from '../../invariants/violations.ts';
import { type Deployment, deploy, type DeploymentOptions } from '../deployment.ts';
import { snapshotOf } from '../snapshot.ts';

const minuteMs = 60_000;
/** Between two sweeps: shorter than in practice, as virtual time is not free. */
export const periodMs = minuteMs;

/** Machines with their VMs, a worker and a bridge that sweep, and time that passes at will. */
export interface SweepWorld {
  readonly deployment: Deployment;
  /** The cluster of the Machines, as its administrator. */
  readonly api: Kubernetes;
  readonly witness: VcenterWitness;
  pass(ms: number): Promise<void>;
  /** A VM with the marks of the class, and, unless it is an orphan, its Machine. Returns its provider id. */
  makeVm(
    name: string,
    of?: { machine?: Partial<MachineState> | null; marks?: Record<string, string> },
  ): Promise<string>;
  makeServer(name: string, of?: { machine?: Partial<MachineState> | null }): Promise<string>;
  vms(): Promise<string[]>;
  servers(): Promise<string[]>;
  /** Of docs/invariants.md, by everything that has happened so far. */
  violations(): Promise<string[]>;
}

export interface SweepWorldOptions extends Partial<Omit<DeploymentOptions, 'settings' | 'parts'>> {
  /** As in `machines.sweep`; by default nothing is on probation. */
  sweep?: object;
  /** As in `machines`: for so long a Node may have no Machine. */
  creationTimeoutMs?: number;
  /** Whether the Nodes are in a cluster of their own. */
  hasTarget?: boolean;
}

const forAtMostMs = 24 * 3_600_000;

/**
 * Runs a story in a world of its own. Nothing has happened yet but what makes the classes; the story waits
 * in virtual time.
 */
export async function inSweepWorld<Result>(
  { sweep = {}, creationTimeoutMs = 20 * minuteMs, hasTarget = false, ...options }: SweepWorldOptions,
  story: (world: SweepWorld) => Promise<Result>,
): Promise<Result> {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['vsphere', 'openstack'],
    settings: {
      modes: { Eviction: 'off', Machine: 'act' },
      machines: {
        namespaces: [machineFixture.namespace],
        creationTimeoutMs,
        targetKubeconfig: hasTarget ? '/etc/drover/target' : null,
        sweep: { periodMs, jitterMs: 0, ageMs: 3 * periodMs, longRetryMs: periodMs / 2, probationMs: 0, ...sweep },
        apiServers: { periodMs: 10_000, timeoutMs: 10_000 },
      },
    },
    bridge: true,
    ...options,
  });
  const { simulation, kubernetes, vcenter, openstack } = deployment;
  if (vcenter === null || openstack === null) throw new Error('a world of Machines has a vCenter and an OpenStack');
  const { witness, settings } = vcenter;
  const api = kubernetes.admin;
  const folder = `${inventory.vmFolder}/${machineFixture.folder}`;
  const machineOf = (name: string, providerId: string, machine: Partial<MachineState> | null): Promise<void> =>
    machine === null ? Promise.resolve() : putMachine(api, { name, providerId, ...machine });
  const world: SweepWorld = {
    deployment,
    api,
    witness,
    pass: (ms) => labClock().sleep(ms),
    async makeVm(name, { machine = {}, marks } = {}) {
      const providerId = await makeMachineVm(witness, name, marks);
      await machineOf(name, providerId, machine);
      return providerId;
    },
    async makeServer(name, { machine = {} } = {}) {
      const providerId = await makeMachineServer(openstack.admin, name);
      await machineOf(name, providerId, machine === null ? null : { provider: 'openstack', ...machine });
      return providerId;
    },
    vms: async () => (await witness.find('vm', folder)).map((path) => path.slice(folder.length + 1)).toSorted(),
    async servers() {
      const { servers } = await openstack.admin.compute<{ servers: { name: string }[] }>('GET', '/servers');
      return servers.map(({ name }) => name).toSorted();
    },
    async violations() {
      const seen = { sinceMs: 0, expected: new Map(), ownChanges: [], hosts: null, vms: null };
      return violations(await snapshotOf(deployment, seen));
    },
  };
  try {
    const run = async (): Promise<Result> => {
      await setUpMachineNamespace(api);
      const { username, password } = await settings.credential(AbortSignal.timeout(1_000));
      await setUpVsphereClass(api, { witness, url: settings.url, username, password, ca: null });
      await setUpOpenStackClass(api, openstack.settings());
      return await story(world);
    };
    return (await simulation.run(withClock(simulation.clock, run), forAtMostMs)) as Result;
  } finally {
    deployment.close();
  }
}
