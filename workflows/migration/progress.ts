import { busyWith, postCopyStatus } from '../../contracts/eviction/instance.ts';
import type {
  ColdRequest,
  InstanceObservation,
  MigrateInstanceInput,
  MigrateInstanceResult,
  MigrationEnd,
  MigrationStart,
  MigrationSubject,
} from '../../contracts/eviction/migrate-instance.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { Progress, Desired } from './plan.ts';

/**
 * What a run knows of its server, and what the result of each step changes in it. Pure but for the progress
 * that is given.
 */

/**
 * The parent has just observed the server, so the first step needs no observation, but where it is resized or locked:
 * every ensure verb observes first anyway.
 */
export function beginProgress({ instance, sourceHost }: MigrateInstanceInput): Progress {
  return {
    observation: { instance: { ...instance, host: sourceHost }, migration: null },
    attempts: 0,
    stuckAttempts: 0,
    coldAttempts: 0,
    asked: false,
    lastEnd: null,
    trouble: null,
    refusal: null,
    coldAsked: null,
    ownCold: null,
    forced: null,
    waitedIdle: false,
    givenBack: 0,
  };
}

/**
 * A request was answered. The id of a cold migration is the proof that the resize to be confirmed later
 * is drover's own.
 */
export function applyStart(
  progress: Progress,
  how: 'live' | 'cold',
  start: Exclude<MigrationStart, { outcome: 'targetsBusy' }>,
  source: Source,
): void {
  progress.givenBack = start.outcome === 'changed' ? progress.givenBack + 1 : 0;
  if (start.outcome === 'changed') recognise(progress, start.observation, source);
  progress.coldAsked = null;
  if (how === 'cold' && start.outcome === 'started') {
    progress.ownCold = start.migration.id;
    progress.coldAttempts += 1;
  }
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
      progress.refusal = { how, message: start.message };
      return;
  }
}

/** The request for a cold migration has failed for good, and may have begun one. */
export function applyLostStart(progress: Progress, request: ColdRequest | null): void {
  progress.coldAsked = request;
}

/** No target had room before the deadline. */
export function applyNoRoom(progress: Progress, { settings: { perTarget, targetBusyMs } }: MigrateInstanceInput): void {
  const message = `every possible target had ${perTarget} migrations in progress for ${Math.round(targetBusyMs / 1000)} s`;
  progress.refusal = { how: null, message };
}

export function applyMigrationEnd(progress: Progress, end: MigrationEnd): void {
  progress.observation = end.observation;
  progress.givenBack = 0;
  progress.lastEnd = end;
  const { migration } = end.observation;
  if (end.stuck === null) {
    // One that failed leaves nothing to confirm.
    if (end.status !== 'finished') progress.ownCold = null;
    return;
  }
  progress.stuckAttempts += 1;
  if (migration === null) return;
  const { vainAborts } = troubleWith(progress, migration.id);
  progress.trouble = {
    migrationId: migration.id,
    stuck: end.stuck,
    vainAborts,
    ...(migration.status === postCopyStatus && { inPostCopy: true }),
  };
}

/** Nova has ended the migration, or not within the time that an abort may take. */
export function applyAbort(progress: Progress, migrationId: number, end: MigrationEnd): void {
  const trouble = troubleWith(progress, migrationId);
  progress.observation = end.observation;
  if (end.stuck === null) {
    progress.trouble = null;
    progress.lastEnd = { ...end, message: end.message ?? stuckSentence[trouble.stuck ?? 'TooLong'] };
  } else progress.trouble = { ...trouble, vainAborts: trouble.vainAborts + 1 };
}

const troubleWith = ({ trouble }: Progress, migrationId: number): Exclude<Progress['trouble'], null> =>
  trouble?.migrationId === migrationId ? trouble : { migrationId, stuck: null, vainAborts: 0 };

const stuckSentence = {
  NotStarted: 'stuck: the migration was queued for too long, and was aborted',
  NoProgress: 'stuck: the copy made no progress (the guest may write faster than the network copies), and was aborted',
  TooLong: 'stuck: the copy took longer than its size allows, and was aborted',
} as const;

