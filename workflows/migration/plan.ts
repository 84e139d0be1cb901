import type { Consent } from '../../contracts/eviction/eviction.ts';
import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import { busyWith } from '../../contracts/eviction/instance.ts';
import type { InstanceObservation, MigrationEnd } from '../../contracts/eviction/migrate-instance.ts';

/** What is asked of one server. */
export interface Wish {
  sourceHost: string;
  consent: readonly Consent[];
  /** A person accepted the obstacles of this server. */
  accepted: boolean;
  maxAttempts: number;
}

/** How far it has come: the last look, and what this run has done so far. */
export interface Progress {
  observation: InstanceObservation;
  /** Attempts to move it that were begun. */
  attempts: number;
  /** How many of them got stuck. */
  stuckAttempts: number;
  /** A migration was asked for, and it is not known whether it began. */
  asked: boolean;
  /** The last attempt's end, until a new one begins. */
  lastEnd: MigrationEnd | null;
  /** Nova's words, when it refused the last attempt at once. */
  refusal: string | null;
  /** Id of the cold migration that this run started and that waits for its confirmation. */
  ownCold: number | null;
  /** Nova was told to finish the copy of the migration with this id. */
  forced: number | null;
  /** The run has waited for a busy server until the deadline. */
  waitedIdle: boolean;
}

export type Move =
  | { do: 'migrateLive' }
  | { do: 'migrateCold' }
  /** A migration is in progress, whoever started it. */
  | { do: 'awaitMigration'; migration: Migration }
  | { do: 'abort'; migration: Migration }
  | { do: 'forceComplete'; migration: Migration }
  | { do: 'confirm'; migrationId: number }
  /** Another operation holds the server. */
  | { do: 'awaitIdle' }
  | { do: 'end'; outcome: 'moved' | 'gone' | 'nonMigratable'; message: string | null };

const end = (outcome: 'moved' | 'gone' | 'nonMigratable', message: string | null = null): Move => ({
  do: 'end',
  outcome,
  message,
});

/**
 * Decides the next move for one server. Pure; each branch is a row of the table test.
 * Source: seed 001 "VM Migration" and "Timeout Handling"; design section 5, step 4; hazards H4 to H8 of the replaced operator.
 */
export function planMove(wish: Wish, progress: Progress): Move {
  const { instance, migration } = progress.observation;
  if (instance === null) return end('gone');
  if (migration !== null && !awaitsConfirmation(migration)) return planInProgress(wish, progress, migration);
  if (instance.status === 'VERIFY_RESIZE') return planConfirmation(wish, progress, instance, migration);
  const busy = busyWith(instance);
  if (busy !== null) return planBusy(progress, busy);
  if (instance.host !== null && instance.host !== wish.sourceHost) return end('moved');
  return planAtRest(wish, progress, instance);
}

/** The record of a cold migration ends its own part in `finished`: the rest is a confirmation. */
const awaitsConfirmation = (migration: Migration): boolean => migration.status === 'finished';

function planInProgress(wish: Wish, progress: Progress, migration: Migration): Move {
  const stuck = progress.lastEnd?.stuck ?? null;
  if (stuck === null) return { do: 'awaitMigration', migration };
  // Nova aborts live migrations only; a cold move runs to its end and is a person's to judge.
  if (migration.type !== 'live-migration')
    return end('nonMigratable', `${migration.type} ${migration.id} is stuck (${stuck}); Nova cannot abort it`);
  const mayForce = wish.consent.includes('force-complete') && progress.stuckAttempts > 1;
  if (mayForce && stuck !== 'NotStarted' && progress.forced !== migration.id) return { do: 'forceComplete', migration };
  return { do: 'abort', migration };
}

function planConfirmation(wish: Wish, progress: Progress, instance: Instance, migration: Migration | null): Move {
  if (progress.ownCold !== null) return { do: 'confirm', migrationId: progress.ownCold };
  // Somebody else's resize holds the old disks on the source: confirming it takes their way back away.
  if (wish.accepted && migration !== null) return { do: 'confirm', migrationId: migration.id };
  if (instance.host === wish.sourceHost)
    return end('nonMigratable', 'resized and not confirmed: confirm or revert the resize');
  return end(
    'nonMigratable',
    'moved off by a resize that somebody has to confirm or revert; until then the host keeps its old disks',
  );
}

function planBusy(progress: Progress, busy: string): Move {
  if (!progress.waitedIdle) return { do: 'awaitIdle' };
  return end('nonMigratable', `busy for too long: ${busy}`);
}

function planAtRest(wish: Wish, progress: Progress, instance: Instance): Move {
  // Refused again in a state that should have allowed it: Nova's words are the best there is.
  if (progress.refusal !== null) return end('nonMigratable', progress.refusal);
  const last = progress.lastEnd?.message ?? null;
  switch (instance.vmState) {
    case 'active':
    case 'paused': {
      const failedForGood = progress.attempts >= wish.maxAttempts || progress.stuckAttempts > 1;
      if (!failedForGood) return { do: 'migrateLive' };
      const mayStop =
        wish.consent.includes('cold-migrate') && instance.vmState === 'active' && progress.attempts <= wish.maxAttempts;
      if (mayStop) return { do: 'migrateCold' };
      return end('nonMigratable', last ?? `did not move in ${progress.attempts} attempts`);
    }
    case 'stopped':
      return progress.attempts < wish.maxAttempts
        ? { do: 'migrateCold' }
        : end('nonMigratable', last ?? `did not move in ${progress.attempts} attempts`);
    case 'error':
      return end('nonMigratable', `in ERROR: ${instance.fault ?? last ?? 'Nova gives no reason'}`);
    default:
      return end('nonMigratable', `Nova moves no server that is ${instance.vmState}`);
  }
}
