import { evictionId, migrationId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import { checkInvariants } from '../invariants.ts';
import { migrationStatuses, parallelism, untilMigrationIs } from './eviction-observations.ts';
import { beginMoves, expectMovedOnce, inProgress } from './interrupted-eviction.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Evictions that no worker serves for a while, and runs that are terminated: the next one goes on, and nothing
 * is done twice.
 */

let world: World;

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), limitMs);

test(
  'no worker for longer than a wait may be silent: what came meanwhile is taken up, and nothing is done twice',
  async () => {
    const servers = await beginMoves(world, 'node-1');
    await world.freshHost('node-3');
    const [other] = await world.seedMany('node-3', 1);
    await world.drover.kill('worker');
    await world.createEviction('node-3');
    const moving = new Set(
      readMigrationEvents(world.session.handle, world.sinceMs)
        .filter(({ source }) => source === 'node-1')
        .map(({ instance }) => instance),
    );
    await until(
      'Nova to be through with what was under way',
      60_000,
      () => inProgress(world, 'node-1') === 0 || `${inProgress(world, 'node-1')}`,
    );
    await until('the pending polls to time out', 60_000, async () => {
      const runs = await Promise.all(
        [...moving].map((id) => world.client.workflow.getHandle(migrationId(id)).describe()),
      );
      const waits = runs
        .filter(({ status }) => status.name === 'RUNNING')
        .flatMap(({ raw }) => raw.pendingActivities ?? []);
      return (
        (waits.length > 0 && waits.every(({ attempt }) => (attempt ?? 0) > 1)) ||
        waits.map(({ attempt }) => attempt).join(', ')
      );
    });
    const backMs = labClock().now();
    await world.drover.restart('worker');
    await expectMovedOnce(world, 'node-1', servers);
    await expectMovedOnce(world, 'node-3', [other!]);
    for (const server of [...servers, other!]) expect(await migrationStatuses(world, server)).toEqual(['completed']);
    console.info(`workers back: both evictions have ended after ${((labClock().now() - backMs) / 1_000).toFixed(1)} s`);
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
    await world.client.workflow.getHandle(evictionId(host)).terminate('by the test');
    await world.untilReason(host, 'Stopped');
    expect(await migrationStatuses(world, moving)).toEqual(['running']);
    await world.annotate(host, { 'drover.dev/retry': 'again' });
    await expectMovedOnce(world, host, servers);
    expect(await migrationStatuses(world, moving)).toEqual(['completed']);
    const requests = (await world.mutations(world.sinceMs, { servers: [moving] })).map(
      ({ action, method }) => action ?? method,
    );
    expect(requests).toEqual(['os-migrateLive']);
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
    await expectMovedOnce(world, host, servers);
  },
  limitMs,
);