export function applyForcedCompletion(progress: Progress, migrationId: number): void {
  progress.forced = migrationId;
  progress.lastEnd = null;
  progress.trouble = { ...troubleWith(progress, migrationId), stuck: null };
}

export function applyConfirmation(progress: Progress, end: MigrationEnd): void {
  applyMigrationEnd(progress, end);
  progress.ownCold = null;
}

export function applyIdleWait(progress: Progress, observation: InstanceObservation, source: Source): void {
  recognise(progress, observation, source);
  progress.observation = observation;
  progress.givenBack = 0;
  progress.waitedIdle = observation.instance !== null && busyWith(observation.instance) !== null;
}

/**
 * The server was observed again, as it may not be as it was. What is known of a migration that gives
 * trouble outlives that.
 */
export function applyObservation(progress: Progress, observation: InstanceObservation, source: Source): void {
  recognise(progress, observation, source);
  progress.observation = observation;
  progress.lastEnd = null;
  progress.asked = false;
}

type Source = Pick<MigrateInstanceInput, 'sourceHost'>;

/** Where the answer to a request for a cold migration was lost, its record is drover's own. Nova may make it late. */
function recognise(progress: Progress, { migration }: InstanceObservation, { sourceHost }: Source): void {
  const { coldAsked } = progress;
  const isNew = coldAsked !== null && migration !== null && !coldAsked.known.includes(migration.id);
  if (isNew && migration.type === 'migration' && migration.sourceHost === sourceHost) progress.ownCold = migration.id;
}

/** Whether a migration may be going on that this run has to see to. */
export const mayBeInFlight = ({ asked, observation }: Progress): boolean => asked || observation.migration !== null;

export function resultOf(
  { observation, attempts }: Progress,
  { outcome, message, inFlight, obstacle }: Omit<MigrateInstanceResult, 'targetHost' | 'attempts'>,
): MigrateInstanceResult {
  const targetHost = outcome === 'moved' ? (observation.instance?.host ?? null) : null;
  return { outcome, targetHost, attempts, message, inFlight, ...(obstacle !== undefined && { obstacle }) };
}

/** A wait ends by its own verdict; Temporal's time-out only catches a wait that never comes to one. */
const slackMs = 120_000;

export const desiredOf = ({
  sourceHost,
  consent,
  accepted,
  mayMoveLocked = true,
  settings,
}: MigrateInstanceInput): Desired => ({
  sourceHost,
  consent,
  accepted,
  mayMoveLocked,
  maxAttempts: settings.maxAttempts,
});

export const subjectOf = (
  { instance, sourceHost, eviction }: MigrateInstanceInput,
  { attempts }: Progress,
): MigrationSubject => ({
  instanceId: instance.id,
  sourceHost,
  eviction,
  attempt: Math.max(1, attempts),
});

/** What a live migration copies: the memory, and the disks that lie on the host. */
export const copiedGiB = ({ instance }: MigrateInstanceInput): number =>
  instance.memoryMiB / 1024 + instance.localDiskGiB;

/** The longest a migration can take before the wait judges it stuck. */
export function migrationWaitMs(input: MigrateInstanceInput): number {
  const { startMs, floorMs, msPerGiB } = input.settings.stuck;
  return Math.ceil(startMs + Math.max(floorMs, copiedGiB(input) * msPerGiB) + slackMs);
}

/** Doubles with each attempt that went wrong, and with each start that was given back though it was planned anew. */
export const retryDelayMs = (
  { settings }: MigrateInstanceInput,
  { attempts, givenBack }: Pick<Progress, 'attempts' | 'givenBack'>,
): number =>
  Math.max(
    attempts === 0 ? 0 : settings.retryDelayMs * 2 ** (attempts - 1),
    // A server that has changed once is like any other.
    givenBack < 2 ? 0 : retryAfterMs(givenBack - 1),
  );
