import { z } from 'zod';

import type { PollIntervals } from '../../contracts/eviction/eviction.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import { type Clock, withTimeout } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { waitFor } from '../lib/wait.ts';
import type { Tools } from './dependencies.ts';
import {
  type MigrationWatch,
  type Stuck,
  beginWatch,
  estimateTimeLeftMs,
  hasEnded,
  watchMigration,
} from './judge-migration.ts';
import type { NovaClient } from './types.ts';

export type FollowTools = Tools & { sharedRead: SharedRead };

export interface Follow {
  instanceId: string;
  migrationId: number;
  poll: PollIntervals;
  /** Whether it is over for the waiting run; a cold one is in `finished`. */
  isOver: (migration: Migration) => boolean;
  /** Gives up on one that is not. */
  judge: (watch: MigrationWatch, migration: Migration, nowMs: number) => Stuck | null;
  /** What else to do after each observation. */
  onObserved?: (migration: Migration) => void | Promise<void>;
  /** What to do while there is time before the next observation. */
  onLeisure?: () => Promise<void>;
}

/**
 * How it ended, or how it stands where it is stuck. Null: the server is gone, and Nova has deleted its
 * migrations with it.
 */
export type Followed = { migration: Migration; stuck: Stuck | null } | null;

/** What survives the worker, as heartbeat details. */
const watchDetails: z.ZodType<MigrationWatch> = z.object({
  sinceMs: z.number(),
  runningSinceMs: z.number().nullable(),
  totalBytes: z.number().nullable(),
  lowBytes: z.number().nullable(),
  lowSinceMs: z.number().nullable(),
});

/** A read with counters costs Nova more than twice one without, and Nova renews them every few seconds. */
const countersEveryMs = 2_000;
const firstCountersMs = 1_000;

/** A wait with less time than this before its next observation has none to spare. */
const leisureMs = 500;

/**
 * Waits on the migration's record, never on the server's status, which lies early
 * (docs/compatibility.md#how-nova-answers).
 *
 * @throws MigrationNotFound Nova has no such record
 * @throws what every observation threw for a minute
 */
export async function followMigration(tools: FollowTools, follow: Follow): Promise<Followed> {
  const { scope, clock } = tools;
  let watch = watchDetails.safeParse(scope.heartbeatDetails).data ?? beginWatch(clock.now());
  let last: Migration | null = null;
  let countersDueMs = Infinity;

  return waitFor<Followed>({
    scope,
    clock,
    details: () => watch,
    async observe() {
      const migration: Migration | null = await read(tools, follow, last, clock.now() >= countersDueMs);
      if (migration === null) return { done: null };
      const nowMs = clock.now();
      watch = watchMigration(watch, migration, nowMs);
      if (nowMs >= countersDueMs) countersDueMs = nowMs + countersEveryMs;
      else if (countersDueMs === Infinity && watch.runningSinceMs !== null)
        countersDueMs = watch.runningSinceMs + firstCountersMs;
      last = withKnownCounters(migration, last);
      if (follow.isOver(migration) || hasEnded(migration)) return { done: { migration, stuck: null } };
      const stuck = follow.judge(watch, migration, nowMs) ?? (nowMs >= scope.deadlineMs ? 'TooLong' : null);
      if (stuck !== null) return { done: { migration, stuck } };
      await follow.onObserved?.(last);
      const runningMs = watch.runningSinceMs === null ? null : nowMs - watch.runningSinceMs;
      const delayMs = pollDelayMs(runningMs, estimateTimeLeftMs(watch, nowMs), follow.poll);
      // Not this wait's own business: it must not fail by it.
      if (delayMs > leisureMs) await follow.onLeisure?.().catch(() => undefined);
      return { againMs: alignedDelayMs(clock.now(), delayMs, follow.poll.minMs) };
    },
  });
}

/** Most reads are without counters; those of an earlier one still say more than nothing. */
export const withKnownCounters = (migration: Migration, last: Migration | null): Migration =>
  last === null || migration.memoryTotalBytes !== null
    ? migration
    : {
        ...migration,
        memoryTotalBytes: last.memoryTotalBytes,
        memoryRemainingBytes: last.memoryRemainingBytes,
        diskTotalBytes: last.diskTotalBytes,
        diskRemainingBytes: last.diskRemainingBytes,
      };

