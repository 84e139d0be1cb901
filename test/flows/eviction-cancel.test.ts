import type { Eviction } from '../../contracts/crds/eviction.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import { checkInvariants } from '../invariants.ts';
import {
  beginEviction,
  expectStopped,
  expectToEndStopped,
  expectToGoOn,
  expectToStay,
  patientSettings,
} from './stopped-eviction.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Cancelling (docs/eviction.md#steering): several ways, one end; and it stays that way. Those of other tools
 * are in `eviction-tools.test.ts`.
 */

let world: World;

beforeAll(async () => {
  world = await openWorld({ settings: patientSettings });
}, limitMs);
afterAll(() => world.close(), limitMs);

test.concurrent(
  'deleting the Eviction: held until the run has ended, and made again it starts again',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      await world.kubectl(['delete', 'eviction', host, '--wait=false']);
      const held = await world.untilReason(host, 'Running', { says: /Stopping/u });
      expect(held.metadata).toMatchObject({
        deletionTimestamp: expect.any(String),
        finalizers: ['drover.dev/eviction'],
      });
      await motion.release();
      await world.untilGone(host);
      await expectStopped(world, motion, world.evictions.of(host).at(-1) as Eviction);
      await expectToStay(world, motion);

      await motion.releaseAll();
      await world.createEviction(host);
      await world.untilReason(host, 'Succeeded');
      await world.untilClosed(host);
      expect(await world.serversOn(host)).toEqual([]);
      await checkInvariants(world, [host]);
    }),
  limitMs,
);

test.concurrent(
  'drover cancel, and drover retry',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      const result = await world.command('cancel', host);
      expect(result).toMatchObject({
        code: 0,
        stdout: 'Stopping. 1 in flight may finish; the host is left disabled.\n',
      });
      await expectToEndStopped(world, motion);
      expect(await world.command('cancel', host)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(`No eviction of ${host} is running.`),
      });
      await expectToGoOn(world, motion);
    }),
  limitMs,
);

test.concurrent(
  'drover cancel --abort --re-enable: what is in flight stays, and so does the host',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await beginEviction(world, host);
      const result = await world.command('cancel', host, '--abort', '--re-enable');
      expect(result).toMatchObject({
        code: 0,
        stdout: 'Stopping. 1 in flight are aborted; the host is enabled again if drover disabled it.\n',
      });
      const eviction = await world.untilReason(host, 'Stopped');
      expect(await world.untilClosed(host)).toMatchObject({ status: 'CANCELLED' });
      expect(eviction.status?.conditions?.find(({ type }) => type === 'Evicting')?.message).toBe(
        `0 of 3 servers have left ${host}; 3 not moved`,
      );
      expect(eviction.status?.outstandingInstances).toHaveLength(3);
      expect(eviction.status?.conditions?.find(({ type }) => type === 'HypervisorDisabled')).toMatchObject({
        status: 'False',
      });
      expect(await world.service(host)).toMatchObject({ status: 'enabled' });
      expect(await listMigrations(world.session, motion.moving.id)).toMatchObject([{ status: 'cancelled' }]);
      expect(await world.mutations(world.sinceMs, { servers: motion.pending })).toEqual([]);
      expect(await world.serversOn(host)).toHaveLength(3);
      await checkInvariants(world, [host]);
      await expectToStay(world, motion);
      await expectToGoOn(world, motion);
    }),
  limitMs,
);
