import { labClock } from '../../lab/clock.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import { liveMigrate } from '../../lab/openstack/migrations.ts';
import { createServerGroup, deleteInstances, getServer, listServers } from '../../lab/openstack/seed.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import {
  agreed,
  allMessages,
  cause,
  clearOrphanAllocations,
  hostOf,
  messageOf,
  migrationStatuses,
  parallelism,
  reasonsOf,
  untilMigrationIs,
} from './eviction-observations.ts';
import { openHostPool } from './host-pool.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** How single servers leave a host: each state and each surprise (docs/charts/eviction.md#one-server). */

let world: World;
const pool = openHostPool(() => world, ['node-1', 'node-2', 'node-3', 'node-4']);

beforeAll(async () => {
  world = await openWorld();
}, limitMs);

const left = async (host: string, ...servers: Server[]): Promise<void> => {
  for (const server of servers) expect(await hostOf(world, server)).not.toBe(host);
};

test.concurrent(
  'a stopped server goes cold and its own resize is confirmed; a stranger’s is left alone and keeps the host from being empty',
  () =>
    pool.with({}, async (host) => {
      const [stopped, stranger] = await world.seed([
        { name: `${host}-stopped`, host, state: 'SHUTOFF' },
        { name: `${host}-stranger`, host, state: 'VERIFY_RESIZE' },
      ]);
      await world.createEviction(host, { annotations: { ...cause('termination'), ...parallelism(2) } });
      const eviction = await world.untilReason(host, 'NotEmpty');
      expect(await migrationStatuses(world, stopped!)).toEqual(['confirmed']);
      expect((await getServer(world.session, stopped!.id)).status).toBe('SHUTOFF');
      await left(host, stopped!);
      expect(await migrationStatuses(world, stranger!)).toEqual(['finished']);
      expect((await getServer(world.session, stranger!.id)).status).toBe('VERIFY_RESIZE');
      expect(messageOf(eviction)).toContain('1 unconfirmed resize');
      expect(allMessages(eviction)).toContain(stranger!.name);
      expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
      expect(await world.mutations(world.sinceMs, { servers: [stranger!] })).toEqual([]);
      await deleteInstances(world.session, [stranger!.id]);
      world.expectServer(stranger!.id, null);
    }),
  limitMs,
);

test.concurrent(
  'a running server whose live migrations fail goes cold only with consent',
  () =>
    pool.with({}, async (host) => {
      const [server] = await world.seed([{ name: `${host}-stubborn`, host }]);
      const attempts = ['fail', 'fail', 'fail', 'ok'].map((migrate) => ({ migrate: migrate as 'ok', seconds: 0.3 }));
      await world.fleet.script(server!.id, attempts);
      await world.createEviction(host, { name: `${host}-first` });
      const refused = await world.untilReason(`${host}-first`, 'Failed');
      expect(messageOf(refused)).toContain(server!.name);
      expect(await migrationStatuses(world, server!)).toEqual(['failed', 'failed', 'failed']);
      await world.untilClosed(host);
      await world.fleet.script(server!.id, attempts);
      await world.createEviction(host, { name: `${host}-second`, annotations: agreed({ consent: 'cold-migrate' }) });
      await world.untilReason(`${host}-second`, 'Succeeded');
      expect(await migrationStatuses(world, server!)).toEqual([
        'failed',
        'failed',
        'failed',
        'failed',
        'failed',
        'failed',
        'confirmed',
      ]);
      expect(await getServer(world.session, server!.id)).toMatchObject({ status: 'ACTIVE' });
      await left(host, server!);
    }),
  limitMs,
);

test.concurrent(
  'servers that are deleted before they are moved, or being deleted when the eviction starts, are gone and count as such',
  () =>
    pool.with({ destroySeconds: 2 }, async (host) => {
      const [dying, moving, pending, other] = await world.seed([
        { name: `${host}-a-dying`, host },
        { name: `${host}-b-moving`, host, seconds: 3 },
        { name: `${host}-c-pending`, host },
        { name: `${host}-d`, host },
      ]);
      await world.session.compute('DELETE', `/servers/${dying!.id}`);
      await world.createEviction(host);
      await untilMigrationIs(world, moving!, ['running']);
      await world.session.compute('DELETE', `/servers/${pending!.id}`);
      const eviction = await world.untilReason(host, 'Succeeded');
      expect(messageOf(eviction)).toMatch(new RegExp(`^(4 of 4|3 of 3) servers have left ${host}$`, 'u'));
      for (const server of [dying!, pending!]) {
        expect(await migrationStatuses(world, server)).toEqual([]);
        world.expectServer(server.id, null);
      }
      await left(host, moving!, other!);
    }),
  limitMs,
);

