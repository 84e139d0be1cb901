import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { annotations } from '../../contracts/ids.ts';
import { labClock } from '../../lab/clock.ts';
import { findResourceProvider } from '../../lab/openstack/hosts.ts';
import { listMigrations } from '../../lab/openstack/migrations.ts';
import { getServer, listServers } from '../../lab/openstack/seed.ts';
import type { Server } from '../../lab/openstack/seed.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** What tests of evictions observe, beside what the world itself offers. */

export const hostOf = async ({ session }: World, { id }: Server): Promise<string | null> =>
  (await getServer(session, id))['OS-EXT-SRV-ATTR:host'];

/** How Nova's migrations of the server stand, the oldest first. */
export const migrationStatuses = async ({ session }: World, { id }: Server): Promise<string[]> =>
  (await listMigrations(session, id)).toSorted((a, b) => a.id - b.id).map(({ status }) => status);

/** The message of a condition; empty where there is none. */
export const messageOf = (eviction: Eviction | null, type = 'Evicting'): string =>
  findCondition(eviction?.status?.conditions, type)?.message ?? '';

/** All conditions in one text, for what must be named somewhere. */
export const allMessages = (eviction: Eviction | null): string =>
  (eviction?.status?.conditions ?? []).map(({ type, reason, message }) => `${type}/${reason}: ${message}`).join('\n');

/** Every reason that the condition has gone through, without repetitions. */
export function reasonsOf(history: readonly Eviction[], type = 'Evicting'): string[] {
  const reasons = history
    .map((eviction) => findCondition(eviction.status?.conditions, type)?.reason)
    .filter((reason) => reason !== undefined);
  return reasons.filter((reason, index) => reason !== reasons[index - 1]);
}

/** Annotations by which a user consents. */
export const agreed = (more: { consent?: string; acceptObstacles?: string }): Record<string, string> => ({
  ...(more.consent === undefined ? {} : { [annotations.consent]: more.consent }),
  ...(more.acceptObstacles === undefined ? {} : { [annotations.acceptObstacles]: more.acceptObstacles }),
  [annotations.consentBy]: `flow-test ${new Date(labClock().now()).toISOString()}`,
});

export const parallelism = (number: number): Record<string, string> => ({ [annotations.parallelism]: String(number) });
export const cause = (name: string): Record<string, string> => ({ [annotations.cause]: name });

/** Waits until Nova shows a migration of the server with one of the statuses, and returns its id. */
export const untilMigrationIs = (
  world: World,
  server: Server,
  statuses: readonly string[],
  deadlineMs = 60_000,
): Promise<{ id: number }> =>
  until(`a migration of ${server.name} to be ${statuses.join(' or ')}`, deadlineMs, async () => {
    const all = await listMigrations(world.session, server.id);
    return (
      all.find(({ status }) => statuses.includes(status)) ??
      (all.map(({ status }) => status).join(', ') || 'it has none')
    );
  });

/**
 * What an operator does after a live migration that ended in error, or whose server was deleted on the way: Nova leaves
 * the migration's allocation on the source. Returns the consumers that it cleared.
 */
export async function clearOrphanAllocations({ session }: World, host: string): Promise<string[]> {
  const provider = await findResourceProvider(session, `${host}.lab.drover.dev`);
  const { allocations } = await session.placement<{ allocations: Record<string, unknown> }>(
    'GET',
    `/resource_providers/${provider}/allocations`,
  );
  const servers = new Set((await listServers(session)).map(({ id }) => id));
  const orphans = Object.keys(allocations).filter((consumer) => !servers.has(consumer));
  for (const consumer of orphans) await session.placement('DELETE', `/allocations/${consumer}`);
  return orphans;
}
