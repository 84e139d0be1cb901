import { checkInvariants } from '../invariants.ts';
import { openSpanCollector, pathOf } from './span-collector.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/** One change of an Eviction is one trace, from the bridge through runs and steps to the calls of Nova. */

let collector: Awaited<ReturnType<typeof openSpanCollector>>;
let world: World;
const host = 'node-1';

beforeAll(async () => {
  collector = await openSpanCollector();
  // The batch is sent every second rather than every five.
  world = await openWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1000' } });
}, limitMs);
afterAll(async () => {
  await world?.close();
  await collector?.close();
}, limitMs);

test(
  'from the watch event to the call of Nova',
  async () => {
    await world.freshHost(host);
    await world.seedMany(host, 1);
    await world.createEviction(host);
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);

    const path = await until('the whole trace', 30_000, () => {
      const call = collector.spans.find(({ name }) => name === 'nova POST /servers/{id}/action os-migrateLive');
      const found = call === undefined ? [] : pathOf(call, collector.spans);
      return found.length >= 8 ? found : found.join(' → ') || `${collector.spans.length} spans`;
    });
    expect(path).toEqual([
      'drover-bridge: deliver Eviction',
      'drover-bridge: SignalWithStartWorkflow:evictHypervisor',
      'drover-worker: RunWorkflow:evictHypervisor',
      'drover-worker: StartChildWorkflow:migrateInstance',
      'drover-worker: RunWorkflow:migrateInstance',
      'drover-worker: StartActivity:startLiveMigration',
      'drover-worker: RunActivity:startLiveMigration',
      'drover-worker: nova POST /servers/{id}/action os-migrateLive',
    ]);
  },
  limitMs,
);

test('what processes do all the time by themselves makes no traces', () => {
  const names = new Set(collector.spans.map(({ name }) => name));
  expect([...names].filter((name) => /leases|watch /u.test(name))).toEqual([]);
});

test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