test.concurrent(
  'a server that is migrating already when the eviction starts is not asked for again',
  () =>
    pool.with({ seconds: 4 }, async (host) => {
      const [server, other] = await world.seed([
        { name: `${host}-moves`, host },
        { name: `${host}-other`, host, seconds: 0.5 },
      ]);
      await liveMigrate(world.session, server!.id);
      await world.createEviction(host, { annotations: parallelism(2) });
      const eviction = await world.untilReason(host, 'Succeeded');
      expect(messageOf(eviction)).toMatch(new RegExp(`^(2 of 2|1 of 1) servers have left ${host}$`, 'u'));
      expect(await migrationStatuses(world, server!)).toEqual(['completed']);
      expect(await world.mutations(world.sinceMs, { servers: [server!] })).toEqual([]);
      await left(host, server!, other!);
    }),
  limitMs,
);

test.concurrent(
  'members of a server group move one at a time, others beside them',
  () =>
    pool.with({ seconds: 1.5 }, async (host) => {
      const serverGroup = await createServerGroup(world.session, `${host}-group`, 'soft-affinity');
      const members = await world.seed(
        [1, 2, 3].map((number) => ({ name: `${host}-member-${number}`, host, serverGroup })),
      );
      const others = await world.seed([1, 2].map((number) => ({ name: `${host}-other-${number}`, host })));
      await world.createEviction(host, { annotations: parallelism(5) });
      await world.untilReason(host, 'Succeeded');
      const spans = spansOf(world, host);
      const ofMembers = members.map(({ id }) => spans.get(id)!).toSorted((a, b) => a.fromMs - b.fromMs);
      expect(ofMembers).toHaveLength(3);
      for (const [index, span] of ofMembers.entries())
        expect(span.fromMs).toBeGreaterThanOrEqual(ofMembers[index - 1]?.toMs ?? 0);
      const first = ofMembers[0]!;
      expect(others.some(({ id }) => spans.get(id)!.fromMs < first.toMs && spans.get(id)!.toMs > first.fromMs)).toBe(
        true,
      );
      await left(host, ...members, ...others);
    }),
  limitMs,
);

/** When each server of the host was being migrated, by Nova's own journal. */
function spansOf({ session, sinceMs }: World, host: string): Map<string, { fromMs: number; toMs: number }> {
  const spans = new Map<string, { fromMs: number; toMs: number }>();
  for (const { instance, source, timeMs } of readMigrationEvents(session.handle, sinceMs)) {
    if (source !== host) continue;
    const known = spans.get(instance);
    if (known === undefined) spans.set(instance, { fromMs: timeMs, toMs: timeMs });
    else known.toMs = timeMs;
  }
  return spans;
}

test.concurrent.each([
  ['with a deadline the largest goes first', true],
  ['without one the smallest', false],
])(
  '%s',
  (_, hasDeadline) =>
    pool.with({ seconds: 0.3 }, async (host) => {
      const flavors = ['lab.small', 'lab.medium', 'lab.tiny'] as const;
      const servers = await world.seed(flavors.map((flavor) => ({ name: `${host}-${flavor}`, host, flavor })));
      const deadline = new Date(labClock().now() + 3_600_000).toISOString();
      await world.createEviction(host, { annotations: hasDeadline ? { 'drover.dev/deadline': deadline } : {} });
      await world.untilReason(host, 'Succeeded');
      const spans = spansOf(world, host);
      const order = servers
        .toSorted((a, b) => spans.get(a.id)!.fromMs - spans.get(b.id)!.fromMs)
        .map(({ name }) => name.slice(host.length + 1));
      expect(order).toEqual(
        hasDeadline ? ['lab.medium', 'lab.small', 'lab.tiny'] : ['lab.tiny', 'lab.small', 'lab.medium'],
      );
    }),
  limitMs,
);

