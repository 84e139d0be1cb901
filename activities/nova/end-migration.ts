import type { ErrorCode } from '../../contracts/errors.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import type { MigrationEnd, MigrationSubject } from '../../contracts/eviction/migrate-instance.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { concludeMigration } from './conclude-migration.ts';
import { mutate } from '../lib/mutate.ts';
import type { InstanceDependencies, Tools } from './dependencies.ts';
import { type FollowTools, followMigration } from './follow-migration.ts';
import { hasEnded, hasSwitchedOver } from './judge-migration.ts';
import { createProgressReporter } from './report-progress.ts';
import type { Accepted } from './types.ts';

export type EndRequest = MigrationSubject & { migrationId: number };
type EndTools = Tools<InstanceDependencies> & FollowTools;

/** What is to end now ends soon, so it is polled often. */
const poll = { minMs: 250, maxMs: 2_000 };

/** An abort without effect is asked for again: Nova may have lost it. */
const askAgainMs = 10_000;

/** Where it works, an abort takes seconds. */
const abortDeadlineMs = 120_000;

/** Statuses in which Nova takes an abort since microversion 2.65; it refuses one in post-copy. */
const abortable: readonly string[] = ['queued', 'preparing', 'running'];

/**
 * Aborts a live migration and waits until it is over, however it then ends: one that is past the point of return
 * completes. One that does not end is `stuck`: Nova takes the request, and a nova-compute that is dead, or busy with
 * the guest's arrival, never acts on it. Safe to repeat and to run twice at once.
 *
 * @throws MigrationNotFound, Stopped
 * @see Compute API, "Delete (Abort) Migration", microversion 2.65
 */
export async function abortMigration(tools: EndTools, request: EndRequest): Promise<MigrationEnd> {
  const { nova, scope, clock } = tools;
  let askedAtMs = -Infinity;
  return endMigration(tools, request, abortDeadlineMs, async (migration) => {
    if (!abortable.includes(migration.status) || clock.now() - askedAtMs < askAgainMs) return;
    const abort = (): Promise<Accepted> => nova.abortMigration(request.instanceId, request.migrationId, scope.signal);
    // Refused: it has moved on. The next observation shows where to, and asks again if it can still be aborted there.
    if (
      await change(tools, request, migration, 'abortMigration', abort, ['MigrationNotFound', 'MigrationNotAbortable'])
    )
      askedAtMs = clock.now();
  });
}

/**
 * Confirms a cold migration (or a resize, where a person consented) and waits until the source is free. Only the
 * migration that the caller names is confirmed: a server waits in one at a time. Safe to repeat and to run
 * twice at once.
 *
 * @throws MigrationNotFound, Stopped
 * @see Compute API, "Confirm Resized Server"
 */
export async function confirmMigration(tools: EndTools, request: EndRequest): Promise<MigrationEnd> {
  const { nova, scope } = tools;
  return endMigration(tools, request, Infinity, async (migration) => {
    if (migration.status !== 'finished') return;
    const instance = await nova.server(request.instanceId, scope.signal);
    // Right after `finished` the server is still busy, and right after a confirmation it is in VERIFY_RESIZE no more.
    if (instance?.vmState !== 'resized' || instance.taskState !== null) return;
    const confirm = (): Promise<Accepted> => nova.confirmResize(request.instanceId, scope.signal);
    await change(tools, request, migration, 'confirmMigration', confirm, [
      'InstanceNotFound',
      'InstanceBusy',
      'InstanceStateRefused',
    ]);
  });
}

/**
 * Makes Nova finish a live migration that runs, by pausing the server or by post-copy. Safe to repeat: one that is over,
 * or whose guest runs on its target, stays so.
 *
 * @throws MigrationNotFound, Stopped; MigrationRefused it is not `running`
 * @see Compute API, "Force Migration Complete Action"
 */
export async function forceCompleteMigration(tools: EndTools, request: EndRequest): Promise<void> {
  const { nova, scope } = tools;
  const { instanceId, migrationId } = request;
  const migration = await nova.migration(instanceId, migrationId, scope.signal);
  if (migration === null)
    throw droverFailure('MigrationNotFound', `Nova has no migration ${migrationId} of server ${instanceId}`);
  if (hasEnded(migration) || hasSwitchedOver(migration)) return;
  await change(
    tools,
    request,
    migration,
    'forceCompleteMigration',
    () => nova.forceCompleteMigration(instanceId, migrationId, scope.signal),
    ['MigrationNotFound'],
  );
}

/**
 * @param deadlineMs from the first observation; one that is not over by then is `stuck`, as it is at the
 * activity's own deadline
 */
async function endMigration(
  tools: EndTools,
  request: EndRequest,
  deadlineMs: number,
  act: (migration: Migration) => Promise<void>,
): Promise<MigrationEnd> {
  const { instanceId, sourceHost, eviction, attempt, migrationId } = request;
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
    isOver: hasEnded,
    judge: ({ sinceMs }, _migration, nowMs) => (nowMs - sinceMs >= deadlineMs ? 'TooLong' : null),
    onObserved: async (migration) => {
      await act(migration);
      reporter.show(migration);
    },
  });
  const end = await concludeMigration(tools, sourceHost, followed);
  await reporter.finish(followed?.migration ?? null, describeEnd(end));
  return end;
}

function describeEnd({ status, stuck, message }: MigrationEnd): string | null {
  if (stuck !== null) return 'Nova does not end it';
  return status === 'cancelled' ? 'Aborted' : message;
}

/** One change of a migration. False when Nova says that it has moved on. */
async function change(
  tools: EndTools,
  request: EndRequest,
  before: Migration,
  action: string,
  send: () => Promise<Accepted>,
  movedOn: readonly ErrorCode[],
): Promise<boolean> {
  try {
    const { instanceId, migrationId, eviction } = request;
    const { status, targetHost } = before;
    await mutate(
      tools,
      {
        action,
        cause: `eviction ${eviction.name}`,
        object: `server/${instanceId}/migration/${migrationId}`,
        before: { status, targetHost },
        after: { requested: action },
      },
      send,
    );
    return true;
  } catch (error) {
    const code = failureCode(error);
    if (code !== null && movedOn.includes(code)) return false;
    throw error;
  }
}
