import { createHash } from 'node:crypto';
import { evictionId } from '../../../contracts/ids.ts';
import { messages } from '../../../contracts/messages.ts';
import { settled } from '../../../contracts/settled.ts';
import { withClock } from '../../../lab/clock.ts';
import { applyHypervisors } from '../../../lab/hypervisors.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { createInstances } from '../../../lab/openstack/seed.ts';
import { setVmScene } from '../../../lab/vsphere/scene.ts';
import { sink, sinks } from '../../faults/environment.ts';
import { settings as vmSettings } from '../../faults/virtual-machine-scenarios.ts';
import { quickSettings } from '../../flows/world-base.ts';
import { violations } from '../../invariants/violations.ts';
import type { Deployment } from '../deployment.ts';
import { deploy } from '../deployment.ts';
import type { WorkflowBundle } from '../simulation.ts';
import { snapshotOf } from '../snapshot.ts';
import type { Mutate } from '../mutations.ts';
import type { Cast } from './people.ts';
import { perform } from './people.ts';
import type { Schedule } from './schedule.ts';
import { eventfulMs } from './schedule.ts';

const hosts = ['node-1', 'node-2'];
const namespace = 'schedule';
const vms = ['web-1', 'web-2'];
const serversPerHost = [2, 1];

const settings = {
  ...quickSettings,
  ...vmSettings,
  modes: { Eviction: 'act', Hypervisor: 'act', VirtualMachine: 'act' },
  hypervisor: { recheckMs: 10_000, lingerMs: 1_000, registrationMs: 60_000, testRetryDelayMs: 200 },
};

/** What is never over: it only waits. */
const systemRuns = /^(limits|vcenter|guest-watch|hypervisor-drift)\//u;

/** From when all is whole again. */
const patienceMs = 2 * 3_600_000;
const pollMs = 5_000;

export interface ScheduleResult {
  /** What does not hold, a sentence each. */
  complaints: string[];
  /** A digest of every event of every run, with its moment. */
  story: string;
}

/** Runs the schedule, and lets everything come to its end. */
export async function runSchedule(bundle: WorkflowBundle, schedule: Schedule, mutate?: Mutate): Promise<ScheduleResult> {
  const story = createHash('sha256');
  const losing: Cast['losing'] = new Map();
  const deployment = deploy({
    bundle,
    seed: schedule.seed,
    parts: ['openstack', 'vsphere'],
    settings,
    bridge: true,
    ...(mutate !== undefined && { mutate }),
    onEvent: ({ workflowId, name, atMs }) => void story.update(`${atMs} ${workflowId} ${name}\n`),
    onCall: ({ system }) => ((losing.get(system) ?? 0) > deployment.simulation.clock.nowMs ? 'failAfter' : 'works'),
  });
  const { simulation } = deployment;
  try {
    const complaints = await simulation.run(withClock(simulation.clock, () => play(deployment, schedule, losing)), 48 * 3_600_000);
    return { complaints: complaints ?? [], story: story.digest('hex') };
  } catch (error) {
    return { complaints: [(error as Error).stack ?? String(error)], story: story.digest('hex') };
  } finally {
    deployment.close();
  }
}

async function play(deployment: Deployment, { migrations, events }: Schedule, losing: Cast['losing']): Promise<string[]> {
  const { simulation: { clock }, kubernetes, openstack, vcenter } = deployment;
  if (openstack === null || vcenter === null) return ['the simulation lacks a system'];
  const sinceMs = clock.now();
  const cast: Cast = { deployment, hosts, namespace, vms, expected: new Map(), ownChanges: [], losing };
  await applyObject(kubernetes.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
  for (const host of sinks) await openstack.fleet.change(host, sink);
  for (const host of hosts) await openstack.fleet.change(host, { seconds: 0.5, maxConcurrentLiveMigrations: 8 });
  await applyHypervisors(kubernetes.admin, Object.fromEntries([...sinks, ...hosts].map((host) => [host, { inService: ['nova'] }])));
  await setVmScene(kubernetes.admin, vcenter.witness, namespace);
  let server = 0;
  for (const [index, host] of hosts.entries()) {
    const specs = Array.from({ length: serversPerHost[index] ?? 0 }, () => ({ name: `${host}-${(server += 1)}`, host, seconds: 0.5, migrate: [...(migrations[server - 1] ?? []), 'ok' as const] }));
    for (const { id, name } of await createInstances(openstack.admin, specs)) cast.expected.set(id, { id, name, host, status: 'ACTIVE' });
  }

  const look = async (isAtRest: boolean): Promise<string[]> => {
    const snapshot = await snapshotOf(deployment, { sinceMs, expected: cast.expected, ownChanges: cast.ownChanges, hosts: null, vms: { namespace, strangers: [] } });
    return violations({ ...snapshot, isAtRest });
  };
  const startMs = clock.now();
  for (const event of events.toSorted((a, b) => a.atMs - b.atMs)) {
    await clock.sleep(Math.max(0, startMs + event.atMs - clock.now()));
    await perform(cast, event);
    const found = await look(false);
    if (found.length > 0) return found.map((sentence) => `after ${event.kind} at ${event.atMs} ms: ${sentence}`);
  }
  await clock.sleep(Math.max(0, startMs + eventfulMs + 120_000 - clock.now()));
  for (const host of hosts) await deployment.simulation.client.workflow.getHandle(evictionId(host)).signal(messages.resume, { by: 'schedule' }).catch(() => undefined);
  const unfinished = await untilFinished(deployment);
  return [...unfinished, ...(await look(true))];
}

/** Every run that is not a system's ends, and every object is reconciled or says why it is not. */
async function untilFinished({ simulation, kubernetes }: Deployment): Promise<string[]> {
  const endMs = simulation.clock.nowMs + patienceMs;
  for (;;) {
    const open = simulation.openRuns().filter((id) => !systemRuns.test(id));
    const left = [
      ...open.map((id) => `run ${id} does not end`),
      ...kubernetes.objects('evictions').filter((object) => !settled.Eviction(object as never, 'act')).map(({ metadata }) => `Eviction ${metadata.name} does not come to its end`),
      ...kubernetes.objects('virtualmachines').filter((object) => !settled.VirtualMachine(object as never, 'act')).map(({ metadata }) => `VirtualMachine ${metadata.name} does not come to its end`),
    ];
    if (left.length === 0) return [];
    if (simulation.clock.nowMs > endMs) return left;
    await simulation.clock.sleep(pollMs);
  }
}
