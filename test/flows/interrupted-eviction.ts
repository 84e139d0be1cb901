import { readMigrationEvents } from '../../lab/openstack/journal.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { hasEnded } from '../invariants/servers.ts';
import { hostOf, messageOf, migrationStatuses, parallelism } from './eviction-observations.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** Evictions in the middle of which something dies, and what has to come of them. */

/** Eight servers of 3 s, four at a time. */
export async function beginMoves(world: World, host: string): Promise<Server[]> {
  await world.freshHost(host, { seconds: 3 });
  const servers = await world.seedMany(host, 8);
  await world.createEviction(host, { annotations: parallelism(4) });
  await world.untilMoving(host, 4);
  await until('four migrations to run', 60_000, () => inProgress(world, host) >= 4 || `${inProgress(world, host)}`);
  return servers;
}

export function inProgress({ session, sinceMs }: World, host: string): number {
  const last = new Map(readMigrationEvents(session.handle, sinceMs).map((event) => [event.migration, event]));
  return [...last.values()].filter((event) => event.source === host && !hasEnded(event)).length;
}

/** Every server has left by exactly one migration that succeeded. */
export async function expectMovedOnce(world: World, host: string, servers: readonly Server[]): Promise<void> {
  const eviction = await world.untilReason(host, 'Succeeded');
  expect(messageOf(eviction)).toBe(`${servers.length} of ${servers.length} servers have left ${host}`);
  for (const server of servers) {
    expect((await migrationStatuses(world, server)).filter((status) => status === 'completed')).toHaveLength(1);
    expect(await hostOf(world, server)).not.toBe(host);
  }
  await world.untilClosed(host);
}
