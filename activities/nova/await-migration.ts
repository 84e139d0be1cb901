import type { PollIntervals, StuckLimits } from '../../contracts/eviction/eviction.ts';
import type { MigrationEnd, MigrationSubject } from '../../contracts/eviction/migrate-instance.ts';
import type { EvacuationWait } from '../../contracts/node-failure/fencing.ts';
import { concludeMigration } from './conclude-migration.ts';
import type { InstanceDependencies, Tools } from './dependencies.ts';
import { type FollowTools, followMigration } from './follow-migration.ts';
import { hasEnded, judgeMigration } from './judge-migration.ts';
import type { RegionView } from './region-view.ts';
import { createProgressReporter } from './report-progress.ts';

export type AwaitRequest = MigrationSubject & {
  migrationId: number;
  gibibytes: number;
  stuck: StuckLimits;
  poll: PollIntervals;
};

/**
 * Waits for a migration's end, or until it is stuck, and keeps its Migration object current. A cold migration ends here
 * in `finished`; confirming it is another activity. Any worker can take it over: the clocks are in
 * the heartbeat details.
 *
 * @throws MigrationNotFound, and what Nova or the report failed with
 */
export async function awaitMigration(
  tools: Tools<InstanceDependencies> & FollowTools & { region: RegionView },
  request: AwaitRequest,
): Promise<MigrationEnd> {
  const { instanceId, sourceHost, eviction, attempt, migrationId, gibibytes, stuck, poll } = request;
  const reporter = createProgressReporter(
    tools.report,
    { instanceId, sourceHost, eviction, attempt },
    tools.clock,
    tools.scope.signal,
  );
  const followed = await followMigration(tools, {
    instanceId,
    migrationId,
    poll,
    isOver: ({ status }) => status === 'finished',
    judge: (watch, migration, nowMs) => judgeMigration(watch, migration, gibibytes, stuck, nowMs),
    onObserved: (migration) => reporter.show(migration),
    onLeisure: () => tools.region.refresh(tools.scope.signal),
  });
  const concluded = await concludeMigration(tools, sourceHost, followed);
  const end =
    concluded.status === 'cancelled'
      ? { ...concluded, message: `Another user cancelled migration ${migrationId}` }
      : concluded;
  await reporter.finish(followed?.migration ?? null, end.stuck === null ? end.message : describeStuck(end.stuck));
  return end;
}

const describeStuck = (stuck: NonNullable<MigrationEnd['stuck']>): string =>
  ({
    NotStarted: 'Stuck: Nova has not begun to copy',
    NoProgress: 'Stuck: what remains to be copied does not get less',
    TooLong: 'Stuck: it takes longer than its size allows',
  })[stuck];

/**
 * Waits until an evacuation is over: `done`, `failed` or `error`. On the record, never on the server, which is ACTIVE
 * on its old host meanwhile (docs/compatibility.md#how-nova-answers).
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
