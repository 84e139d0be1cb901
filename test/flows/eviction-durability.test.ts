import { findCondition } from '../../contracts/conditions.ts';
import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import { evictionId, migrationId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import type { FaultProxy } from '../faults/proxy.ts';
import { openFaultProxy } from '../faults/proxy.ts';
import { checkInvariants } from '../invariants.ts';
import { hostOf, messageOf, migrationStatuses, parallelism, untilMigrationIs } from './eviction-facts.ts';
import { expectCured, expectProblem } from './eviction-problems.ts';
import { writeOwnCloud } from './own-cloud.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What dies in the middle of an eviction, or answers nonsense, costs time and nothing else. One after another: what is killed is everybody's.
 */

let world: World;
let nova: FaultProxy;

beforeAll(async () => {
  world = await openWorld();
  nova = await openFaultProxy({ system: 'nova', target: world.lab.handles.openstack.computeUrl });
}, limitMs);
afterAll(async () => {
  await world.close();
  await nova.close();
}, limitMs);
afterEach(() => checkInvariants(world), 60_000);

/** Eight servers of 3 s, four at a time. */
async function beginEviction(host: string): Promise<Server[]> {
  await world.freshHost(host, { seconds: 3 });
  const servers = await world.seedMany(host, 8);
  await world.createEviction(host, { annotations: parallelism(4) });
  await world.untilMoving(host, 4);
  await until('four migrations to run', 60_000, () => inProgress(host) >= 4 || `${inProgress(host)}`);
  return servers;
}

const ended = new Set(['completed', 'confirmed', 'error', 'failed', 'cancelled']);

function inProgress(host: string): number {
  const last = new Map(readMigrationEvents(world.session.handle, world.sinceMs).map((event) => [event.migration, event]));
  return [...last.values()].filter(({ source, status }) => source === host && !ended.has(status)).length;
}

/** Every server has left by exactly one migration that succeeded. */
async function expectMovedOnce(host: string, servers: readonly Server[]): Promise<void> {
  const eviction = await world.untilReason(host, 'Succeeded');
  expect(messageOf(eviction)).toBe(`${servers.length} of ${servers.length} servers have left ${host}`);
  for (const server of servers) {
    expect((await migrationStatuses(world, server)).filter((status) => status === 'completed')).toHaveLength(1);
    expect(await hostOf(world, server)).not.toBe(host);
  }
}

/** Kills and starts again, and tells how long nothing that the eviction does was seen. */
async function figures(what: string, host: string, servers: readonly Server[], strike: () => Promise<unknown>, heal: () => Promise<unknown>): Promise<void> {
  const killedMs = Date.now();
  await strike();
  await heal();
  const progressMs = await until('drover to ask Nova for the next migration', 120_000, async () => {
    const [next] = (await world.mutations(killedMs, { servers })).filter(({ action }) => action === 'os-migrateLive');
    return next === undefined ? 'nothing yet' : next.timeMs;
  });
  const toldMs = await until('the Eviction to tell more', 120_000, () => {
    const moved = findCondition(world.evictions.latest(host)?.status?.conditions, 'Evicting')?.message ?? '';
    return /^[1-9]/u.test(moved) ? Date.now() : moved;
  });
  const seconds = (ms: number): string => ((ms - killedMs) / 1_000).toFixed(1);
  console.info(`kill -9 of ${what}: next migration asked for after ${seconds(progressMs)} s, told in the Eviction after at most ${seconds(toldMs)} s`);
}

test(
  'kill -9 of the worker with four moves in flight',
  async () => {
    const servers = await beginEviction('node-1');
    await figures('the worker', 'node-1', servers, () => world.drover.kill('worker'), () => world.drover.restart('worker'));
    await expectMovedOnce('node-1', servers);
    for (const server of servers) expect(await migrationStatuses(world, server)).toEqual(['completed']);
  },
  limitMs,
);

test(
  'kill -9 of the bridge: what is under way goes on, what came meanwhile is taken up',
  async () => {
    const servers = await beginEviction('node-2');
    await world.freshHost('node-3');
    const [other] = await world.seedMany('node-3', 1);
    await figures(
      'the bridge',
      'node-2',
      servers,
      async () => {
        await world.drover.kill('bridge');
        await world.createEviction('node-3');
      },
      () => world.drover.restart('bridge'),
    );
    await expectMovedOnce('node-2', servers);
    await expectMovedOnce('node-3', [other!]);
  },
  limitMs,
);

test(
  'kill -9 of Temporal',
  async () => {
    const servers = await beginEviction('node-3');
    const { temporal } = world.lab.handles;
    await figures('Temporal', 'node-3', servers, () => killTemporal(temporal), () => restartTemporal(temporal));
    await expectMovedOnce('node-3', servers);
  },
  limitMs,
);

test(
  'kill -9 of kube-apiserver',
  async () => {
    const servers = await beginEviction('node-4');
    const { kubernetes } = world.lab.handles;
    await figures('kube-apiserver', 'node-4', servers, () => killKubeApiserver(kubernetes), () => restartKubeApiserver(kubernetes));
    await expectMovedOnce('node-4', servers);
  },
  limitMs,
);

test(
  'no worker for longer than a wait may be silent: what came meanwhile is taken up, and nothing is done twice',
  async () => {
    const servers = await beginEviction('node-1');
    await world.freshHost('node-3');
    const [other] = await world.seedMany('node-3', 1);
    await world.drover.kill('worker');
    await world.createEviction('node-3');
    const moving = new Set(readMigrationEvents(world.session.handle, world.sinceMs).filter(({ source }) => source === 'node-1').map(({ instance }) => instance));
    await until('Nova to be through with what was under way', 60_000, () => inProgress('node-1') === 0 || `${inProgress('node-1')}`);
    await until('Temporal to give up on those who waited', 60_000, async () => {
      const runs = await Promise.all([...moving].map((id) => world.client.workflow.getHandle(migrationId(id)).describe()));
      const waits = runs.filter(({ status }) => status.name === 'RUNNING').flatMap(({ raw }) => raw.pendingActivities ?? []);
      return (waits.length > 0 && waits.every(({ attempt }) => (attempt ?? 0) > 1)) || waits.map(({ attempt }) => attempt).join(', ');
    });
    const backMs = Date.now();
    await world.drover.restart('worker');
    await expectMovedOnce('node-1', servers);
    await expectMovedOnce('node-3', [other!]);
    for (const server of [...servers, other!]) expect(await migrationStatuses(world, server)).toEqual(['completed']);
    console.info(`workers back: both evictions have ended after ${((Date.now() - backMs) / 1_000).toFixed(1)} s`);
  },
  limitMs,
);

test(
  'a run that is terminated with its move in flight: the next one adopts the migration',
  async () => {
    const host = await world.freshHost('node-1', { seconds: 12 });
    const servers = await world.seedMany(host, 2, { flavor: 'lab.small' });
    await world.createEviction(host);
    await world.untilMoving(host);
    const moving = await until('one to be copied', 60_000, async () => {
      for (const server of servers) if ((await migrationStatuses(world, server)).includes('running')) return server;
      return 'none';
    });
    // The child first: a parent that is terminated asks its children to end, and they abort.
    await world.client.workflow.getHandle(migrationId(moving.id)).terminate('by the test');
    expect(await world.tool('temporal', 'workflow', 'terminate', '--workflow-id', evictionId(host), '--reason', 'by the test')).toMatchObject({ code: 0 });
    await world.untilReason(host, 'Stopped');
    expect(await migrationStatuses(world, moving)).toEqual(['running']);
    await world.annotate(host, { 'drover.dev/retry': 'again' });
    await expectMovedOnce(host, servers);
    expect(await migrationStatuses(world, moving)).toEqual(['completed']);
    const asked = (await world.mutations(world.sinceMs, { servers: [moving] })).map(({ action, method }) => action ?? method);
    expect(asked).toEqual(['os-migrateLive']);
  },
  limitMs,
);

test(
  'a run that is terminated alone: its moves are brought to an end first, then the next one goes on',
  async () => {
    const host = await world.freshHost('node-2', { seconds: 4 });
    const servers = await world.seedMany(host, 3, { flavor: 'lab.small' });
    await world.createEviction(host, { annotations: parallelism(2) });
    await world.untilMoving(host, 2);
    await untilMigrationIs(world, servers[0]!, ['running']);
    await world.client.workflow.getHandle(evictionId(host)).terminate('by the test');
    await world.untilReason(host, 'Stopped');
    await world.annotate(host, { 'drover.dev/retry': 'again' });
    await expectMovedOnce(host, servers);
  },
  limitMs,
);

test(
  'answers of Nova that are errors or nonsense, until they are cured',
  async () => {
    const broken: [host: string, code: ErrorCode, status: number, body: string][] = [
      ['node-1', 'NovaUnavailable', 503, '{"message": "down for a while"}'],
      ['node-2', 'AnswerMalformed', 200, '<html>Welcome to the load balancer</html>'],
      ['node-3', 'AnswerMalformed', 200, '{"servers": [{"id": 7}]}'],
      ['node-4', 'RequestRefused', 418, '{"teapot": {"message": "short and stout"}}'],
    ];
    for (const [host] of broken) {
      await world.freshHost(host);
      await world.seedMany(host, 1);
    }
    const fromMs = labClock().now();
    const through = (cloud: object): object => ({ ...cloud, compute_endpoint_override: nova.url });
    await world.replaceDrover({ env: writeOwnCloud(world.lab.handles.openstack, world.dir, through) });
    nova.inject(({ method, path }) => {
      const found = method === 'GET' && path.includes('/servers/detail') ? broken.find(([host]) => new URL(path, nova.url).searchParams.get('host') === host) : undefined;
      return found === undefined ? null : { do: 'answer', status: found[2], body: found[3] };
    });
    for (const [host] of broken) await world.createEviction(host);
    await Promise.all(broken.map(([host, code]) => expectProblem(world, host, code, fromMs)));
    nova.cure();
    await expectCured(world, ...broken.map(([host]) => host));
    await world.replaceDrover({});
  },
  limitMs,
);

test(
  'kube-apiserver away: the run waits and says so, the command too, and nothing is lost',
  async () => {
    const host = await world.freshHost('node-1');
    const servers = await world.seedMany(host, 1);
    const fromMs = labClock().now();
    const { kubernetes } = world.lab.handles;
    await killKubeApiserver(kubernetes);
    try {
      expect(await world.command('evict', host, '--reason', 'x')).toMatchObject({ code: 3, stderr: expect.stringContaining('no answer from https://') });
      const start = ['workflow', 'start', '--task-queue', 'drover', '--type', 'evictHypervisor', '--workflow-id', evictionId(host), '--input', JSON.stringify({ hypervisor: host, reason: 'away' })];
      expect(await world.tool('temporal', ...start)).toMatchObject({ code: 0 });
      expect(await until('the run to say what it waits for', 60_000, () => world.progress(host))).toMatchObject({ phase: 'Opening', waitingFor: 'kube-apiserver to answer' });
      const failed = await until('an attempt to have failed', 60_000, async () => {
        const { raw } = await world.describeRun(host);
        const message = raw.pendingActivities?.[0]?.lastFailure?.message;
        return typeof message === 'string' ? { message } : 'none yet';
      });
      expect(failed.message).toContain(errors.KubernetesUnavailable.advice);
      expect(await world.mutations(fromMs, { servers, hosts: [host] })).toEqual([]);
    } finally {
      await restartKubeApiserver(kubernetes);
    }
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
    await checkInvariants(world, [host]);
  },
  limitMs,
);
