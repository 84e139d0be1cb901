import { findCondition } from '../../contracts/conditions.ts';
import { labClock } from '../../lab/clock.ts';
import { readApiCalls } from '../../lab/openstack/journal.ts';
import { deleteInstances, getServer, requestInstance, waitForServer } from '../../lab/openstack/seed.ts';
import { checkInvariants } from '../invariants.ts';
import {
  agreed,
  allMessages,
  cause,
  hostOf,
  messageOf,
  migrationStatuses,
  parallelism,
  reasonsOf,
} from './eviction-observations.ts';
import { openHostPool } from './host-pool.ts';
import { ensureTpmFlavor, tpmTraits } from './tpm-flavor.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** Hazards of the replaced operator (docs/compatibility.md#hazards), each with the situation in which it failed. */

let world: World;
const pool = openHostPool(() => world, ['node-1', 'node-2', 'node-3', 'node-4']);

beforeAll(async () => {
  world = await openWorld();
}, limitMs);
afterAll(() => world.close());

test.concurrent(
  'H1: a dotted hypervisor name means its compute service, and every server has to leave',
  () =>
    pool.with({}, async (host) => {
      const name = `${host}.lab.drover.dev`;
      const servers = await world.seedMany(host, 3);
      await world.createEviction(name, { annotations: parallelism(4) });
      const eviction = await world.untilReason(name, 'Succeeded');
      expect(messageOf(eviction)).toBe(`3 of 3 servers have left ${name}`);
      for (const server of servers) {
        expect(await hostOf(world, server)).not.toBe(host);
        expect(await migrationStatuses(world, server)).toEqual(['completed']);
      }
      expect(await world.service(host)).toMatchObject({
        status: 'disabled',
        disabled_reason: `drover: eviction ${name}: flow test`,
      });
    }),
  limitMs,
);

test.concurrent(
  'H2: the outstanding memory comes from flavors and shrinks to nothing',
  () =>
    pool.with({ seconds: 1 }, async (host) => {
      await world.seed(
        [1, 2, 3, 4].map((number) => ({
          name: `${host}-vm-${number}`,
          host,
          flavor: number === 4 ? 'lab.small' : 'lab.tiny',
        })),
      );
      await world.createEviction(host);
      await world.untilReason(host, 'Succeeded');
      const shown = world.evictions.of(host).filter(({ status }) => (status?.conditions ?? []).length > 0);
      const amounts = shown.map(({ status }) => status?.outstandingRamMb ?? -1);
      const beforeIt = shown.findIndex(({ status }) => (status?.outstandingInstances ?? []).length === 4);
      expect(amounts[beforeIt]).toBe(3 * 512 + 2048);
      expect(amounts.slice(beforeIt)).toEqual(amounts.slice(beforeIt).toSorted((a, b) => b - a));
      expect(new Set(amounts.slice(beforeIt)).size).toBeGreaterThan(2);
      expect(shown.at(-1)?.status).toMatchObject({ outstandingRamMb: 0, outstandingInstances: [] });
    }),
  limitMs,
);

test.concurrent(
  'H4: a server that is locked or refused is named and does not delay the others',
  () =>
    pool.with({ traits: tpmTraits }, async (host) => {
      await world.fleet.change('node-6', { traits: tpmTraits });
      const flavor = await ensureTpmFlavor(world.session);
      const [locked, refused, ...others] = await world.seed([
        { name: `${host}-a-locked`, host, locked: true },
        { name: `${host}-b-refused`, host, flavor },
        { name: `${host}-c`, host },
        { name: `${host}-d`, host },
      ]);
      await world.createEviction(host, {
        annotations: { ...cause('termination'), ...agreed({ acceptObstacles: `Vtpm/${refused!.id}` }) },
      });
      const eviction = await world.untilReason(host, 'Failed');
      for (const server of others) expect(await hostOf(world, server)).not.toBe(host);
      for (const server of [locked!, refused!]) expect(await hostOf(world, server)).toBe(host);
      expect(await migrationStatuses(world, locked!)).toEqual([]);
      const message = messageOf(eviction);
      expect(message).toContain(`2 of 4 servers have left ${host}; 2 not migratable`);
      expect(message).toMatch(new RegExp(`${locked!.name} \\(${locked!.id}\\): .*locked`, 'u'));
      expect(message).toMatch(new RegExp(`${refused!.name} \\(${refused!.id}\\): .*vTPM`, 'u'));
      expect(findCondition(eviction.status?.conditions, 'MigratingInstance')).toMatchObject({
        status: 'False',
        reason: 'Failed',
        message: expect.stringContaining(refused!.id),
      });
      const requests = (await world.mutations(world.sinceMs, { servers: [refused!] })).filter(
        ({ action }) => action === 'os-migrateLive',
      );
      expect(requests.length).toBe(1);
    }),
  limitMs,
);

