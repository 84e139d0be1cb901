import type { ErrorCode } from '../../contracts/errors.ts';
import type { Consent, Obstacle } from '../../contracts/eviction/eviction.ts';
import { lockedObstacle } from '../../contracts/eviction/eviction.ts';
import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import { busyWith, postCopyStatus } from '../../contracts/eviction/instance.ts';
import type {
  ColdRequest,
  InstanceObservation,
  MigrateInstanceResult,
  MigrationEnd,
} from '../../contracts/eviction/migrate-instance.ts';
import { execute, type Execute, type Step } from '../lib/plan.ts';

/** What the run of one server does next. Pure functions, and each branch is a row of the table tests. */

/** What is asked of one server. */
export interface Desired {
  sourceHost: string;
  consent: readonly Consent[];
  /** A user accepted that its resize is confirmed though drover has not begun it. */
  accepted: boolean;
  /** A user accepted that it is moved though it is locked. */
  mayMoveLocked: boolean;
  maxAttempts: number;
}

/** How far it has come: the last observation, and what this run has done so far. */
export interface Progress {
  observation: InstanceObservation;
  /** Attempts to move it that were begun. */
  attempts: number;
  /** How many of them got stuck. */
  stuckAttempts: number;
  /** How many of them were cold. */
  coldAttempts: number;
  /** A migration was asked for, and it is not known whether it began. */
  asked: boolean;
  /** The last attempt's end, until a new one begins. */
  lastEnd: MigrationEnd | null;
  /** Of a migration that gives trouble, whatever was observed since; null: none does. */
  trouble: Trouble | null;
  /** Why the last attempt was not begun at all, in Nova's words; `how` is null where no target had room for one. */
  refusal: { how: 'live' | 'cold' | null; message: string } | null;
  /** A cold migration was asked for, and the answer was lost for good: what there was before. */
  coldAsked: ColdRequest | null;
  /** Id of the cold migration that this run started and that waits for its confirmation. */
  ownCold: number | null;
  /** Nova was asked to finish the copy of the migration with this id. */
  forced: number | null;
  /** The run has waited for a busy server until the deadline. */
  waitedIdle: boolean;
  /** So often in a row Nova was not asked to move it, as it was not as it had been observed. */
  givenBack: number;
}

/**
 * It stays known while the migration with this id is in progress: an abort that does not end it must not begin the wait
 * for it anew.
 */
interface Trouble {
  readonly migrationId: number;
  /** Why it counts as stuck; null: it does not. */
  readonly stuck: Exclude<MigrationEnd['stuck'], null> | null;
  /** Aborts that have not ended it. */
  readonly vainAborts: number;
  /** It was found stuck when its guest ran on its target already. */
  readonly inPostCopy?: true;
}

export type MigrationStep = Step &
  /** `awaitIdle`: another operation holds the server. */
  (
    | { readonly kind: 'migrateLive' | 'migrateCold' | 'awaitIdle' }
    /** `awaitMigration`: it is in progress, no matter who started it. */
    | { readonly kind: 'awaitMigration' | 'abort' | 'forceComplete'; readonly migration: Migration }
    | { readonly kind: 'confirm'; readonly migrationId: number }
  );

interface MigrationDone {
  readonly kind: 'done';
  readonly outcome: MigrateInstanceResult['outcome'];
  readonly message: string | null;
  /** Id of the migration that Nova still shows in progress; null: none of this run's concern. */
  readonly inFlight: number | null;
  readonly obstacle?: Obstacle;
}

export type MigrationPlan = Execute<MigrationStep> | MigrationDone;

const done = (
  outcome: MigrateInstanceResult['outcome'],
  message: string | null = null,
  inFlight: Migration | null = null,
): MigrationDone => ({ kind: 'done', outcome, message, inFlight: inFlight?.id ?? null });
const begin = ({ name }: Instance, how: 'live' | 'cold'): MigrationPlan =>
  execute([
    {
      kind: how === 'live' ? 'migrateLive' : 'migrateCold',
      summary: `Ask Nova to move ${name} ${how}`,
      phase: 'Starting',
    },
  ]);
