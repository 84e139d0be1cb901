import { createHash } from 'node:crypto';
import { withClock } from '../../../lab/clock.ts';
import { applyHypervisors } from '../../../lab/hypervisors.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { createInstances } from '../../../lab/openstack/seed.ts';
import { setUpVmNamespace } from '../../../lab/vsphere/vm-fixture.ts';
import { sink, sinks } from '../../faults/environment.ts';
import { cephLogin } from '../../fakes/hosts/ceph.ts';
import { applyNeighbour, ensureAggregates, shared } from '../../faults/hypervisor-objects.ts';
import { settings as vmSettings } from '../../faults/virtual-machine-scenarios.ts';
import { quickSettings } from '../../flows/world-base.ts';
import { inProgress } from '../../invariants/servers.ts';
import type { Snapshot } from '../../invariants/snapshot.ts';
import { violations } from '../../invariants/violations.ts';
import { deploy } from '../deployment.ts';
import type { Mutate } from '../mutations/mutation.ts';
import { randomOf } from '../../faults/random.ts';
import type { WorkflowBundle } from '../simulation.ts';
import { snapshotOf } from '../snapshot.ts';
import type { Cast } from './cast.ts';
import { fleetOf, sessionOf, witnessOf } from './cast.ts';
import type { Disruptions } from './call-fates.ts';
import { fateOf } from './call-fates.ts';
import { reportNode } from './hypervisors.ts';
import { perform } from './perform.ts';
import type { EventKind, Schedule } from './schedule.ts';
import { eventfulMs } from './schedule.ts';
import { makeWhole, untilFinished, untilInService } from './settle.ts';

const hosts = ['node-1', 'node-2'];
const machines = ['kvm-1', 'kvm-2'];
/** Enough that the failure of one machine is not the failure of most. */
const neighbours = ['node-3', 'node-4'];
const namespace = 'schedule';
const vms = ['web-1', 'web-2'];
const policies = ['gold', 'silver'];
const serversPerHost = [2, 1];

