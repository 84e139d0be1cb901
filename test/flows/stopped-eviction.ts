import type { Eviction } from '../../contracts/crds/eviction.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { quickSettings } from './world-base.ts';

/** Evictions that are stopped in the middle, and how they have to end in every case. */

const long = { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 };

/** What hangs here is held by the test, and must not be taken for stuck. */
export const patientSettings = {
  ...quickSettings,
  eviction: { ...quickSettings.eviction, stuck: long, cancelGraceMs: 300_000 },
};

/** An eviction of three servers, one at a time, whose first one is on its way and stays there until it is released. */
export interface InMotion {
  host: string;
  moving: Server;
  pending: Server[];
  /** Lets the server that is on its way arrive. */
  release: () => Promise<unknown>;
  /** Lets all of them arrive when they are moved. */
  releaseAll: () => Promise<void>;
}

export async function beginEviction(world: World, host: string): Promise<InMotion> {
  const servers = await world.seedMany(host, 3);
  for (const { id } of servers) await world.fleet.script(id, ['hang']);
  await world.createEviction(host, { annotations: { 'drover.dev/parallelism': '1' } });
  const { instances } = await world.untilMoving(host);
  const movingId = instances.find(({ state }) => state === 'moving')?.id;
  const moving = servers.find(({ id }) => id === movingId) as Server;
  await until('Nova to run its migration', 60_000, async () => {
    const [migration] = await listMigrations(world.session, moving.id);
    return migration?.status === 'running' || 'it does not yet';
  });
  const arrive = (id: string): Promise<unknown> => world.fleet.script(id, [{ migrate: 'ok', seconds: 0.2 }]);
  return {
    host,
    moving,
    pending: servers.filter(({ id }) => id !== movingId),
    release: () => arrive(moving.id),
    releaseAll: async () => void (await Promise.all(servers.map(({ id }) => arrive(id)))),
  };
}

const conditionsOf = ({ status }: Eviction): object[] =>
  (status?.conditions ?? [])
    .filter(({ type }) => type !== 'MigratingInstance')
    .map(({ type, status: its, reason, message }) => ({ type, its, reason, message }));

/** The end that every way comes to, when what was in flight has arrived. */
export async function expectStopped(world: World, motion: InMotion, eviction: Eviction): Promise<void> {
  const { host, moving, pending } = motion;
  const reason = `drover: eviction ${host}: flow test`;
  const pendingIds = pending.map(({ id }) => id).toSorted();
  const passed = { its: 'True', reason: 'Succeeded' };
  expect(await world.untilClosed(host)).toMatchObject({ status: 'CANCELLED' });
  expect(conditionsOf(eviction)).toEqual([
    { type: 'Evicting', its: 'False', reason: 'Stopped', message: `1 of 3 servers have left ${host}; 2 not moved` },
    { type: 'PreflightChecksSucceeded', ...passed, message: 'Preflight checks passed.' },
    { type: 'HypervisorDisabled', ...passed, message: `Disabled in Nova: ${reason}` },
  ]);
  expect(eviction.status?.outstandingInstances?.toSorted()).toEqual(pendingIds);
  expect(eviction.status?.outstandingRamMb).toBe(1_024);
  expect(await world.service(host)).toMatchObject({ status: 'disabled', disabled_reason: reason });
  const left = await world.serversOn(host);
  expect(left.map(({ id }) => id).toSorted()).toEqual(pendingIds);
  // Nothing was even asked of Nova for those that were not on their way.
  expect(await world.mutations(world.sinceMs, { servers: pending })).toEqual([]);
  expect(await listMigrations(world.session, moving.id)).toMatchObject([{ status: 'completed' }]);
  await checkInvariants(world, [host]);
}

/** It is stopping until what is on its way has arrived; then it is stopped, and stays so. */
export async function expectToEndStopped(world: World, motion: InMotion): Promise<void> {
  await world.untilReason(motion.host, 'Running', { says: /Stopping/u });
  await motion.release();
  await expectStopped(world, motion, await world.untilReason(motion.host, 'Stopped'));
  await expectToStay(world, motion);
}

/** Two resyncs later the last run is still the one that was stopped. */
export async function expectToStay(world: World, { host }: InMotion): Promise<void> {
  const { runId } = await world.describeRun(host);
  await world.untilResynced(2);
  expect(await world.describeRun(host)).toMatchObject({ runId });
}

/** The rest moves after all. */
export async function expectToGoOn(world: World, { host, releaseAll }: InMotion): Promise<void> {
  await releaseAll();
  const result = await world.command('retry', host);
  expect(result).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Eviction ${host} of ${host} is tried again.`),
  });
  await world.untilReason(host, 'Succeeded');
  await world.untilClosed(host);
  expect(await world.serversOn(host)).toEqual([]);
  await checkInvariants(world, [host]);
}