const awaitMigration = (migration: Migration, { name }: Instance): MigrationPlan =>
  execute([
    {
      kind: 'awaitMigration',
      summary: `Wait for ${migration.type} ${migration.id} of ${name}`,
      phase: 'Moving',
      migration,
    },
  ]);
const abort = (migration: Migration, { name }: Instance): MigrationPlan =>
  execute([
    { kind: 'abort', summary: `Abort ${migration.type} ${migration.id} of ${name}`, phase: 'Aborting', migration },
  ]);
const confirm = (migrationId: number, { name }: Instance): MigrationPlan =>
  execute([
    { kind: 'confirm', summary: `Confirm cold migration ${migrationId} of ${name}`, phase: 'Confirming', migrationId },
  ]);

export function planMove(desired: Desired, progress: Progress): MigrationPlan {
  const { instance, migration } = progress.observation;
  if (instance === null) return done('gone');
  if (migration !== null && lagsBehind(progress, instance, migration)) return awaitMigration(migration, instance);
  if (migration !== null && !awaitsConfirmation(migration))
    return planInProgress(desired, progress, migration, instance);
  if (instance.status === 'VERIFY_RESIZE') return planConfirmation(desired, progress, instance, migration);
  const busy = busyWith(instance);
  if (busy !== null) return planBusy(progress, busy, instance);
  if (instance.host !== null && instance.host !== desired.sourceHost) return done('moved');
  return planWithoutMigration(desired, progress, instance);
}

/** Whether Nova is at work on a migration, as last observed. */
export const isInProgress = ({ observation: { migration } }: Progress): boolean =>
  migration !== null && !awaitsConfirmation(migration);

/** The record of a cold migration ends its own part in `finished`: the rest is a confirmation. */
const awaitsConfirmation = (migration: Migration): boolean => migration.status === 'finished';

/**
 * Whether it is not known what drover's own cold migration has made of the server: one that is found again after an
 * answer was lost may have run to its end meanwhile, and Nova writes that into the record first. It is waited for once.
 */
const lagsBehind = ({ ownCold, lastEnd }: Progress, { status }: Instance, migration: Migration): boolean =>
  awaitsConfirmation(migration) && ownCold === migration.id && status !== 'VERIFY_RESIZE' && lastEnd === null;

/**
 * A migration that so many aborts have not ended is left to an operator. Each is waited for, and asked
 * for again meanwhile.
 */
const mostAborts = 3;

function planInProgress(desired: Desired, progress: Progress, migration: Migration, instance: Instance): MigrationPlan {
  const { stuck, vainAborts, inPostCopy } = troubleOf(progress, migration);
  if (stuck === null) return awaitMigration(migration, instance);
  if (isPostCopy(migration))
    // What it was stuck with before has nothing to do with what it does now.
    return inPostCopy === true
      ? done('nonMigratable', describePostCopy(migration, instance), migration)
      : awaitMigration(migration, instance);
  // Nova aborts live migrations only; a cold move runs to its end and is an operator's to judge.
  if (migration.type !== 'live-migration')
    return done(
      'nonMigratable',
      describeUnended(migration, instance, `is stuck (${stuck}) and cannot be aborted`),
      migration,
    );
  const isInVain = vainAborts >= mostAborts;
  const mayForce = desired.consent.includes('force-complete') && progress.forced !== migration.id;
  // Past the copy there is nothing that could be forced.
  const isWorthIt = progress.stuckAttempts > 1 || (isInVain && migration.status === 'running');
  if (mayForce && isWorthIt && stuck !== 'NotStarted') {
    const summary = `Make Nova finish migration ${migration.id} of ${instance.name}, as consented`;
    return execute([{ kind: 'forceComplete', summary, phase: 'Moving', migration }]);
  }
  if (isInVain) return done('nonMigratable', describeUnended(migration, instance, inVain(vainAborts)), migration);
  return abort(migration, instance);
}

