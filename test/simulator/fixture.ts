import { labClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import {
  sink,
  sinks,
  type BmcHost,
  type CephOfHosts,
  type Environment,
  type LibvirtHost,
} from '../faults/environment.ts';
import { startRecording, type Injection, type Recording } from '../faults/fault-control.ts';
import type { Order } from '../faults/faults.ts';
import type { Fixture } from '../faults/fixture.ts';
import type { Scenario } from '../faults/scenario.ts';
import type { Roles } from '../faults/step.ts';
import { isInVcenter, type SubjectKind, subjects } from '../faults/subjects.ts';
import { openNamespace } from '../faults/virtual-machine-objects.ts';
import type { FakeHosts } from '../fakes/hosts/hosts.ts';
import { evictionLogOf } from '../fakes/kubernetes/eviction-log.ts';
import type { Deployment, DeploymentOptions } from './deployment.ts';
import { deploy } from './deployment.ts';
import { raise } from '../raise.ts';
import type { CleanRun, Target } from './matrix/cell.ts';
import type { CallFate, NetworkCall } from './network.ts';
import type { ActivityCall, ActivityFate } from './simulation.ts';
import { snapshotOf } from './snapshot.ts';

/** A fixture of the matrix in a simulation: alone in it, and gone with it. */
export interface SimulatedFixture extends Fixture {
  readonly deployment: Deployment;
  /** What drover has done since {@link Fixture.record}. */
  readonly recorded: CleanRun;
  /** Faults of calls and tasks that were injected, as they are written. */
  readonly injected: readonly string[];
}

export interface SimulatedFixtureOptions extends Pick<
  DeploymentOptions,
  'onEvent' | 'onSink' | 'seed' | 'bundle' | 'mutate'
> {
  scenario: Scenario;
  /** Faults of calls and of workflow tasks; those of activities are given to {@link Fixture.record}. */
  targets?: readonly Target[];
  /**
   * Each workflow task comes to a worker that does not know the run: it replays it, and has to do again what it did.
   */
  isEvicted?: boolean;
}

export const fates: Readonly<Record<Order, ActivityFate>> = {
  pass: 'works',
  failBefore: 'failBefore',
  failAfter: 'failAfter',
  hang: 'hang',
  holdAfter: 'killAfter',
};

/** What the scenario starts from. Nothing has happened yet but what makes its hosts or its namespace. */
export async function openSimulatedFixture({
  scenario,
  targets = [],
  isEvicted = false,
  ...options
}: SimulatedFixtureOptions): Promise<SimulatedFixture> {
  const { subject, hosts: count, settings, settingsIn } = scenario;
  const { bridge = subjects[subject].bridge } = scenario;
  const { nameIn } = subjects[subject];
  const name = `${scenario.name}-1`;
  const hosts = Array.from({ length: count }, (_, index) => nameIn(name, 'ab'[index] ?? ''));
  let recorder: Recorder | null = null;
  let decide: (call: ActivityCall) => Promise<Order> = async () => 'pass';
  const deployment = deploy({
    ...options,
    parts: [isInVcenter(subject) ? 'vsphere' : 'openstack'],
    settings: {
      ...settings,
      ...settingsIn?.({ libvirt: libvirtOf(null), bmc: bmcOf(null, hosts[0] ?? ''), ceph: cephOf(null) }),
    },
    bridge,
    onActivity: async (call) => fates[await decide(call)],
    onCall: (call) => recorder?.call(call) ?? 'works',
    onWorkflowTask: () => (recorder?.isKilledNow() ? 'kill' : isEvicted ? 'evict' : 'keep'),
  });
  const { simulation, kubernetes, openstack, vcenter } = deployment;
  const environment: Environment = {
    api: kubernetes.admin,
    region:
      openstack === null
        ? null
        : {
            session: openstack.admin,
            fleet: openstack.fleet,
            evictions: evictionLogOf(kubernetes),
            loseProviderOf: (host) => void openstack.model.lostProviders.add(host),
          },
    vcenter:
      vcenter === null
        ? null
        : { settings: {}, witness: vcenter.witness, control: vcenter.control, strangers: new Map() },
    libvirt: libvirtOf(deployment.hosts),
    bmc: bmcOf(deployment.hosts, hosts[0] ?? ''),
    ceph: cephOf(deployment.hosts),
  };
  deployment.hosts.add({ name: hosts[0] ?? '', address: libvirtAddress, uuid: machineUuid });
  if (isInVcenter(subject)) await openNamespace(environment, name);
  else await openRegion(environment, subject, hosts);
  return {
    name,
    environment,
    hosts,
    deployment,
    client: simulation.client,
    get recorded() {
      return recorder?.recorded ?? { steps: [], calls: [], tasks: 0 };
    },
    get injected() {
      return recorder?.injected ?? [];
    },
    record(roles: Roles, injections: readonly Injection[]): Recording {
      const { recording, decide: decideNext } = startRecording(roles, injections);
      decide = (call) => decideNext({ moment: 'before', call });
      // The second time is the end of the scenario: what comes then is no target.
      recorder = recorder === null ? new Recorder(targets, recording) : recorder.end();
      return recording;
    },
    replaceWorker: async () => simulation.killWorker(),
    readWorld: (seen) =>
      snapshotOf(deployment, {
        ...seen,
        hosts,
        vms: { namespace: name, strangers: environment.vcenter?.strangers.get(name) ?? [] },
      }),
  };
}

/** Counts calls and workflow tasks from the scenario's start, and injects the faults that are due. */
export class Recorder {
  readonly injected: string[] = [];
  readonly #targets: readonly Target[];
  readonly #recording: Recording;
  readonly #calls: string[] = [];
  readonly #counts = new Map<string, number>();
  #tasks = 0;
  #isOver = false;

  constructor(targets: readonly Target[], recording: Recording) {
    this.#targets = targets;
    this.#recording = recording;
  }

  get recorded(): CleanRun {
    return { steps: this.#recording.steps, calls: this.#calls, tasks: this.#tasks };
  }

  end(): this {
    this.#isOver = true;
    return this;
  }

  call({ system, verb }: NetworkCall): CallFate {
    if (this.#isOver) return 'works';
    const kind = `${system} ${verb}`;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const call = `${kind}.${count}`;
    this.#calls.push(call);
    const target = this.#targets.find((one) => one.at === 'call' && one.call === call);
    if (target?.at !== 'call') return 'works';
    this.injected.push(call);
    return target.fault;
  }

  /** Counts a workflow task. Returns whether the worker dies with it. */
  isKilledNow(): boolean {
    if (this.#isOver) return false;
    this.#tasks += 1;
    if (!this.#targets.some((one) => one.at === 'task' && one.number === this.#tasks)) return false;
    this.injected.push(`task ${this.#tasks}`);
    return true;
  }
}

/** The hosts that take every server, and the scenario's own; where it is about hypervisors, they are none yet. */
async function openRegion({ api, region }: Environment, subject: SubjectKind, hosts: readonly string[]): Promise<void> {
  await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
  for (const host of sinks) await region?.fleet.change(host, sink);
  for (const host of hosts) await region?.fleet.change(host, {});
  await applyHypervisors(
    api,
    Object.fromEntries([...sinks, ...(subject === 'Hypervisor' ? [] : hosts)].map((host) => [host, {}])),
  );
}

/** The hypervisor that scenarios of guests are about, as its libvirt is reached. */
const libvirtAddress = '192.0.2.1';
const libvirtSettings = { connectUri: 'qemu+tcp://{host}/system', minimumVersion: '8.0.0' };

/** @param hosts null: only its settings are asked for */
const libvirtOf = (hosts: FakeHosts | null): LibvirtHost => ({
  address: libvirtAddress,
  settings: libvirtSettings,
  async loseGuests(count) {
    const { guests } =
      hosts?.all.find(({ address }) => address === libvirtAddress)?.libvirt ??
      raise(new Error('no host has a libvirt'));
    const names = Array.from({ length: count }, (_, index) => `guest-${index + 1}`);
    for (const name of names) guests.start({ name });
    await labClock().sleep(1_000);
    for (const name of names) guests.stop(name, 'failed');
  },
});

const cephOf = (hosts: FakeHosts | null): CephOfHosts => ({
  settings: {
    dashboards: ['https://mgr-1.example:8443'],
    user: 'drover',
    passwordFile: 'ceph-password',
    pools: ['vms'],
  },
  warn: () => hosts?.ceph.report({ type: 'POOL_NEARFULL', severity: 'HEALTH_WARN', message: '1 pool(s) nearfull' }),
  heal: () => hosts?.ceph.clear('POOL_NEARFULL'),
});

const machineUuid = '7d0d4c3a-0000-4000-8000-000000000001';

/** @param hosts null: only its settings are asked for */
const bmcOf = (hosts: FakeHosts | null, host: string): BmcHost => ({
  settings: {
    hosts: { [host]: { url: `https://bmc-${host}.example`, uuid: machineUuid } },
    username: 'drover',
    passwordFile: 'bmc-password',
    caFile: 'ca.pem',
    auth: 'basic',
  },
  setPower: (power) => (power === 'Off' ? hosts?.host(host).cutPower() : hosts?.host(host).restorePower()),
});