test.concurrent(
  'H5: PAUSED moves live; SUSPENDED, RESCUED and resized-unconfirmed stay and are named',
  () =>
    pool.with({}, async (host) => {
      const [paused, suspended, rescued, active, resized] = await world.seed([
        { name: `${host}-paused`, host, state: 'PAUSED' },
        { name: `${host}-suspended`, host, state: 'SUSPENDED' },
        { name: `${host}-rescued`, host, state: 'RESCUE' },
        { name: `${host}-active`, host },
        { name: `${host}-resized`, host, state: 'VERIFY_RESIZE' },
      ]);
      await world.createEviction(host, { annotations: { ...cause('termination'), ...parallelism(4) } });
      const eviction = await world.untilReason(host, 'Failed');
      expect(await getServer(world.session, paused!.id)).toMatchObject({
        status: 'PAUSED',
        'OS-EXT-SRV-ATTR:host': expect.not.stringMatching(`^${host}$`),
      });
      expect(await migrationStatuses(world, paused!)).toEqual(['completed']);
      expect(await hostOf(world, active!)).not.toBe(host);
      for (const server of [suspended!, rescued!]) {
        expect(await hostOf(world, server)).toBe(host);
        expect(await migrationStatuses(world, server)).toEqual([]);
        expect(messageOf(eviction)).toContain(server.name);
      }
      // Another user's resize: neither confirmed nor moved, and named.
      expect(await getServer(world.session, resized!.id)).toMatchObject({ status: 'VERIFY_RESIZE' });
      expect(await migrationStatuses(world, resized!)).toEqual(['finished']);
      expect(allMessages(eviction)).toContain(resized!.name);
      expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
      await deleteInstances(world.session, [resized!.id]);
      world.expectServer(resized!.id, null);
    }),
  limitMs,
);

test.concurrent(
  'H6: a refusal after the 202 is retried a bounded number of times and reported with Nova’s message',
  () =>
    pool.with({ traits: ['CUSTOM_LAB'] }, async (host) => {
      const [noHost, destination, source, fine] = await world.seed([
        { name: `${host}-no-host`, host, flavor: 'lab.trait' },
        { name: `${host}-destination`, host, migrate: 'precheck-dest' },
        { name: `${host}-source`, host, migrate: 'precheck-source' },
        { name: `${host}-fine`, host },
      ]);
      await world.createEviction(host, {
        annotations: {
          ...cause('termination'),
          ...parallelism(4),
          ...agreed({ acceptObstacles: `NoValidTarget/${noHost!.id}` }),
        },
      });
      const eviction = await world.untilReason(host, 'Failed');
      expect(await hostOf(world, fine!)).not.toBe(host);
      const message = messageOf(eviction);
      expect(message).toContain('1 of 4 servers have left');
      for (const server of [noHost!, destination!, source!]) {
        const statuses = await migrationStatuses(world, server);
        expect(statuses).toHaveLength(3);
        expect(statuses).not.toContain('completed');
        expect(await hostOf(world, server)).toBe(host);
        expect((await getServer(world.session, server.id)).status).toBe('ACTIVE');
      }
      expect(message).toMatch(new RegExp(`${noHost!.name} \\([^)]*\\): .*No valid host`, 'u'));
      expect(message).toMatch(new RegExp(`${destination!.name} \\([^)]*\\): .*No valid host`, 'u'));
      expect(message).toMatch(new RegExp(`${source!.name} \\([^)]*\\): .*shared storage`, 'u'));
    }),
  limitMs,
);

test.concurrent(
  'H7: a migration that hangs is aborted and tried again, and then given up',
  () =>
    pool.with({}, async (host) => {
      const [once, always, fine] = await world.seed([
        { name: `${host}-hangs-once`, host, migrate: ['hang', 'ok'] },
        { name: `${host}-hangs`, host, migrate: 'hang' },
        { name: `${host}-fine`, host },
      ]);
      await world.createEviction(host, { annotations: parallelism(4) });
      const eviction = await world.untilReason(host, 'Failed');
      expect(await migrationStatuses(world, once!)).toEqual(['cancelled', 'completed']);
      expect(await migrationStatuses(world, always!)).toEqual(['cancelled', 'cancelled']);
      expect(await migrationStatuses(world, fine!)).toEqual(['completed']);
      expect(await getServer(world.session, always!.id)).toMatchObject({
        status: 'ACTIVE',
        'OS-EXT-SRV-ATTR:host': host,
      });
      expect(messageOf(eviction)).toMatch(
        new RegExp(`2 of 3 servers have left ${host}; 1 not migratable.*${always!.name}.*(stuck|cancelled)`, 'u'),
      );
    }),
  limitMs,
);

test.concurrent(
  'H7: with consent, a migration that hangs again is forced to complete',
  () =>
    pool.with({}, async (host) => {
      const [always] = await world.seed([{ name: `${host}-hangs`, host, migrate: 'hang' }]);
      await world.createEviction(host, { annotations: agreed({ consent: 'force-complete' }) });
      await world.untilReason(host, 'Succeeded');
      expect(await migrationStatuses(world, always!)).toEqual(['cancelled', 'completed']);
      const requests = await world.mutations(world.sinceMs, { servers: [always!] });
      expect(requests.map(({ action, method }) => action ?? method)).toEqual([
        'os-migrateLive',
        'DELETE',
        'os-migrateLive',
        'force_complete',
      ]);
    }),
  limitMs,
);

