import { evictionId, migrationAllowanceId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import type { MigrationEvent } from '../../lab/openstack/journal.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import { liveMigrate } from '../../lab/openstack/migrations.ts';
import { checkInvariants } from '../invariants.ts';
import { messageOf, migrationStatuses, parallelism, untilMigrationIs } from './eviction-observations.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * Limits across runs (docs/rules.md#allowances), by what Nova's own journal shows. One after another: the
 * region is shared.
 */

let world: World;
const limit = 3;
const sources = ['node-1', 'node-2', 'node-3', 'node-4'] as const;
const settings = {
  ...quickSettings,
  eviction: { ...quickSettings.eviction, allowanceRenewMs: 3_000 },
  limits: { migrationsPerRegion: limit, checkMs: 2_000, silentMs: 10_000 },
};

beforeAll(async () => {
  world = await openWorld({ settings });
}, limitMs);
afterAll(() => world.close());
afterEach(() => checkInvariants(world), limitMs);

/**
 * A cold one that waits for its confirmation (`finished`) or is being confirmed copies nothing any more, and is in no
 * run's allowance.
 */
const copiesNothing = new Set(['completed', 'finished', 'confirming', 'confirmed', 'error', 'failed', 'cancelled']);
const journal = (fromMs: number): MigrationEvent[] => readMigrationEvents(world.session.handle, fromMs);

/** The most migrations that were in progress at one time, of those that `of` selects. */
function mostAtOnce(events: readonly MigrationEvent[], of: (event: MigrationEvent) => boolean = () => true): number {
  const open = new Set<string>();
  let most = 0;
  for (const event of events.filter(of)) {
    if (copiesNothing.has(event.status)) open.delete(event.migration);
    else open.add(event.migration);
    most = Math.max(most, open.size);
  }
  return most;
}

async function fill(
  counts: Readonly<Record<string, number>>,
  seconds: number,
  coldFrom: string | null = null,
): Promise<void> {
  for (const host of Object.keys(counts)) await world.freshHost(host, { seconds });
  const specs = Object.entries(counts).flatMap(([host, count]) =>
    Array.from({ length: count }, (_, index) => ({ name: `${host}-vm-${index + 1}`, host })),
  );
  await world.seed(specs.map((spec) => (spec.host === coldFrom ? { ...spec, state: 'SHUTOFF' as const } : spec)));
}

test(
  'four evictions share three migrations: never more, each gets its share, and each keeps to its own parallelism',
  async () => {
    await fill({ 'node-1': 4, 'node-2': 4, 'node-3': 4, 'node-4': 4 }, 1);
    const fromMs = labClock().now();
    const requested = { 'node-1': 1, 'node-2': 2, 'node-3': 3, 'node-4': 3 };
    await Promise.all(
      sources.map((host) =>
        world.createEviction(host, host === 'node-1' ? {} : { annotations: parallelism(requested[host]) }),
      ),
    );
    for (const host of sources)
      expect(messageOf(await world.untilReason(host, 'Succeeded', { deadlineMs: 180_000 }))).toBe(
        `4 of 4 servers have left ${host}`,
      );
    const events = journal(fromMs);
    const most = mostAtOnce(events);
    expect(most).toBeLessThanOrEqual(limit);
    expect(most).toBe(limit);
    for (const host of sources)
      expect(mostAtOnce(events, ({ source }) => source === host)).toBeLessThanOrEqual(requested[host]);
    // None waits for another to end.
    const lastOf = new Map(events.map(({ source, timeMs }) => [source, timeMs]));
    const firstToEnd = Math.min(...lastOf.values());
    expect(new Set(events.filter(({ timeMs }) => timeMs < firstToEnd).map(({ source }) => source))).toEqual(
      new Set(sources),
    );
    const seconds = (Math.max(...lastOf.values()) - events[0]!.timeMs) / 1_000;
    console.info(
      `16 migrations of 1 s by four evictions, ${limit} at once: ${seconds.toFixed(1)} s from the first to the last (nominal ${(16 / limit).toFixed(1)} s)`,
    );
  },
  limitMs,
);

test(
  'an eviction that dies gives its share back once Nova shows none of its work, and not before',
  async () => {
    // Cold ones run to their end whatever becomes of their run.
    await fill({ 'node-1': 4, 'node-2': 3 }, 5, 'node-1');
    const fromMs = labClock().now();
    await world.createEviction('node-1', { annotations: parallelism(limit) });
    await until('all slots to be used by node-1', 60_000, async () => {
      const running = journal(fromMs).filter(
        ({ status, source }) => status === 'migrating' && source === 'node-1',
      ).length;
      return running >= limit || `${running}`;
    });
    await world.createEviction('node-2', { annotations: parallelism(limit) });
    await until('node-2 to wait for its share', 60_000, async () => {
      const { phase, window, counts } = await world.progress('node-2');
      return (counts.total === 3 && window.parallelism === limit && phase !== 'Preflight') || phase;
    });
    await world.client.workflow.getHandle(evictionId('node-1')).terminate('by the test');
    await world.untilReason('node-1', 'Stopped');
    await until('node-2 to have all of it', 60_000, async () => {
      const { allowance } = (await world.progress('node-2')).window;
      return allowance === limit || `${allowance}`;
    });
    await world.untilReason('node-2', 'Succeeded');
    expect(mostAtOnce(journal(fromMs))).toBe(limit);
    await world.annotate('node-1', { 'drover.dev/retry': 'again' });
    await world.untilReason('node-1', 'Succeeded');
    expect(mostAtOnce(journal(fromMs))).toBe(limit);
  },
  limitMs,
);

test(
  'the allocator is terminated: the next report starts it again, and the limit holds',
  async () => {
    await fill({ 'node-3': 6, 'node-4': 6 }, 1.5);
    const fromMs = labClock().now();
    await Promise.all(
      ['node-3', 'node-4'].map((host) => world.createEviction(host, { annotations: parallelism(limit) })),
    );
    await until('both to move', 60_000, () => {
      const moving = new Set(
        journal(fromMs)
          .filter(({ status }) => status === 'running')
          .map(({ source }) => source),
      );
      return moving.size === 2 || [...moving].join(', ');
    });
    const id = migrationAllowanceId('RegionOne');
    const { runId } = await world.client.workflow.getHandle(id).describe();
    await world.client.workflow.getHandle(id).terminate('by the test');
    await until('another allocator', 60_000, async () => {
      const now = await world.client.workflow.getHandle(id).describe();
      return now.runId !== runId || now.status.name;
    });
    for (const host of ['node-3', 'node-4']) await world.untilReason(host, 'Succeeded');
    expect(mostAtOnce(journal(fromMs))).toBeLessThanOrEqual(limit);
    for (const server of world.expected.values()) {
      if (!/^node-[34]-vm/u.test(server.name)) continue;
      const statuses = await migrationStatuses(world, { id: server.id } as never).catch(() => []);
      expect(statuses.filter((status) => status === 'completed').length).toBeLessThanOrEqual(1);
    }
  },
  limitMs,
);

test(
  'the per-target limit is planned: a start waits while the only target has its share',
  async () => {
    await world.replaceDrover({
      settings: { ...settings, eviction: { ...settings.eviction, perTarget: 1, targetBusyMs: 60_000 } },
    });
    await fill({ 'node-1': 2 }, 1);
    await world.freshHost('node-2', { seconds: 6 });
    const [stranger] = await world.seedMany('node-2', 1);
    const others = ['node-3', 'node-4', 'node-6'];
    const mine = 'no target in this test';
    for (const host of others)
      if ((await world.service(host)).status === 'enabled') await world.disableService(host, mine);
    const fromMs = labClock().now();
    await liveMigrate(world.session, stranger!.id, 'node-5');
    await untilMigrationIs(world, stranger!, ['running']);
    // No target for the eviction, and no more than a source for the stranger.
    await world.disableService('node-2', mine);
    await world.createEviction('node-1');
    await world.untilReason('node-1', 'Succeeded');
    const events = journal(fromMs);
    expect(new Set(events.map(({ dest }) => dest).filter((dest) => dest !== null))).toEqual(new Set(['node-5']));
    expect(new Set(events.map(({ source }) => source))).toEqual(new Set(['node-1', 'node-2']));
    expect(mostAtOnce(events)).toBe(1);
    for (const host of ['node-2', ...others])
      if ((await world.service(host)).disabled_reason === mine) await world.enableService(host);
  },
  limitMs,
);
