import type { Eviction } from '../../contracts/crds/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/** Design section 5, "Cancel": four ways, one end; and it stays that way. */

let world: World;

beforeAll(async () => {
  const { eviction } = quickSettings;
  // What hangs here is held by the test, and must not be taken for stuck.
  world = await openWorld({ settings: { ...quickSettings, eviction: { ...eviction, stuck: { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 }, cancelGraceMs: 300_000 } } });
}, limitMs);
afterAll(() => world.close(), limitMs);

/** An eviction of three servers, one at a time, whose first one is on its way and stays there until it is released. */
interface InMotion {
  host: string;
  servers: Server[];
  moving: Server;
  pending: Server[];
  /** Lets the server that is on its way arrive. */
  release: () => Promise<unknown>;
  /** Lets all of them arrive when they are moved. */
  releaseAll: () => Promise<void>;
}

async function begin(host: string): Promise<InMotion> {
  const servers = await world.seedMany(host, 3);
  const { fleet } = world;
  for (const { id } of servers) await fleet.script(id, ['hang']);
  await world.createEviction(host, { annotations: { 'drover.dev/parallelism': '1' } });
  const { instances } = await world.untilMoving(host);
  const movingId = instances.find(({ state }) => state === 'moving')?.id;
  const moving = servers.find(({ id }) => id === movingId) as Server;
  await until('Nova to run its migration', 60_000, async () => (await listMigrations(world.session, moving.id))[0]?.status === 'running' || 'it does not yet');
  const arrive = (id: string): Promise<unknown> => fleet.script(id, [{ migrate: 'ok', seconds: 0.2 }]);
  return {
    host,
    servers,
    moving,
    pending: servers.filter(({ id }) => id !== movingId),
    release: () => arrive(moving.id),
    releaseAll: async () => void (await Promise.all(servers.map(({ id }) => arrive(id)))),
  };
}

const conditionsOf = ({ status }: Eviction): object[] =>
  (status?.conditions ?? []).filter(({ type }) => type !== 'MigratingInstance').map(({ type, status: its, reason, message }) => ({ type, its, reason, message }));

/** The end that every way comes to, when what was in flight has arrived. */
async function expectStopped({ host, moving, pending }: InMotion, eviction: Eviction): Promise<void> {
  expect(await world.untilClosed(host)).toMatchObject({ status: 'CANCELLED' });
  expect(conditionsOf(eviction)).toEqual([
    { type: 'Evicting', its: 'False', reason: 'Stopped', message: `1 of 3 servers have left ${host}; 2 not moved` },
    { type: 'PreflightChecksSucceeded', its: 'True', reason: 'Succeeded', message: 'Preflight checks passed.' },
    { type: 'HypervisorDisabled', its: 'True', reason: 'Succeeded', message: `Disabled in Nova: drover: eviction ${host}: flow test` },
  ]);
  expect(eviction.status?.outstandingInstances?.toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
  expect(eviction.status?.outstandingRamMb).toBe(1_024);
  expect(await world.service(host)).toMatchObject({ status: 'disabled', disabled_reason: `drover: eviction ${host}: flow test` });
  const left = await world.serversOn(host);
  expect(left.map(({ id }) => id).toSorted()).toEqual(pending.map(({ id }) => id).toSorted());
  // Nothing was even asked of Nova for those that were not on their way.
  expect(await world.mutations(world.sinceMs, { servers: pending })).toEqual([]);
  expect(await listMigrations(world.session, moving.id)).toMatchObject([{ status: 'completed' }]);
  await checkInvariants(world, [host]);
}

/** Two resyncs later the last run is still the one that was stopped. */
async function expectToStay({ host }: InMotion): Promise<void> {
  const { runId } = await world.describeRun(host);
  await world.untilResynced(2);
  expect(await world.describeRun(host)).toMatchObject({ runId });
}

/** The rest moves after all. */
async function expectToGoOn({ host, releaseAll }: InMotion): Promise<void> {
  await releaseAll();
  const told = await world.command('retry', host);
  expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining(`Eviction ${host} of ${host} is tried again.`) });
  await world.untilReason(host, 'Succeeded');
  await world.untilClosed(host);
  expect(await world.serversOn(host)).toEqual([]);
  await checkInvariants(world, [host]);
}

