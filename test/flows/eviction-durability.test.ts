import { findCondition } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import { evictionId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { killKubeApiserver, restartKubeApiserver } from '../../lab/parts/kubernetes-faults.ts';
import { killTemporal, restartTemporal } from '../../lab/parts/temporal-faults.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import { migrationStatuses } from './eviction-observations.ts';
import { beginMoves, expectMovedOnce } from './interrupted-eviction.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * What dies in the middle of an eviction costs time and nothing else. One after another: what is killed is shared. Runs
 * that are terminated are in `eviction-recovery.test.ts`, bad answers of Nova in `eviction-answers.test.ts`.
 */

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), limitMs);

/** Kills and starts again, and reports how long the eviction made no progress. */
async function figures(
  what: string,
  host: string,
  servers: readonly Server[],
  inject: () => Promise<unknown>,
  heal: () => Promise<unknown>,
): Promise<void> {
  const killedMs = Date.now();
  await inject();
  await heal();
  const progressMs = await until('drover to ask Nova for the next migration', 120_000, async () => {
    const [next] = (await world.mutations(killedMs, { servers })).filter(({ action }) => action === 'os-migrateLive');
    return next === undefined ? 'nothing yet' : next.timeMs;
  });
  const publishedMs = await until('the status of the Eviction to change', 120_000, () => {
    const moved = findCondition(world.evictions.latest(host)?.status?.conditions, 'Evicting')?.message ?? '';
    return /^[1-9]/u.test(moved) ? Date.now() : moved;
  });
  const seconds = (ms: number): string => ((ms - killedMs) / 1_000).toFixed(1);
  console.info(
    `kill -9 of ${what}: next migration asked for after ${seconds(progressMs)} s, in the status of the Eviction after at most ${seconds(publishedMs)} s`,
  );
}

test(
  'kill -9 of the worker with four moves in flight',
  async () => {
    const servers = await beginMoves(world, 'node-1');
    await figures(
      'the worker',
      'node-1',
      servers,
      () => world.drover.kill('worker'),
      () => world.drover.restart('worker'),
    );
    await expectMovedOnce(world, 'node-1', servers);
    for (const server of servers) expect(await migrationStatuses(world, server)).toEqual(['completed']);
  },
  limitMs,
);

test(
  'kill -9 of the bridge: what is under way goes on, what came meanwhile is taken up',
  async () => {
    const servers = await beginMoves(world, 'node-2');
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
    await expectMovedOnce(world, 'node-2', servers);
    await expectMovedOnce(world, 'node-3', [other!]);
  },
  limitMs,
);

test(
  'kill -9 of Temporal',
  async () => {
    const servers = await beginMoves(world, 'node-3');
    const { temporal } = world.lab.handles;
    await figures(
      'Temporal',
      'node-3',
      servers,
      () => killTemporal(temporal),
      () => restartTemporal(temporal),
    );
    await expectMovedOnce(world, 'node-3', servers);
  },
  limitMs,
);

test(
  'kill -9 of kube-apiserver',
  async () => {
    const servers = await beginMoves(world, 'node-4');
    const { kubernetes } = world.lab.handles;
    await figures(
      'kube-apiserver',
      'node-4',
      servers,
      () => killKubeApiserver(kubernetes),
      () => restartKubeApiserver(kubernetes),
    );
    await expectMovedOnce(world, 'node-4', servers);
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
      expect(await world.command('evict', host, '--reason', 'x')).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('no answer from https://'),
      });
      const start = [
        'workflow',
        'start',
        '--task-queue',
        'drover',
        '--type',
        'evictHypervisor',
        '--workflow-id',
        evictionId(host),
        '--input',
        JSON.stringify({ hypervisor: host, reason: 'away' }),
      ];
      expect(await world.tool('temporal', ...start)).toMatchObject({ code: 0 });
      expect(await until('the run to say what it waits for', 60_000, () => world.progress(host))).toMatchObject({
        phase: 'Opening',
        waitingFor: 'kube-apiserver to answer',
      });
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