const troubleOf = ({ trouble }: Progress, { id }: Migration): Omit<Trouble, 'migrationId'> =>
  trouble?.migrationId === id ? trouble : { stuck: null, vainAborts: 0 };

const inVain = (aborts: number): string => `was not ended by ${aborts} aborts`;

/** Nova aborts it no more, and there is nothing to force: the guest has left its source but for its memory. */
const isPostCopy = ({ status }: Migration): boolean => status === postCopyStatus;

/** A guest whose memory is on two hosts is lost with either, and with the connection between them. */
const describePostCopy = (
  { id, type, status, sourceHost, targetHost }: Migration,
  { id: server }: Instance,
): string => {
  const target = targetHost ?? 'its target';
  return (
    `${type} ${id} takes longer than its size allows; Nova shows it as ${status}: ${server} runs on ${target} and fetches its memory from ${sourceHost}. ` +
    `Nothing can abort it. Restart nothing on either host, and leave the server's state as it is, or the guest may be lost: look for what slows the network between them. Then \`drover retry\` it`
  );
};

/** A migration that neither drover nor Nova brings to an end: what Nova shows of it, and what an operator does. */
const describeUnended = (
  { id, type, status, sourceHost, targetHost }: Migration,
  { id: server, taskState }: Instance,
  what: string,
): string =>
  `${type} ${id} from ${sourceHost} to ${targetHost ?? 'no host yet'} ${what}; Nova shows it as ${status}, the server as ${taskState ?? 'idle'}. ` +
  `Read nova-compute's log on ${sourceHost}, and restart it there; where nothing moves any more, \`openstack server set --state active ${server}\`. Then \`drover retry\` it`;

function planConfirmation(
  desired: Desired,
  progress: Progress,
  instance: Instance,
  migration: Migration | null,
): MigrationPlan {
  if (progress.ownCold !== null) return confirm(progress.ownCold, instance);
  // A resize of another client holds the old disks on the source: confirming it takes their way back away.
  if (desired.accepted && migration !== null && troubleOf(progress, migration).stuck === null)
    return confirm(migration.id, instance);
  if (instance.host === desired.sourceHost)
    return done('nonMigratable', 'resized and not confirmed: confirm or revert the resize');
  return done(
    'nonMigratable',
    'moved off by a resize that is not confirmed: confirm or revert it; until then the host keeps its old disks',
  );
}

function planBusy(progress: Progress, busy: string, { name }: Instance): MigrationPlan {
  if (!progress.waitedIdle)
    return execute([{ kind: 'awaitIdle', summary: `Wait until ${name} is idle`, phase: 'WaitingForServer' }]);
  return done('nonMigratable', `busy for too long: ${busy}`);
}

/**
 * One that changes under the run is planned anew. One that is planned the same way this often is seen differently by
 * the step; with the pauses between, what Nova wrote last is old by then.
 */
const mostGivenBack = 8;