/** What names the machine behind a BMC. */
const uuidOf = (machine: string): string => `00000000-0000-4000-8000-${machine.replace(/\D/gu, '').padStart(12, '0')}`;
const passwordFile = '/run/secrets/bmc';
const bmc = {
  url: 'https://bmc-{host}.example',
  hosts: Object.fromEntries(machines.map((machine) => [machine, { uuid: uuidOf(machine) }])),
  username: 'drover',
  passwordFile,
  caFile: 'ca.pem',
  auth: 'basic',
};
const settings = {
  ...quickSettings,
  ...vmSettings,
  // Fewer than the evictions of a schedule would have.
  limits: { ...quickSettings.limits, migrationsPerRegion: 2 },
  modes: { Eviction: 'act', Hypervisor: 'act', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' },
  hypervisor: {
    recheckMs: 10_000,
    lingerMs: 1_000,
    registrationMs: 60_000,
    testRetryDelayMs: 200,
    driftMs: 60_000,
    libvirt: { connectUri: 'qemu+tcp://{host}/system', minimumVersion: '8.0.0' },
    ovs: { remote: 'tcp:{host}:6640' },
    ceph: {
      dashboards: ['https://mgr-1.example:8443'],
      user: cephLogin.user,
      passwordFile: 'ceph-password',
      pools: ['vms'],
    },
  },
  nodeFailure: {
    mode: 'automatic',
    automaticAggregates: [shared],
    // Longer than Nova takes to say that a nova-compute is down, and a look at a libvirt that is silent takes.
    failAfterMs: 25_000,
    observeMs: 1_000,
    restObserveMs: 5_000,
    power: { recheckMs: 1_000, pollMs: 500 },
    evacuation: { retryMs: 2_000 },
    bmc,
  },
};

/** How often the invariants are looked at where nothing happens. */
const judgedEachMs = 4 * 60_000;

/**
 * How often a run may call an activity that changes something and let no time pass: it does several times what it does.
 */
const mostCalls = 25;
const isRead = (activity: string): boolean => /^(?:open|observe|read)/u.test(activity);

/** So many of the workflow tasks come to a worker that has to replay the run first. */
const evictedShare = 0.2;

export interface ScheduleResult {
  /** What does not hold, a sentence each. */
  complaints: string[];
  /** A digest of every event of every run, with its moment. */
  story: string;
  /** Workflow runs. */
  runs: number;
  /** The events that found something to happen to. */
  happened: EventKind[];
}

/** For tests of the schedules: something of drover is broken. */
export interface Broken {
  mutate?: Mutate;
}

/** Runs the schedule, and lets everything come to its end. */
export async function runSchedule(
  bundle: WorkflowBundle,
  schedule: Schedule,
  { mutate }: Broken = {},
): Promise<ScheduleResult> {
  const story = createHash('sha256');
  /** By run, since it last waited. */
  const calls = new Map<string, string[]>();
  const repeated = Promise.withResolvers<string[]>();
  const disruptions: Disruptions = [];
  const chance = randomOf(schedule.seed + 1);
  const evictions = randomOf(schedule.seed + 2);
  const deployment = deploy({
    bundle,
    seed: schedule.seed,
    parts: ['openstack', 'vsphere'],
    settings,
    bridge: true,
    ...(mutate !== undefined && { mutate }),
    onEvent({ workflowId, runId, name, event, atMs }) {
      story.update(`${atMs} ${workflowId} ${name}\n`);
      if (name === 'TimerFired') calls.delete(runId);
      const activity = event.activityTaskScheduledEventAttributes?.activityType?.name;
      if (!activity || isRead(activity)) return;
      const called = [...(calls.get(runId) ?? []), activity];
      calls.set(runId, called);
      if (called.filter((one) => one === activity).length > mostCalls)
        repeated.resolve([`run ${workflowId} does ${activity} again and again`]);
    },
    onCall: (call) => fateOf(disruptions, call, deployment.simulation.clock.nowMs, chance),
    onWorkflowTask: () => (evictions() < evictedShare ? 'evict' : 'keep'),
  });
  const { simulation } = deployment;
  const cast: Cast = {
    deployment,
    hosts,
    machines,
    namespace,
    vms,
    policies,
    expected: new Map(),
    ownChanges: [],
    disruptions,
  };
  const happened: EventKind[] = [];
  const result = (complaints: string[]): ScheduleResult => ({
    complaints,
    happened,
    story: story.digest('hex'),
    runs: simulation.runs().length,
  });
  try {
    const playing = withClock(simulation.clock, () => play(cast, schedule, happened));
    const ended = Promise.race([playing, repeated.promise]);
    return result((await simulation.run(ended, 48 * 3_600_000)) ?? []);
  } catch (error) {
    return result([(error as Error).stack ?? String(error)]);
  } finally {
    deployment.close();
  }
}

/** The hosts with their servers, the machines that were not onboarded, and a namespace for virtual machines. */
async function prepare(cast: Cast, { migrations, stopped = [] }: Schedule): Promise<void> {
  const { kubernetes, hosts: fakes } = cast.deployment;
  for (const name of machines) fakes.add({ name, uuid: uuidOf(name) });
  fakes.files.set(passwordFile, fakes.bmcOf(machines[0] ?? '').password);
  const [session, fleet] = [sessionOf(cast), fleetOf(cast)];
  await applyObject(kubernetes.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
  await ensureAggregates({ session }, false);
  for (const host of sinks) await fleet.change(host, sink);
  for (const host of [...hosts, ...machines]) await fleet.change(host, { seconds: 10, maxConcurrentLiveMigrations: 8 });
  const known = [...sinks, ...hosts].map((host) => [host, { inService: ['nova'] }]);
  await applyHypervisors(kubernetes.admin, Object.fromEntries(known));
  for (const host of neighbours) {
    await applyNeighbour({ api: kubernetes.admin }, host);
    await reportNode(cast, host, { ready: 'True', bootId: 'boot-1' });
  }
  await setUpVmNamespace(kubernetes.admin, witnessOf(cast), namespace);
  let server = 0;
  for (const [index, host] of hosts.entries()) {
    const specs = Array.from({ length: serversPerHost[index] ?? 0 }, () => {
      server += 1;
      const isStopped = stopped[server - 1] === true;
      // Nova lets nobody abort a cold migration that hangs.
      const its = (migrations[server - 1] ?? []).filter((mode) => !isStopped || !['hang', 'slow'].includes(mode));
      const state = isStopped ? ('SHUTOFF' as const) : ('ACTIVE' as const);
      return { name: `${host}-${server}`, host, seconds: 10, migrate: [...its, 'ok' as const], state };
    });
    for (const { id, name, status } of await createInstances(session, specs))
      cast.expected.set(id, { id, name, host, status });
  }
}

async function play(cast: Cast, schedule: Schedule, happened: EventKind[]): Promise<string[]> {
  const {
    simulation: { clock },
  } = cast.deployment;
  const sinceMs = clock.now();
  await prepare(cast, schedule);
  const startMs = clock.now();
  for (const event of schedule.events.toSorted((a, b) => a.atMs - b.atMs)) {
    await clock.sleep(Math.max(0, startMs + event.atMs - clock.now()));
    if (await perform(cast, event)) happened.push(event.kind);
    const found = await look(cast, sinceMs, false);
    if (found.length > 0) return found.map((sentence) => `after ${event.kind} at ${event.atMs} ms: ${sentence}`);
  }
  for (let leftMs = eventfulMs; leftMs > 0; leftMs = startMs + eventfulMs + 120_000 - clock.now()) {
    const found = await look(cast, sinceMs, false);
    if (found.length > 0) return found;
    await clock.sleep(Math.min(leftMs, judgedEachMs));
  }
  await makeWhole(cast);
  const judge = (): Promise<string[]> => look(cast, sinceMs, false);
  const unfinished = [...(await untilFinished(cast, judge)), ...(await look(cast, sinceMs, true))];
  if (unfinished.length > 0) return unfinished;
  const unserved = [...(await untilInService(cast, judge)), ...(await untilFinished(cast, judge))];
  return [...unserved, ...(await look(cast, sinceMs, true))];
}

/** What does not hold of the invariants. */
async function look({ deployment, expected, ownChanges }: Cast, sinceMs: number, isAtRest: boolean): Promise<string[]> {
  const seen = { sinceMs, expected, ownChanges, hosts: null, vms: { namespace, strangers: [] } };
  const snapshot = await snapshotOf(deployment, seen);
  const pending = deployment.openstack?.journal.pendingCalls('nova') ?? [];
  const novaCalls = [...snapshot.novaCalls, ...pending];
  const left = isAtRest ? leftInProgress(snapshot) : [];
  // A machine without power runs none of the guests that its disk has.
  const off = deployment.hosts.all.filter(({ power }) => power === 'Off').map(({ name }) => [name, 0]);
  const guests = { ...snapshot.guests, ...Object.fromEntries(off) };
  return [...violations({ ...snapshot, novaCalls, guests, isQuiet: isAtRest }), ...left];
}

/**
 * Migrations that drover has begun and that have not ended. Of a server that a user has deleted meanwhile Nova lets
 * nobody abort one that hangs.
 */
function leftInProgress({ expectedServers, migrationEvents, novaCalls }: Snapshot): string[] {
  const deleted = new Set(expectedServers.filter(({ status }) => status === null).map(({ id }) => id));
  const asked = novaCalls.filter(({ action, status }) => status < 300 && /igrate/u.test(action ?? ''));
  const isDrovers = (instanceId: string): boolean =>
    asked.findLast(({ path }) => path.includes(instanceId))?.userAgent === 'drover';
  return inProgress(migrationEvents)
    .filter(({ instanceId }) => isDrovers(instanceId) && !deleted.has(instanceId))
    .map(({ id, instanceId, type, status }) => `${type} ${id} of server ${instanceId} is still in progress: ${status}`);
}
