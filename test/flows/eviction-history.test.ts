import { evictionId, migrationId } from '../../contracts/ids.ts';
import type { World } from './world.ts';
import { checkInvariants } from '../invariants.ts';
import { migrationStatuses } from './eviction-facts.ts';
import { openWorld, quickSettings } from './world.ts';

/** Design section 9: an eviction of 24 servers costs at most 400 events in the parent and 40 in each child. */

let world: World;
const patienceMs = 300_000;

beforeAll(async () => {
  // Publishing and renewing as in production: quick intervals would measure the test's settings.
  const { publishMinMs: _min, publishMaxMs: _max, allowanceRenewMs: _renew, ...eviction } = quickSettings.eviction;
  const { resyncMs: _resync, ...bridge } = quickSettings.bridge;
  world = await openWorld({ settings: { eviction, bridge } });
}, 180_000);
afterAll(() => world.close());

test(
  '24 servers one by one, one of which hangs once',
  async () => {
    await world.freshHost('node-1', { seconds: 0.3 });
    const servers = await world.seed(Array.from({ length: 24 }, (_, index) => ({ name: `vm-${index + 1}`, host: 'node-1', ...(index === 7 ? { migrate: ['hang', 'ok'] as const } : {}) })));
    const startedMs = Date.now();
    await world.createEviction('node-1');
    await world.untilReason('node-1', 'Succeeded', { deadlineMs: 240_000 });
    const tookMs = Date.now() - startedMs;
    expect(await migrationStatuses(world, servers[7]!)).toEqual(['cancelled', 'completed']);
    await world.untilClosed('node-1');

    const eventsOf = async (workflowId: string): Promise<Map<string, number>> => {
      const { events } = await world.client.workflow.getHandle(workflowId).fetchHistory();
      return new Map([...Map.groupBy(events ?? [], ({ eventType }) => String(eventType))].map(([type, those]) => [type, those.length]));
    };
    const total = (counts: Map<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
    const parent = await eventsOf(evictionId('node-1'));
    const children = await Promise.all(servers.map(async ({ id }) => total(await eventsOf(migrationId(id)))));
    console.info(
      `24 servers in ${(tookMs / 1_000).toFixed(0)} s: ${total(parent)} events in the parent (${[...parent].map(([type, count]) => `${type} ${count}`).join(', ')}); ` +
        `children ${Math.min(...children)} to ${Math.max(...children)}, the one that hung ${children[7]}`,
    );
    expect(total(parent)).toBeLessThanOrEqual(400);
    expect(Math.max(...children)).toBeLessThanOrEqual(40);
  },
  patienceMs,
);

test('after all of it the invariants hold', () => checkInvariants(world), patienceMs);
