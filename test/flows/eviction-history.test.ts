import { evictionId, migrationAllowanceId, migrationId } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import type { InstanceSpec } from '../../lab/openstack/seed.ts';
import { budgets } from '../budgets/budgets.ts';
import type { Cost } from '../budgets/cost.ts';
import { costOf, excesses } from '../budgets/cost.ts';
import { checkInvariants } from '../invariants.ts';
import type { World } from './world.ts';
import { migrationStatuses } from './eviction-observations.ts';
import { limitMs, quickSettings } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * docs/rules.md#history-budgets: an eviction of 24 servers and its children stay within their budgets, calls of other
 * systems included.
 */

let world: World;

const describeCost = ({ events, activityCalls, calls }: Cost): string =>
  `${events} events, ${activityCalls} activity calls, ${Array.from(calls ?? [], ([system, count]) => `${count} of ${system}`).join(' and ')}`;

beforeAll(async () => {
  // Publishing and renewing as in production: quick intervals would measure the test's settings.
  const { publishMinMs: _min, publishMaxMs: _max, allowanceRenewMs: _renew, ...eviction } = quickSettings.eviction;
  const { resyncMs: _resync, ...bridge } = quickSettings.bridge;
  world = await openWorld({ settings: { eviction, bridge, logLevel: 'debug' } });
}, limitMs);
afterAll(() => world.close());

/** Empties the host, and counts what each run of it cost. */
async function evict(host: string, guests: readonly Pick<InstanceSpec, 'migrate'>[]) {
  await world.freshHost(host, { seconds: 0.3 });
  const servers = await world.seed(guests.map((guest, index) => ({ name: `${host}-${index + 1}`, host, ...guest })));
  const startedMs = labClock().now();
  await world.createEviction(host);
  await world.untilReason(host, 'Succeeded', { deadlineMs: 240_000 });
  const tookMs = labClock().now() - startedMs;
  await world.untilClosed(host);
  const calls = world.callsByRun();
  const cost = async (workflowId: string): Promise<Cost> =>
    costOf(await world.client.workflow.getHandle(workflowId).fetchHistory(), calls.get(workflowId) ?? new Map());
  const [parent, allowance, ...children] = await Promise.all(
    [
      evictionId(host),
      migrationAllowanceId(world.session.handle.region),
      ...servers.map(({ id }) => migrationId(id)),
    ].map(cost),
  );
  if (parent === undefined || allowance === undefined) throw new Error('no cost');
  // A count of nothing would be within every budget.
  for (const { calls: counted } of [parent, allowance, ...children]) expect(counted?.get('nova')).toBeGreaterThan(0);
  console.info(
    [
      `${servers.length} servers in ${(tookMs / 1_000).toFixed(0)} s`,
      `parent ${describeCost(parent)}`,
      ...children.map((child, index) => `child ${index + 1} ${describeCost(child)}`),
      `allowance ${describeCost(allowance)}`,
    ].join('\n'),
  );
  return { servers, parent, children, allowance };
}

test(
  '24 servers one by one, one of which hangs once',
  async () => {
    const { servers, parent, children, allowance } = await evict(
      'node-1',
      Array.from({ length: 24 }, (_, index) => (index === 7 ? { migrate: ['hang', 'ok'] } : {})),
    );
    expect(await migrationStatuses(world, servers[7]!)).toEqual(['cancelled', 'completed']);
    expect(excesses(parent, budgets.largeEviction)).toEqual([]);
    for (const [index, child] of children.entries())
      expect(excesses(child, index === 7 ? budgets.retriedMigration : budgets.migration)).toEqual([]);
    expect(excesses(allowance, budgets.allowance)).toEqual([]);
  },
  limitMs,
);

test(
  'three servers',
  async () => {
    const { parent, children } = await evict('node-2', [{}, {}, {}]);
    expect(excesses(parent, budgets.eviction)).toEqual([]);
    for (const child of children) expect(excesses(child, budgets.migration)).toEqual([]);
  },
  limitMs,
);

test('after all of it the invariants hold', () => checkInvariants(world), limitMs);
