import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evictionId, migrationAllowanceId, migrationId } from '../../contracts/ids.ts';
import { budgets } from '../budgets/budgets.ts';
import type { Cost } from '../budgets/cost.ts';
import { costOf, countCalls, excesses } from '../budgets/cost.ts';
import { checkInvariants } from '../invariants.ts';
import type { World } from './world.ts';
import { migrationStatuses } from './eviction-facts.ts';
import { openWorld, quickSettings } from './world.ts';

/** Design section 9: an eviction of 24 servers and its children stay within their budgets, calls of other systems included. */

let world: World;
const patienceMs = 300_000;

const inWords = ({ events, activityCalls, calls }: Cost): string => `${events} events, ${activityCalls} activity calls, ${Array.from(calls ?? [], ([system, count]) => `${count} of ${system}`).join(' and ')}`;
const dearest = (costs: readonly Cost[]): Cost => costs.reduce((most, cost) => (cost.events > most.events ? cost : most));

beforeAll(async () => {
  // Publishing and renewing as in production: quick intervals would measure the test's settings.
  const { publishMinMs: _min, publishMaxMs: _max, allowanceRenewMs: _renew, ...eviction } = quickSettings.eviction;
  const { resyncMs: _resync, ...bridge } = quickSettings.bridge;
  world = await openWorld({ settings: { eviction, bridge, logLevel: 'debug' } });
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

    const calls = countCalls(readFileSync(join(world.drover.dir, 'log', 'worker.log'), 'utf8'));
    const cost = async (workflowId: string): Promise<Cost> => costOf(await world.client.workflow.getHandle(workflowId).fetchHistory(), calls.get(workflowId) ?? new Map());
    const parent = await cost(evictionId('node-1'));
    const children = await Promise.all(servers.map(({ id }) => cost(migrationId(id))));
    const allowance = await cost(migrationAllowanceId(world.lab.handles.openstack.region));
    const once = children.filter((_, index) => index !== 7);
    console.info(
      [`24 servers in ${(tookMs / 1_000).toFixed(0)} s`, `parent ${inWords(parent)}`, `a child ${inWords(dearest(once))} at most, the one that hung ${inWords(children[7]!)}`, `allowance ${inWords(allowance)}`].join('; '),
    );
    // A count of nothing would be within every budget.
    for (const { calls: of } of [parent, ...children, allowance]) expect(of?.get('nova')).toBeGreaterThan(0);
    expect(excesses(parent, budgets.largeEviction)).toEqual([]);
    expect(once.flatMap((child) => excesses(child, budgets.migration))).toEqual([]);
    expect(excesses(children[7]!, budgets.retriedMigration)).toEqual([]);
  },
  patienceMs,
);

test('after all of it the invariants hold', () => checkInvariants(world), patienceMs);
