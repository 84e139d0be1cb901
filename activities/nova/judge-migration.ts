import type { StuckLimits } from '../../contracts/eviction/eviction.ts';
import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import { endedMigrationStatuses, postCopyStatus } from '../../contracts/eviction/instance.ts';
import type { NovaClient } from './types.ts';

/**
 * What a wait keeps of a migration from one observation to the next; heartbeat details, so that it survives the worker.
 * Times: ms since the epoch.
 */
export interface MigrationWatch {
  /** First observation: the clock of accepted, queued and preparing. */
  sinceMs: number;
  /** First observation that found it running: the clock of the copy. */
  runningSinceMs: number | null;
  /** The copy's size and the fewest bytes that ever remained; null while Nova has not reported them. */
  totalBytes: number | null;
  lowBytes: number | null;
  /** When that low was reached. */
  lowSinceMs: number | null;
}

export type Stuck = 'NotStarted' | 'NoProgress' | 'TooLong';

export const beginWatch = (nowMs: number): MigrationWatch => ({
  sinceMs: nowMs,
  runningSinceMs: null,
  totalBytes: null,
  lowBytes: null,
  lowSinceMs: null,
});

/**
 * Before the copy: waiting for the scheduler, for Nova's queue of one at a time per host, for the target.
 * `pre-migrating` is a cold one's.
 */
const beforeTheCopy: readonly string[] = ['accepted', 'queued', 'preparing', 'pre-migrating'];

/** Whether a record is over for good; a cold migration in `finished` waits for its confirmation. */
export const hasEnded = ({ status }: Pick<Migration, 'status'>): boolean =>
  (endedMigrationStatuses as readonly string[]).includes(status);

/**
 * How long a record of a server without a task must not have been written until it counts as abandoned: clocks may
 * differ, and Nova may be slow.
 */
const abandonedAfterMs = 10 * 60_000;

/** Whether the guest runs on its target already: nothing is left to be copied that a limit of progress could be about. */
export const hasSwitchedOver = ({ status }: Pick<Migration, 'status'>): boolean =>
  status === postCopyStatus || status === 'post-migrating';

/**
 * Whether nothing works on a migration any more, whatever its record says. Nova holds the server by its task from the
 * request to the end, and writes the record every few seconds while it copies. A nova-compute that was restarted takes
 * the task away and leaves the record as it is, for ever; so does an operator who resets the server's state, also
 * that of a resize that waited for its owner. Such a resize has no task, and waits as long as the server is `resized`.
 */
export const isAbandoned = (
  migration: Migration,
  server: Pick<Instance, 'taskState' | 'vmState'> | null,
  nowMs: number,
): boolean =>
  mayBeAbandoned(migration, nowMs) &&
  (server === null ||
    (server.taskState === null && !(server.vmState === 'resized' && ofResizedServer.includes(migration.status))));

/** What the record of a cold migration says from its copy to its confirmation or its way back. */
const ofResizedServer: readonly string[] = ['finished', 'confirming', 'reverting'];

/** Whether it is worth asking for its server. An evacuation is the host's failure to end. */
export const mayBeAbandoned = ({ type, status, createdAt, updatedAt }: Migration, nowMs: number): boolean =>
  type !== 'evacuation' && !hasEnded({ status }) && nowMs - Date.parse(updatedAt ?? createdAt) >= abandonedAfterMs;

/** Adds one observation. Null counters (another API answered) leave what is known. */
export function watchMigration(watch: MigrationWatch, migration: Migration, nowMs: number): MigrationWatch {
  if (beforeTheCopy.includes(migration.status)) return watch;
  const running = { ...watch, runningSinceMs: watch.runningSinceMs ?? nowMs };
  const remaining = sum(migration.memoryRemainingBytes, migration.diskRemainingBytes);
  if (remaining === null) return running;
  const totalBytes = sum(migration.memoryTotalBytes, migration.diskTotalBytes) ?? watch.totalBytes;
  const isNewLow = watch.lowBytes === null || remaining < watch.lowBytes;
  return isNewLow ? { ...running, totalBytes, lowBytes: remaining, lowSinceMs: nowMs } : { ...running, totalBytes };
}

const sum = (memory: number | null, disk: number | null): number | null =>
  memory === null && disk === null ? null : (memory ?? 0) + (disk ?? 0);

/**
 * Whether a migration in progress is stuck. The clock starts at `running`, because Nova queues migrations for as long
 * as it likes; what comes before has its own deadline. Progress is a new low of the bytes that remain: a guest that
 * writes faster than the network copies makes Nova's counters go up and down for ever
 * (docs/charts/eviction.md#one-server).
 *
 * @param gibibytes memory plus disk that is copied
 */
export function judgeMigration(
  watch: MigrationWatch,
  migration: Migration,
  gibibytes: number,
  limits: StuckLimits,
  nowMs: number,
): Stuck | null {
  if (hasEnded(migration) || migration.status === 'finished') return null;
  if (watch.runningSinceMs === null) return nowMs - watch.sinceMs >= limits.startMs ? 'NotStarted' : null;
  if (nowMs - watch.runningSinceMs >= Math.max(limits.floorMs, gibibytes * limits.msPerGiB)) return 'TooLong';
  if (hasSwitchedOver(migration) || watch.lowSinceMs === null) return null;
  return nowMs - watch.lowSinceMs >= limits.noProgressMs ? 'NoProgress' : null;
}

/** Time left at the speed so far; null before two observations show any. */
export function estimateTimeLeftMs(
  { runningSinceMs, totalBytes, lowBytes, lowSinceMs }: MigrationWatch,
  nowMs: number,
): number | null {
  if (runningSinceMs === null || totalBytes === null || lowBytes === null || lowSinceMs === null) return null;
  const copied = totalBytes - lowBytes;
  const took = lowSinceMs - runningSinceMs;
  if (copied <= 0 || took <= 0) return null;
  return (lowBytes / copied) * took - (nowMs - lowSinceMs);
}

/**
 * Those that a nova-compute works on. Asks for the servers of the few that were not written for long; one whose server
 * is gone is over.
 */
export async function withoutAbandoned(
  nova: Pick<NovaClient, 'server'>,
  migrations: readonly Migration[],
  nowMs: number,
  signal: AbortSignal,
): Promise<Migration[]> {
  const isLeft = await Promise.all(
    migrations.map(
      async (migration) =>
        mayBeAbandoned(migration, nowMs) &&
        isAbandoned(migration, await nova.server(migration.instanceId, signal), nowMs),
    ),
  );
  return migrations.filter((_, index) => isLeft[index] !== true);
}
