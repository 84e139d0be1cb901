import { busyWith } from '../../contracts/eviction/instance.ts';
import type {
  InstanceObservation,
  MigrateInstanceInput,
  MigrateInstanceResult,
  MigrationEnd,
  MigrationStart,
} from '../../contracts/eviction/migrate-instance.ts';
import type { Progress } from './plan.ts';

/** What the answer to each move changes in what the run knows of its server. Pure but for the progress that is given. */

/** The parent has just looked at the server, so the first move needs no look of its own: every ensure verb looks first anyway. */
export function beginProgress({ instance, sourceHost }: MigrateInstanceInput): Progress {
  return {
    observation: { instance: { ...instance, host: sourceHost }, migration: null },
    attempts: 0,
    stuckAttempts: 0,
    asked: false,
    lastEnd: null,
    refusal: null,
    ownCold: null,
    forced: null,
    waitedIdle: false,
  };
}

/** A request was answered. The id of a cold migration is the proof that the resize to be confirmed later is drover's own. */
export function startAnswered(
  progress: Progress,
  kind: 'live' | 'cold',
  start: Exclude<MigrationStart, { outcome: 'targetsBusy' }>,
): void {
  if (kind === 'cold') progress.ownCold = start.outcome === 'started' ? start.migration.id : null;
  switch (start.outcome) {
    case 'started':
      progress.attempts += 1;
      progress.lastEnd = null;
      progress.observation = { ...progress.observation, migration: start.migration };
      return;
    case 'changed':
      progress.observation = start.observation;
      return;
    case 'refused':
      progress.attempts += 1;
      progress.refusal = start.message;
      return;
  }
}

/** No target had room before the deadline. */
export function foundNoRoom(progress: Progress, { settings: { perTarget, targetBusyMs } }: MigrateInstanceInput): void {
  progress.refusal = `every possible target had ${perTarget} migrations in progress for ${Math.round(targetBusyMs / 1000)} s`;
}

export function migrationEnded(progress: Progress, end: MigrationEnd): void {
  progress.observation = end.observation;
  progress.lastEnd = end;
  if (end.stuck !== null) progress.stuckAttempts += 1;
}

export function migrationAborted(progress: Progress, end: MigrationEnd): void {
  const stuck = progress.lastEnd?.stuck ?? 'TooLong';
  progress.observation = end.observation;
  progress.lastEnd = { ...end, stuck: null, message: end.message ?? stuckSentence[stuck] };
}

const stuckSentence = {
  NotStarted: 'stuck: the migration was queued for too long, and was aborted',
  NoProgress: 'stuck: the copy made no progress (the guest may write faster than the network copies), and was aborted',
  TooLong: 'stuck: the copy took longer than its size allows, and was aborted',
} as const;

export function completionForced(progress: Progress, migrationId: number): void {
  progress.forced = migrationId;
  progress.lastEnd = null;
}

export function moveConfirmed(progress: Progress, end: MigrationEnd): void {
  progress.observation = end.observation;
  progress.lastEnd = end;
  progress.ownCold = null;
}

export function idleAwaited(progress: Progress, observation: InstanceObservation): void {
  progress.observation = observation;
  progress.waitedIdle = observation.instance !== null && busyWith(observation.instance) !== null;
}

/** The server was not as it was thought to be, and was looked at again. */
export function lookedAgain(progress: Progress, observation: InstanceObservation): void {
  progress.observation = observation;
  progress.lastEnd = null;
  progress.asked = false;
}

/** Whether a migration may be going on that this run has to see to. */
export const mayBeInFlight = ({ asked, observation }: Progress): boolean => asked || observation.migration !== null;

export function resultOf(
  { observation, attempts }: Progress,
  outcome: MigrateInstanceResult['outcome'],
  message: string | null,
): MigrateInstanceResult {
  return { outcome, targetHost: outcome === 'moved' ? (observation.instance?.host ?? null) : null, attempts, message };
}
