import type { EvacuationWait } from '../../contracts/node-failure/fencing.ts';
import type { MigrationEnd } from '../../contracts/eviction/migrate-instance.ts';
import { concludeMigration } from './conclude-migration.ts';
import { followMigration, type FollowTools } from './follow-migration.ts';
import { hasEnded } from './judge-migration.ts';

/**
 * Waits until an evacuation is over: `done`, `failed` or `error`. On the record, never on the server, which is ACTIVE on its old host
 * meanwhile (lab-openstack.md 4.1).
 *
 * @throws MigrationNotFound Nova has no such record, and has the server
 */
export async function awaitEvacuation(
  tools: FollowTools,
  { instanceId, sourceHost, migrationId, deadlineMs, poll }: EvacuationWait,
): Promise<MigrationEnd> {
  const followed = await followMigration(tools, {
    instanceId,
    migrationId,
    poll,
    isOver: hasEnded,
    judge: (watch, _migration, nowMs) => (nowMs - watch.sinceMs >= deadlineMs ? 'TooLong' : null),
  });
  return concludeMigration(tools, sourceHost, followed);
}