test.concurrent(
  'H8: two servers in ERROR make no hot loop',
  () =>
    pool.with({}, async (host) => {
      const [first, second, slow] = await world.seed([
        { name: `${host}-broken-1`, host, state: 'ERROR' },
        { name: `${host}-broken-2`, host, state: 'ERROR' },
        { name: `${host}-slow`, host, seconds: 5 },
      ]);
      const accepted = agreed({ acceptObstacles: `InstanceState/${first!.id}` });
      await world.createEviction(host, { annotations: { ...cause('termination'), ...parallelism(3), ...accepted } });
      await world.untilMoving(host);
      await until(
        'the slow one to be copied',
        60_000,
        async () => (await migrationStatuses(world, slow!)).includes('running') || 'not yet',
      );
      const fromMs = labClock().now();
      const eviction = await world.untilReason(host, 'Failed');
      const broken = readApiCalls(world.session.handle, 'nova', fromMs).filter(
        ({ path, query, userAgent }) =>
          userAgent === 'drover' && [first!.id, second!.id].some((id) => path.includes(id) || query.includes(id)),
      );
      expect(broken.length).toBeLessThan(12);
      for (const server of [first!, second!]) expect(messageOf(eviction)).toContain(server.name);
      expect(await hostOf(world, slow!)).not.toBe(host);
    }),
  limitMs,
);

test.concurrent(
  'H9: a server that was on its way to the host when it was disabled is moved too',
  () =>
    pool.with({ seconds: 1 }, async (host) => {
      await world.seedMany(host, 2);
      await world.fleet.change(host, { buildDelaySeconds: 5 });
      const late = await requestInstance(world.session, { name: `${host}-late`, host });
      world.expectServer(late, 'ACTIVE');
      await until(
        'the late one to be placed',
        20_000,
        async () => (await getServer(world.session, late)).status === 'BUILD' || 'not yet',
      );
      await world.createEviction(host, { annotations: parallelism(2) });
      const eviction = await world.untilReason(host, 'Succeeded');
      expect(messageOf(eviction)).toBe(`3 of 3 servers have left ${host}`);
      expect(await getServer(world.session, late)).toMatchObject({
        status: 'ACTIVE',
        'OS-EXT-SRV-ATTR:host': expect.not.stringMatching(`^${host}$`),
      });
      expect(await world.serversOn(host)).toEqual([]);
    }),
  limitMs,
);

test.concurrent(
  'H10: a failed eviction never shows as Succeeded and says what is left',
  () =>
    pool.with({}, async (host) => {
      const [stays] = await world.seed([
        { name: `${host}-stays`, host, migrate: 'fail' },
        { name: `${host}-goes`, host },
      ]);
      await world.createEviction(host, { annotations: { ...parallelism(2), 'drover.dev/re-enable': 'true' } });
      const eviction = await world.untilReason(host, 'Failed');
      expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
      expect(eviction.status).toMatchObject({ outstandingInstances: [stays!.id], outstandingRamMb: 512 });
      expect(messageOf(eviction)).toContain(
        `1 of 2 servers have left ${host}; 1 not migratable. ${stays!.name} (${stays!.id})`,
      );
      // Nothing that follows from an empty host happens.
      expect((await world.service(host)).status).toBe('disabled');
      await world.untilClosed(host);
      await world.untilResynced();
      expect(reasonsOf(world.evictions.of(host))).not.toContain('Succeeded');
    }),
  limitMs,
);

/**
 * Enables the host and has a server made there, again where drover was quicker: then Nova finds no valid host. Returns
 * its id.
 */
async function intrude(host: string): Promise<string> {
  const { id } = await until(`a server to land on ${host}`, 60_000, async () => {
    await world.enableService(host);
    const made = await requestInstance(world.session, { name: `${host}-intruder`, host, seconds: 0.5 });
    try {
      await waitForServer(world.session, made, 'ACTIVE');
      return { id: made };
    } catch (error) {
      await deleteInstances(world.session, [made]);
      return String(error);
    }
  });
  world.expectServer(id, 'ACTIVE');
  return id;
}

test.concurrent(
  'H11: a host that another user enables in mid-eviction is disabled again, and what landed on it meanwhile is moved',
  () =>
    pool.with({ seconds: 8 }, async (host) => {
      await world.seedMany(host, 2);
      await world.createEviction(host);
      await world.untilMoving(host);
      const intruder = await intrude(host);
      const eviction = await world.untilReason(host, 'Succeeded');
      expect(messageOf(eviction)).toBe(`3 of 3 servers have left ${host}`);
      expect((await getServer(world.session, intruder))['OS-EXT-SRV-ATTR:host']).not.toBe(host);
      expect(await world.service(host)).toMatchObject({
        status: 'disabled',
        disabled_reason: `drover: eviction ${host}: flow test`,
      });
      expect(await world.eventsOf(host)).toContainEqual(
        expect.stringMatching(/^ServiceEnabled: .*drover disables it again/u),
      );
    }),
  limitMs,
);

test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
