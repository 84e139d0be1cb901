import { migrationAllowanceId } from '../../contracts/ids.ts';
import type { AllowanceProgress } from '../../contracts/allowance.ts';
import { progressQuery } from '../../contracts/messages.ts';
import { labClock } from '../../lab/clock.ts';
import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import { checkInvariants } from '../invariants.ts';
import { parallelism } from './eviction-observations.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * A host whose Nova runs one live migration at a time, as its default is, and keeps the
 * others waiting (docs/eviction.md#novas-own-queue).
 */

let world: World;
/** Bounds of time are for the simulator's clock: a machine that is busy takes longer. */
const isExact = process.env['DROVER_SIMULATED'] !== undefined;
const seconds = 10;
const servers = 12;
const settings = {
  ...quickSettings,
  eviction: {
    ...quickSettings.eviction,
    // None is stuck here, however long it waits or copies.
    stuck: { msPerGiB: 600_000, floorMs: 600_000, noProgressMs: 600_000, startMs: 600_000 },
  },
  limits: { migrationsPerRegion: 8, checkMs: 30_000, silentMs: 150_000 },
};

beforeAll(async () => {
  world = await openWorld({ settings });
}, limitMs);
afterAll(() => world.close());
afterEach(() => checkInvariants(world), limitMs);

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

test(
  `${servers} servers of ${seconds} s each, four at once: those that wait are few and soon, and others have the slots`,
  async () => {
    await world.freshHost('node-3', { seconds, maxConcurrentLiveMigrations: 1 });
    await world.seedMany('node-3', servers);
    const fromMs = labClock().now();
    await world.createEviction('node-3', { annotations: parallelism(4) });
    await until('the eviction to say how many Nova runs', 90_000, async () => {
      const { waitingFor, window } = await world.progress('node-3').catch(() => ({ waitingFor: null, window: null }));
      return (
        (waitingFor?.includes('Nova runs 1 at a time on node-3') === true && window?.allowance === 1) || `${waitingFor}`
      );
    });
    const narrowedMs = labClock().now();
    const limits = await world.client.workflow
      .getHandle(migrationAllowanceId('RegionOne'))
      .query(progressQuery<AllowanceProgress>());
    expect(limits).toMatchObject({ limit: 8, novaRuns: { 'node-3': 1 } });
    expect((await world.command('limits')).stdout).toMatch(/eviction\/node-3 .*Nova runs 1 at a time there/u);
    await world.untilReason('node-3', 'Succeeded', { deadlineMs: 300_000 });
    const endedMs = labClock().now();

    const events = readMigrationEvents(world.session.handle, fromMs).filter(({ source }) => source === 'node-3');
    const moves = [...new Set(events.map(({ migration }) => migration))].map((migration) => {
      const at = (status: string): number =>
        events.find((event) => event.migration === migration && event.status === status)!.timeMs;
      return {
        begunMs: at('accepted'),
        queuedMs: at('preparing') - at('queued'),
        tookMs: at('completed') - at('accepted'),
      };
    });
    const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);
    const later = moves.filter(({ begunMs }) => begunMs > narrowedMs);
    const lastMs = Math.max(...events.map(({ timeMs }) => timeMs));
    console.info(
      `${servers} migrations of ${seconds} s, parallelism 4, Nova runs 1: ${inSeconds(lastMs - events[0]!.timeMs)} for all, ${inSeconds(endedMs - fromMs)} with what is around them; ` +
        `each took ${inSeconds(sum(moves.map(({ tookMs }) => tookMs)) / moves.length)}, of which ${inSeconds(sum(moves.map(({ queuedMs }) => queuedMs)) / moves.length)} in Nova’s queue`,
    );
    expect(moves).toHaveLength(servers);
    expect(later.length).toBeGreaterThan(0);
    if (!isExact) return;
    // Now and then one more is tried.
    expect(later.filter(({ queuedMs }) => queuedMs > 2_000).length).toBeLessThanOrEqual(2);
    expect(sum(moves.map(({ tookMs }) => tookMs)) / moves.length).toBeLessThan(30_000);
  },
  limitMs,
);

test(
  'a host that runs them all has the window it asks for',
  async () => {
    await world.freshHost('node-4', { seconds, maxConcurrentLiveMigrations: 4 });
    await world.seedMany('node-4', 8);
    const fromMs = labClock().now();
    await world.createEviction('node-4', { annotations: parallelism(4) });
    await world.untilMoving('node-4', 4);
    await world.untilReason('node-4', 'Succeeded', { deadlineMs: 300_000 });
    const events = readMigrationEvents(world.session.handle, fromMs).filter(({ source }) => source === 'node-4');
    const tookMs = Math.max(...events.map(({ timeMs }) => timeMs)) - Math.min(...events.map(({ timeMs }) => timeMs));
    expect(new Set(events.map(({ migration }) => migration)).size).toBe(8);
    if (isExact) expect(tookMs).toBeLessThan(30_000);
  },
  limitMs,
);

test(
  'migrations that slow each other down lower the limit of the region, and that is said',
  async () => {
    const sources = ['node-1', 'node-2', 'node-3', 'node-4'];
    const become = (profile: { seconds: number }) =>
      Promise.all(sources.map((host) => world.fleet.change(host, profile)));
    const readLimit = () =>
      world.client.workflow
        .getHandle(migrationAllowanceId('RegionOne'))
        .query(progressQuery<AllowanceProgress>())
        .catch(() => null);
    for (const host of sources) {
      await world.freshHost(host, { seconds: 40 });
      await world.seedMany(host, 8);
    }
    await Promise.all(sources.map((host) => world.createEviction(host, { annotations: parallelism(2) })));
    for (const host of sources) await world.untilMoving(host, 2);
    await labClock().sleep(100_000);
    expect(await readLimit()).toMatchObject({ limit: 8, limitReason: null });
    await become({ seconds: 400 });
    await until('the limit to be lowered', 300_000, async () => {
      const said = await readLimit();
      return (said?.limit ?? 8) < 8 || JSON.stringify(said);
    });
    expect((await world.command('limits')).stdout).toMatch(
      /the limit is 6 of at most 8: lowered, as \d+ migrations from \d hosts copy \d+ MiB\/s each/u,
    );
    await become({ seconds: 2 });
    for (const host of sources) await world.untilReason(host, 'Succeeded', { deadlineMs: 300_000 });
  },
  limitMs,
);
