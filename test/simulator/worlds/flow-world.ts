import type { OpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import type { OutsideSystem } from '../../../runtime/telemetry/outside-calls.ts';
import { repeat } from '../../../runtime/clock.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { setLabClock } from '../../../lab/clock.ts';
import type { Drover } from '../../../lab/drover.ts';
import { applyHypervisors } from '../../../lab/hypervisors.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import type { ObjectLog } from '../../flows/object-log.ts';
import { loadCommands } from '../../../starters/main.ts';
import type { FakeOpenStack } from '../../fakes/openstack/fake-openstack.ts';
import { watchEventsOf, evictionLogOf } from '../../fakes/kubernetes/eviction-log.ts';
import type { OwnChange, WorldBase, WorldOptions } from '../../flows/world-base.ts';
import { hosts, quickSettings, sinkProfile } from '../../flows/world-base.ts';
import { loadWorkflows } from '../bundle.ts';
import { simulatedCommand } from '../command.ts';
import type { Deployment } from '../deployment.ts';
import { deploy } from '../deployment.ts';
import { raise } from '../../raise.ts';
import { openCheckedHost } from '../checked-host.ts';
import { simulatedKubectl } from '../kubectl.ts';
import type { Network } from '../network.ts';
import { snapshotOf } from '../snapshot.ts';

/** Until the test starts it again. */
const foreverMs = 365 * 24 * 3_600_000;
export const seed = 1;

/**
 * A flow's world without a lab: drover's own worker and bridge over fakes. Virtual time passes whenever the test waits.
 */
export async function openSimulatedBase({
  settings = quickSettings,
  bridge = true,
  sinks = ['node-5', 'node-6'],
}: WorldOptions): Promise<WorldBase> {
  const deployment = deploy({ bundle: await loadWorkflows(), seed, parts: ['openstack'], settings, bridge });
  const { simulation, kubernetes, openstack } = deployment;
  if (openstack === null) throw new Error('there is no OpenStack');
  // Ahead: it takes the machine's time, during which virtual time would pass.
  await loadCommands();
  const stop = passTime(deployment);
  const { admin: session, fleet } = openstack;
  const api = kubernetes.admin;
  await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
  await applyHypervisors(api, Object.fromEntries(hosts.map((host) => [host, {}])));
  for (const sink of sinks) await fleet.change(sink, sinkProfile);
  const sinceMs = simulation.clock.now();
  const ownChanges: OwnChange[] = [];
  const objectLog: Pick<ObjectLog, 'events'> = {
    get events() {
      return watchEventsOf(kubernetes);
    },
  };
  const drover = simulatedDrover(deployment, bridge);
  return {
    lab: { handles: nothingReal('handles'), exports: {}, dir: '/nowhere' },
    client: simulation.client,
    session,
    fleet,
    api,
    objectLog,
    evictions: evictionLogOf(kubernetes),
    sinceMs,
    dir: '/nowhere',
    sinks,
    ownChanges,
    drover: () => drover,
    async replaceDrover(options) {
      deployment.configure(options.settings ?? settings, cloudOf(openstack, options));
      simulation.killWorker(0);
      if (deployment.bridge === null) return;
      await deployment.bridge.stop();
      if (options.bridge ?? bridge) deployment.bridge.start();
    },
    novaCalls: (fromMs) => openstack.journal.apiCalls('nova', fromMs),
    callsByRun: () => callsByRun(simulation.network),
    kubectl: (args, input) => simulatedKubectl(api, args, input),
    command: (args) => simulatedCommand(deployment, args),
    tool: (program) => Promise.reject(new Error(`${program} is not simulated`)),
    async bridgeHealth() {
      const stats = deployment.bridge?.stats();
      return {
        ok: stats?.leading === true,
        reasons: [],
        resyncs: stats?.resyncs ?? 0,
        deliveries: stats?.deliveries ?? {},
      };
    },
    openCheckedHost: (host) => Promise.resolve(openCheckedHost(deployment, host)),
    readSnapshot: ({ expected, hosts: concerned }) =>
      snapshotOf(deployment, { sinceMs, expected: new Map(expected), ownChanges, hosts: concerned, vms: null }),
    async close() {
      await stop();
      deployment.close();
      setLabClock(null);
    },
  };
}

/** As a clouds.yaml says it that has the cloud, or the wrong secret. */
function cloudOf({ settings }: FakeOpenStack, { cloud, secret }: WorldOptions): Partial<OpenStackSettings> {
  const { credential } = settings(cloud);
  return { credential: secret !== undefined && 'secret' in credential ? { ...credential, secret } : credential };
}

/**
 * Calls of activities, by the workflow that asked for them; those of Temporal itself are no requests of
 * an outside system.
 */
function callsByRun({ calls }: Network): Map<string, Map<OutsideSystem, number>> {
  const counts = new Map<string, Map<OutsideSystem, number>>();
  for (const { system, activity } of calls) {
    if (activity === null || system === 'temporal') continue;
    const ofRun = counts.get(activity.workflowId) ?? new Map<OutsideSystem, number>();
    counts.set(activity.workflowId, ofRun.set(system, (ofRun.get(system) ?? 0) + 1));
  }
  return counts;
}

/**
 * Lets time pass until it is stopped, for this whole file. What simulated code leaves unhandled is thrown by the stop,
 * and to the code that waits: no time passes any more.
 */
export function passTime({ simulation }: Pick<Deployment, 'simulation'>): () => Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const running = simulation.run(stopped.promise, foreverMs);
  const broken = new AbortController();
  running.catch((error: unknown) => broken.abort(error));
  const { clock } = simulation;
  // Also while nothing is due.
  const stopTicking = repeat(clock, () => undefined, 1_000);
  setLabClock({ ...clock, sleep: (ms, signal) => unlessAborted(clock.sleep(ms, signal), broken.signal) });
  return async () => {
    stopTicking();
    stopped.resolve();
    await running;
  };
}

export function simulatedDrover({ simulation, bridge }: Deployment, hasBridge: boolean): Drover {
  const record = { name: '', pid: 0 } as unknown as Drover['worker'];
  return {
    dir: '/nowhere',
    env: {},
    worker: record,
    bridge: hasBridge ? record : null,
    metricsUrls: { worker: '', bridge: '' },
    async kill(process) {
      if (process === 'worker') simulation.killWorker(foreverMs);
      else bridge?.kill();
    },
    async restart(process) {
      if (process === 'worker') simulation.killWorker(0);
      else bridge?.start();
    },
    async stop() {
      simulation.killWorker(foreverMs);
      await bridge?.stop();
    },
  };
}

/** Code that asks for a process, a port or a file of a lab learns that there is none. */
export const nothingReal = (what: string): never =>
  new Proxy({}, { get: (_, name) => raise(new Error(`a simulation has no ${what} (${String(name)})`)) }) as never;