test.concurrent(
  'each server’s Migration is current, and what its node agent writes stays the agent’s',
  () =>
    pool.with({ seconds: 5 }, async (host) => {
      const [server] = await world.seed([{ name: `${host}-shown`, host, flavor: 'lab.small' }]);
      const eviction = JSON.parse(
        await world.createEviction(host).then(() => world.kubectl(['get', 'evi', host, '-o', 'json'])),
      ) as { metadata: { uid: string } };
      const running = await until('the Migration to show the copy', 60_000, async () => {
        const migration = await world.getMigration(server!.id);
        return migration?.status?.type === 'unbounded' && migration.status.destination !== undefined
          ? migration
          : JSON.stringify(migration?.status ?? 'none');
      });
      expect(running.status).toMatchObject({ origin: host, operation: 'migration_out' });
      expect(running.metadata.labels).toMatchObject({
        'drover.dev/eviction-uid': eviction.metadata.uid,
        'drover.dev/host': host,
      });
      expect(new Set(running.metadata.managedFields?.map(({ manager }) => manager))).toEqual(new Set(['drover']));
      const agents = { memBps: '1.0 GiB/s', memIteration: 3, memRemaining: '12.0 MiB' };
      await world.api.request(
        {
          method: 'PATCH',
          patchType: 'merge',
          path: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', {
            namespace: 'monsoon3',
            name: server!.id,
            subresource: 'status',
          }),
          query: { fieldManager: 'kvm-node-agent' },
          body: { status: agents },
        },
        AbortSignal.timeout(10_000),
      );
      await world.untilReason(host, 'Succeeded');
      const done = await world.getMigration(server!.id);
      expect(done?.status).toMatchObject({
        ...agents,
        type: 'completed',
        destination: await hostOf(world, server!),
        origin: host,
      });
    }),
  limitMs,
);

test('after all of these the invariants hold', () => checkInvariants(world), limitMs);

/**
 * Nova leaves a guest on the target, and an allocation on the source, when a live migration ends badly: these come
 * last, and are cleared.
 */
const targets = ['node-5', 'node-6'];
afterAll(async () => {
  await deleteInstances(
    world.session,
    (await listServers(world.session)).map(({ id }) => id),
  );
  for (const host of targets) {
    await world.fleet.crash(host);
    await world.fleet.reinstall(host);
  }
  await world.close();
}, 120_000);

test(
  'a server that is deleted on its way is gone, and what Nova leaves of it on the host is named until a user clears it',
  () =>
    pool.with({}, async (host) => {
      const [doomed, other] = await world.seed([
        { name: `${host}-doomed`, host, seconds: 4 },
        { name: `${host}-other`, host },
      ]);
      await world.createEviction(host, { annotations: parallelism(2) });
      await untilMigrationIs(world, doomed!, ['running']);
      await world.session.compute('DELETE', `/servers/${doomed!.id}`);
      world.expectServer(doomed!.id, null);
      const eviction = await until('the eviction to end', 90_000, () => {
        const latest = world.evictions.latest(host);
        return latest !== null && /Evicting\/(Succeeded|NotEmpty)/u.test(allMessages(latest))
          ? latest
          : allMessages(latest);
      });
      await left(host, other!);
      await deleteInstances(world.session, [doomed!.id]);
      const orphans = await clearOrphanAllocations(world, host);
      for (const consumer of orphans) expect(messageOf(eviction)).toContain(consumer);
      if (orphans.length > 0) await world.annotate(host, { 'drover.dev/retry': 'cleared' });
      await world.untilReason(host, 'Succeeded');
      await world.untilClosed(host);
      await checkInvariants(world, [host]);
    }),
  limitMs,
);

test(
  'what fails once is tried again; what ends in ERROR is named; the rest goes on',
  () =>
    pool.with({}, async (host) => {
      const [twice, broken, fine] = await world.seed([
        { name: `${host}-twice`, host, migrate: ['fail', 'ok'] },
        { name: `${host}-broken`, host, migrate: 'error' },
        { name: `${host}-fine`, host },
      ]);
      await world.createEviction(host, { annotations: parallelism(3) });
      const eviction = await world.untilReason(host, 'Failed');
      expect(await migrationStatuses(world, twice!)).toEqual(['failed', 'completed']);
      expect(await migrationStatuses(world, broken!)).toEqual(['error']);
      world.expectServer(broken!.id, 'ERROR');
      expect(messageOf(eviction)).toMatch(
        new RegExp(
          `2 of 3 servers have left ${host}; 1 not migratable\\. ${broken!.name} \\([^)]*\\): in ERROR: Migration \\d+ ended as error`,
          'u',
        ),
      );
      await left(host, twice!, fine!);
      await clearOrphanAllocations(world, host);
      await checkInvariants(world, [host]);
    }),
  limitMs,
);