test.concurrent(
  'deleting the Eviction: held until the run has ended, and made again it starts again',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await begin(host);
      await world.kubectl(['delete', 'eviction', host, '--wait=false']);
      const held = await world.untilReason(host, 'Stopping');
      expect(held.metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['drover.dev/eviction'] });
      await motion.release();
      await world.untilGone(host);
      await expectStopped(motion, world.evictions.of(host).at(-1) as Eviction);
      await expectToStay(motion);

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
      const motion = await begin(host);
      const told = await world.command('cancel', host);
      expect(told).toMatchObject({ code: 0, stdout: 'Stopping. 1 in flight may finish; the host is left disabled.\n' });
      await world.untilReason(host, 'Stopping');
      await motion.release();
      await expectStopped(motion, await world.untilReason(host, 'Stopped'));
      expect(await world.command('cancel', host)).toMatchObject({ code: 4, stderr: expect.stringContaining(`No eviction of ${host} is running.`) });
      await expectToStay(motion);
      await expectToGoOn(motion);
    }),
  limitMs,
);

test.concurrent(
  'tctl workflow cancel',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await begin(host);
      expect(await world.tool('tctl', 'workflow', 'cancel', '-w', evictionId(host))).toMatchObject({ code: 0 });
      await world.untilReason(host, 'Stopping');
      await motion.release();
      await expectStopped(motion, await world.untilReason(host, 'Stopped'));
      await expectToStay(motion);
    }),
  limitMs,
);

test.concurrent(
  'the button of the Web UI',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await begin(host);
      expect(await pressCancel(host)).toBe(200);
      await world.untilReason(host, 'Stopping');
      await motion.release();
      await expectStopped(motion, await world.untilReason(host, 'Stopped'));
      await expectToStay(motion);
    }),
  limitMs,
);

/** What the button does: a POST with the page's own token. */
async function pressCancel(host: string): Promise<number> {
  const { uiUrl, namespace } = world.lab.handles.temporal;
  const { runId } = await world.describeRun(host);
  const page = await fetch(uiUrl);
  await page.text();
  const token = /_csrf=([^;]+)/u.exec(page.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const response = await fetch(`${uiUrl}/api/v1/namespaces/${namespace}/workflows/${encodeURIComponent(evictionId(host))}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': token, cookie: `_csrf=${token}` },
    body: JSON.stringify({ workflowExecution: { workflowId: evictionId(host), runId } }),
  });
  await response.text();
  return response.status;
}

test.concurrent(
  'drover cancel --abort --re-enable: what is in flight stays, and so does the host',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await begin(host);
      const told = await world.command('cancel', host, '--abort', '--re-enable');
      expect(told).toMatchObject({ code: 0, stdout: 'Stopping. 1 in flight are aborted; the host is enabled again if drover disabled it.\n' });
      const eviction = await world.untilReason(host, 'Stopped');
      expect(await world.untilClosed(host)).toMatchObject({ status: 'CANCELLED' });
      expect(eviction.status?.conditions?.find(({ type }) => type === 'Evicting')?.message).toBe(`0 of 3 servers have left ${host}; 3 not moved`);
      expect(eviction.status?.outstandingInstances).toHaveLength(3);
      expect(eviction.status?.conditions?.find(({ type }) => type === 'HypervisorDisabled')).toMatchObject({ status: 'False' });
      expect(await world.service(host)).toMatchObject({ status: 'enabled' });
      expect(await listMigrations(world.session, motion.moving.id)).toMatchObject([{ status: 'cancelled' }]);
      expect(await world.mutations(world.sinceMs, { servers: motion.pending })).toEqual([]);
      expect(await world.serversOn(host)).toHaveLength(3);
      await checkInvariants(world, [host]);
      await expectToStay(motion);
      await expectToGoOn(motion);
    }),
  limitMs,
);

test.concurrent(
  'temporal workflow terminate: the bridge says Stopped, and drover retry goes on',
  () =>
    world.onFreshHost(async (host) => {
      const motion = await begin(host);
      const { runId } = await world.describeRun(host);
      expect(await world.tool('temporal', 'workflow', 'terminate', '-w', evictionId(host), '--reason', 'wrong host')).toMatchObject({ code: 0 });
      const eviction = await world.untilReason(host, 'Stopped');
      expect(eviction.status?.conditions?.find(({ type }) => type === 'Evicting')?.message).toMatch(new RegExp(`^Run ${runId} was terminated by .+ \\(wrong host\\), .*drover retry ${host}`, 'u'));
      await expectToStay(motion);
      expect(await world.mutations(world.sinceMs, { servers: motion.pending })).toEqual([]);
      await expectToGoOn(motion);
    }),
  limitMs,
);