async function read(
  { nova, scope, sharedRead }: FollowTools,
  { instanceId, migrationId }: Follow,
  last: Migration | null,
  wantsCounters: boolean,
): Promise<Migration | null> {
  const counted = wantsCounters ? await nova.serverMigration(instanceId, migrationId, scope.signal) : null;
  if (counted !== null) return counted;
  const migration = await (last === null
    ? nova.migration(instanceId, migrationId, scope.signal)
    : sharedRead(last, scope.signal));
  if (migration === null && (await nova.server(instanceId, scope.signal)) !== null) {
    throw droverFailure('MigrationNotFound', `Nova has no migration ${migrationId} of server ${instanceId}`);
  }
  return migration;
}

/**
 * Share of the time left that passes before the next observation: an estimate wrong by a third still shows the
 * end in time.
 */
const leftShare = 1 / 4;

/** Share of the time gone, so that a first, crude estimate is not trusted for long. */
const goneShare = 1 / 2;

/**
 * Share of the time gone, where the time left is unknown; of the time by which the end is overdue, where that was
 * estimated too early.
 */
const unknownShare = 1 / 20;

/**
 * How long to wait before the next read of a migration: each read costs Nova CPU that the migrations need. Often at the
 * start, where it fails if it fails; then seldom; often again near the expected end, and seldom once that is long past.
 *
 * @param runningMs   how long the copy has been running; null before that
 * @param timeLeftMs  estimated time until its end, 0 or less when overdue; null when unknown
 */
export function pollDelayMs(
  runningMs: number | null,
  timeLeftMs: number | null,
  { minMs, maxMs }: PollIntervals,
): number {
  if (runningMs === null) return minMs;
  return Math.max(minMs, Math.min(wishedMs(runningMs, timeLeftMs), maxMs));
}

function wishedMs(runningMs: number, timeLeftMs: number | null): number {
  if (timeLeftMs === null) return runningMs * unknownShare;
  return timeLeftMs < 0 ? -timeLeftMs * unknownShare : Math.min(timeLeftMs * leftShare, runningMs * goneShare);
}

/**
 * Moves a wake-up to the common grid of all waits, so that waits that are due together share one request.
 *
 * @returns milliseconds from `nowMs`, more than 0 and at most half a grid step away from `delayMs`
 */
export function alignedDelayMs(nowMs: number, delayMs: number, gridMs: number): number {
  const at = Math.ceil((nowMs + delayMs - gridMs / 2) / gridMs) * gridMs;
  return at > nowMs ? at - nowMs : delayMs;
}

/** The latest record of a migration that was read before, without counters; null when Nova has it no more. */
export type SharedRead = (known: Migration, signal: AbortSignal) => Promise<Migration | null>;

/** Waits wake on a common grid, so those that are due ask within this time of each other. */
const gatherMs = 5;
const readTimeoutMs = 10_000;

/** Nova's services need not agree on the time to the second. */
const clockMarginMs = 60_000;

/** What is older asks for itself: a list of all that was written since would be one of the whole region. */
const longestReachMs = 10 * 60_000;

/**
 * One request for all waits that are due at the same moment, instead of one each: what Nova has written since the
 * oldest of theirs was made. A wait that is not in that answer (nothing was written since, or its record is gone) asks
 * for itself, so the answer is never a guess.
 */
export function createSharedRead(nova: NovaClient, clock: Clock): SharedRead {
  let gathering: { known: Migration[]; answer: Promise<Migration[]> } | null = null;

  function join(migration: Migration): Promise<Migration[]> {
    if (gathering !== null) {
      gathering.known.push(migration);
      return gathering.answer;
    }
    const known = [migration];
    // A time-out of its own: the wait that asked first may be cancelled while others wait for the same answer.
    gathering = { known, answer: withTimeout(clock, readTimeoutMs, (signal) => ask(known, signal)) };
    return gathering.answer;
  }

  async function ask(known: readonly Migration[], signal: AbortSignal): Promise<Migration[]> {
    await clock.sleep(gatherMs, signal);
    gathering = null;
    if (known.length === 1) return [];
    const oldestMs = Math.min(...known.map(({ createdAt }) => Date.parse(createdAt)));
    const sinceMs = Math.max(oldestMs, clock.now() - longestReachMs) - clockMarginMs;
    return nova.migrationsChangedSince(new Date(sinceMs).toISOString(), signal);
  }

  return async (known, signal) => {
    const changed = await unlessAborted(join(known), signal);
    return changed.find(({ id }) => id === known.id) ?? nova.migration(known.instanceId, known.id, signal);
  };
}