function planWithoutMigration(desired: Desired, progress: Progress, instance: Instance): MigrationPlan {
  // Since the preflight, or it has arrived since: that is to be asked as there (docs/rules.md#consent).
  if (instance.locked && !desired.mayMoveLocked) {
    const obstacle = lockedObstacle(instance);
    return { ...done('nonMigratable', obstacle.message), obstacle };
  }
  if (progress.givenBack >= mostGivenBack)
    return done(
      'nonMigratable',
      `was not as it had been observed, ${progress.givenBack} times in a row: see \`openstack server migration list\` and \`openstack server show\` of ${instance.id}. Then \`drover retry\` it`,
    );
  const last = progress.lastEnd?.message ?? null;
  const mayStop =
    desired.consent.includes('cold-migrate') &&
    instance.vmState === 'active' &&
    progress.attempts <= desired.maxAttempts;
  // In a state that should have allowed it: Nova's words are the best there is.
  if (progress.refusal !== null) {
    const { how, message } = progress.refusal;
    if (progress.coldAttempts > 0) return done('nonMigratable', last ?? message);
    return how === 'live' && mayStop ? begin(instance, 'cold') : done('nonMigratable', message);
  }
  switch (instance.vmState) {
    case 'active':
    case 'paused': {
      const failedForGood = progress.attempts >= desired.maxAttempts || progress.stuckAttempts > 1;
      if (!failedForGood) return begin(instance, 'live');
      if (mayStop) return begin(instance, 'cold');
      return done('nonMigratable', last ?? `did not move in ${progress.attempts} attempts`);
    }
    case 'stopped':
      return progress.attempts < desired.maxAttempts
        ? begin(instance, 'cold')
        : done('nonMigratable', last ?? `did not move in ${progress.attempts} attempts`);
    case 'error':
      return done('nonMigratable', `in ERROR: ${instance.fault ?? last ?? 'Nova gives no reason'}`);
    default:
      return done('nonMigratable', `Nova moves no server that is ${instance.vmState}`);
  }
}

/**
 * For a server whose run was cancelled, so that it is left in a described state: back on its source, on its target, or
 * confirmed there. Nova aborts live migrations only, and none in post-copy; a cold one runs to its end. What neither ends is named, and left
 * to an operator: a stop comes to its end.
 */
export function planWindDown({ sourceHost }: Pick<Desired, 'sourceHost'>, progress: Progress): MigrationPlan {
  const { observation, ownCold } = progress;
  const { instance, migration } = observation;
  if (instance === null) return done('gone');
  if (migration !== null && lagsBehind(progress, instance, migration)) return awaitMigration(migration, instance);
  if (migration !== null && !awaitsConfirmation(migration) && migration.sourceHost === sourceHost) {
    const { stuck, vainAborts, inPostCopy } = troubleOf(progress, migration);
    const stopped = (description: string): MigrationPlan =>
      done('stopped', `the move was stopped; ${description}`, migration);
    const leave = (what: string): MigrationPlan => stopped(describeUnended(migration, instance, what));
    if (isPostCopy(migration))
      return inPostCopy === true ? stopped(describePostCopy(migration, instance)) : awaitMigration(migration, instance);
    if (migration.type === 'live-migration')
      return vainAborts < mostAborts ? abort(migration, instance) : leave(inVain(vainAborts));
    // It was waited for as long as its size allows.
    return stuck === null ? awaitMigration(migration, instance) : leave(`is stuck (${stuck}) and cannot be aborted`);
  }
  if (instance.status === 'VERIFY_RESIZE' && ownCold !== null) return confirm(ownCold, instance);
  if (instance.host !== null && instance.host !== sourceHost) return done('moved');
  return done('stopped', 'the move was stopped');
}

/** Losing the race against another client that changes the same server is normal; losing it this often is not. */
const maxSurprises = 10;

/** What only says that the server is not as it was observed. */
const surprising: ReadonlySet<ErrorCode | null> = new Set<ErrorCode>([
  'InstanceBusy',
  'InstanceNotFound',
  'MigrationNotFound',
  'MigrationNotAbortable',
  'MigrationRefused',
]);

/**
 * What a run does after a step has failed.
 *
 * @param run.inProgress a migration is, which Nova may end also while drover is stopped
 * @param run.surprises how many such failures were investigated before
 * @param run.mayFail nothing is in flight, and the run is not cancelled: what concerns Nova as a whole is for the
 * parent to wait out
 * @returns `backOff`: observe after a pause
 */
export function planAfterFailure(
  code: ErrorCode | null,
  { inProgress, surprises, mayFail }: { inProgress: boolean; surprises: number; mayFail: boolean },
): 'awaitStopLifted' | 'observe' | 'backOff' | 'fail' {
  if (code === 'Stopped') return inProgress ? 'backOff' : 'awaitStopLifted';
  if (surprising.has(code) && surprises < maxSurprises) return 'observe';
  return mayFail ? 'fail' : 'backOff';
}
