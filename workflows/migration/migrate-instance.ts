import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type {
  ColdRequest,
  MigrateInstanceInput,
  MigrateInstanceResult,
  MigrationStart,
  MigrationSubject,
} from '../../contracts/eviction/migrate-instance.ts';
import { messages, asSignal, progressQuery } from '../../contracts/messages.ts';
import { kubernetesWait, nova, novaWait } from '../lib/activities.ts';
import { explain, invalidInput, isOutOfTime, lastDetail } from '../lib/failures.ts';
import { count, outcomeOf } from '../lib/metrics.ts';
import { retryAfterMs } from '../lib/retry.ts';
import {
  isInProgress,
  type MigrationPlan,
  type MigrationStep,
  planAfterFailure,
  planMove,
  planWindDown,
  type Progress,
} from './plan.ts';
import {
  applyAbort,
  applyConfirmation,
  applyForcedCompletion,
  applyIdleWait,
  applyLostStart,
  applyMigrationEnd,
  applyNoRoom,
  applyObservation,
  applyStart,
  beginProgress,
  copiedGiB,
  desiredOf,
  mayBeInFlight,
  migrationWaitMs,
  resultOf,
  retryDelayMs,
  subjectOf,
} from './progress.ts';

/** A stop is lifted by a user; the run asks again at least once a day. */
const stopWaitMs = 24 * 60 * 60_000;

/** An abort comes to its own verdict within two minutes; Temporal's time-out only catches one that does not. */
const abortMs = 5 * 60_000;

/** What the query `progress` of this run answers. */
interface MigrateInstanceProgress {
  instanceId: string;
  name: string;
  sourceHost: string;
  attempts: number;
  /** What the run does, as a sentence. */
  doing: string;
  /** RFC 3339: since when. */
  since: string;
}

/** What a run executes plans with. */
interface Course {
  plan: (progress: Progress) => MigrationPlan;
  /** The run was cancelled: it brings what is in flight to an end, however long that takes. */
  cancelled: boolean;
  show: (doing: string) => void;
  /** Waits before the next try; `retryNow` cuts it short. */
  backOff: (failures: number) => Promise<unknown>;
}

/**
 * Moves one server off its host. A child of `evictHypervisor`; its id is the server's lock. It ends when the server is
 * elsewhere, gone, cannot be moved, or the run was cancelled: then a live migration in flight is aborted, and a cold
 * one runs to its end.
 *
 * Fails only with what concerns Nova as a whole (credential, outage), and only while nothing can be in flight: its
 * parent then tries again later. A migration that it began it watches to the end.
 */
export async function migrateInstance(given: MigrateInstanceInput): Promise<MigrateInstanceResult> {
  const input = readMigrateInput(given);
  const { id, name } = input.instance;
  const { sourceHost } = input;
  const progress = beginProgress(input);
  const shown: MigrateInstanceProgress = {
    instanceId: id,
    name,
    sourceHost,
    attempts: 0,
    doing: 'Starting',
    since: new Date().toISOString(),
  };
  const show = (doing: string): void => {
    Object.assign(shown, { doing, attempts: progress.attempts, since: new Date().toISOString() });
    setCurrentDetails(`**${doing}** (attempt ${progress.attempts}, ${name} on ${sourceHost})`);
  };
  let retries = 0;
  const backOff = (failures: number): Promise<unknown> => {
    const before = retries;
    return condition(() => retries !== before, retryAfterMs(failures), { summary: `Observe ${name} again` });
  };
  const retry = (): string => {
    retries += 1;
    return `${name} is observed again now, if the run waits to try again`;
  };
  setHandler(progressQuery<MigrateInstanceProgress>(), () => shown);
  setHandler(messages.retryNow, retry);
  setHandler(asSignal(messages.retryNow), () => void retry());

  try {
    const plan = (now: Progress): MigrationPlan => planMove(desiredOf(input), now);
    return await drive(input, progress, { plan, cancelled: false, show, backOff });
  } catch (error) {
    if (!isCancellation(error)) throw error;
    const plan = (now: Progress): MigrationPlan => planWindDown(input, now);
    return await CancellationScope.nonCancellable(() =>
      drive(input, progress, { plan, cancelled: true, show, backOff }),
    );
  } finally {
    if (!allHandlersFinished()) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}

/** Where a path of the input leads to what the run cannot begin without. */
const needed: readonly [path: readonly string[], type: 'string' | 'object' | 'number' | 'boolean'][] = [
  [['instance', 'id'], 'string'],
  [['instance', 'name'], 'string'],
  [['sourceHost'], 'string'],
  [['eviction', 'name'], 'string'],
  [['eviction', 'uid'], 'string'],
  [['consent'], 'object'],
  [['accepted'], 'boolean'],
  [['settings', 'region'], 'string'],
  [['settings', 'maxAttempts'], 'number'],
  [['settings', 'stuck'], 'object'],
  [['settings', 'poll'], 'object'],
];

/**
 * The input of `migrateInstance` as it came. Its parent gives all of it; a user who starts one by hand learns what to
 * start instead.
 *
 * @throws InvalidInput
 */
export function readMigrateInput(given: unknown): MigrateInstanceInput {
  for (const [path, type] of needed) {
    const value = path.reduce<unknown>((from, key) => (Object(from) as Record<string, unknown>)[key], given);
    if (typeof value === type && value !== null) continue;
    throw invalidInput(
      `The input has no ${path.join('.')}. This run is a child of evictHypervisor: start that one, as in {"hypervisor": "node-1", "reason": "new firmware"}. Nothing was started.`,
    );
  }
  return given as MigrateInstanceInput;
}

/** Interprets the plan until the server's move has ended. Where a step has failed, the server is observed first. */
async function drive(
  input: MigrateInstanceInput,
  progress: Progress,
  { plan, cancelled, show, backOff }: Course,
): Promise<MigrateInstanceResult> {
  const { instance, settings } = input;
  // What waits in a resize is confirmed by the record of that, which the parent has not observed; and a user who has
  // one that is locked tried again may have unlocked it since.
  let isOutdated =
    cancelled || instance.status === 'VERIFY_RESIZE' || (instance.locked && input.mayMoveLocked === false);
  let outages = 0;
  const waitOut = async (message: string, wait = backOff): Promise<void> => {
    outages += 1;
    show(`Waiting to observe it again: ${message}`);
    await wait(outages);
  };
  for (let surprises = 0; ;) {
    try {
      if (isOutdated) {
        const { observeInstance } = nova(settings.region, `Observe ${instance.name} again`);
        applyObservation(progress, await observeInstance({ instanceId: instance.id }), input);
      }
      isOutdated = false;
      const planned = plan(progress);
      if (planned.kind === 'done') {
        show(`${cancelled ? 'Cancelled: ' : ''}${planned.message ?? planned.outcome}`);
        return resultOf(progress, planned);
      }
      for (const step of planned.steps) {
        show(`${cancelled ? 'Cancelled: ' : ''}${step.summary}`);
        await execute(input, progress, step);
      }
      outages = 0;
    } catch (error) {
      if (isCancellation(error)) throw error;
      const { code, message } = explain(error);
      const next = planAfterFailure(code, {
        inProgress: isInProgress(progress),
        surprises,
        mayFail: !cancelled && !mayBeInFlight(progress),
      });
      if (next === 'fail') throw error;
      if (next === 'observe') surprises += 1;
      else if (next === 'awaitStopLifted') await awaitStopLifted(waitOut);
      else if (code === 'Stopped') await waitOut(message, (failures) => untilStopLifted(() => backOff(failures)));
      else await waitOut(message);
      isOutdated = true;
    }
  }
}

const stopLifted = (): Promise<unknown> =>
  kubernetesWait('Wait until `drover stop` is lifted', stopWaitMs).awaitStopLifted();

/** Pauses no longer than until the stop is lifted. Where it is not known whether it is, the pause comes to its end. */
async function untilStopLifted(pause: () => Promise<unknown>): Promise<void> {
  const scope = new CancellationScope();
  const paused = scope.run(pause);
  const lifted = scope.run(stopLifted).catch((failure: unknown) => {
    if (isCancellation(failure)) throw failure;
    return paused;
  });
  try {
    await Promise.race([lifted, paused]);
  } finally {
    // Nothing waits for the other one any more.
    scope.cancel();
  }
}

/**
 * Where the wait fails, it is not known whether the stop is lifted: the next mutation asks again. The run does not end
 * with it, as it alone knows which cold migration is its own to confirm.
 */
async function awaitStopLifted(waitOut: (message: string) => Promise<void>): Promise<void> {
  try {
    await stopLifted();
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    if (!isOutOfTime(failure)) await waitOut(explain(failure).message);
  }
}

/** Executes one step of the plan and applies its result to `progress`. Decides nothing. */
async function execute(input: MigrateInstanceInput, progress: Progress, step: MigrationStep): Promise<void> {
  const { instance, settings } = input;
  const { region, perTarget } = settings;
  const terms = { perTarget, ...(input.mayMoveLocked !== undefined && { mayMoveLocked: input.mayMoveLocked }) };
  const wait = novaWait(region, step.summary, migrationWaitMs(input));
  switch (step.kind) {
    case 'migrateLive':
      return await begin(input, progress, 'live', (subject) =>
        nova(region, step.summary).startLiveMigration({ ...subject, ...terms }),
      );
    case 'migrateCold':
      return await begin(input, progress, 'cold', (subject) =>
        nova(region, step.summary).startColdMigration({ ...subject, ...terms }),
      );
    case 'awaitMigration': {
      if (progress.attempts === 0) progress.attempts = 1;
      const end = await wait.awaitMigration({
        ...subjectOf(input, progress),
        migrationId: step.migration.id,
        gibibytes: copiedGiB(input),
        stuck: settings.stuck,
        poll: settings.poll,
      });
      count('migrations', { type: step.migration.type, outcome: outcomeOf(end) });
      return applyMigrationEnd(progress, end);
    }
    case 'abort': {
      const request = { ...subjectOf(input, progress), migrationId: step.migration.id };
      const abort = novaWait(region, step.summary, abortMs);
      return applyAbort(progress, step.migration.id, await abort.abortMigration(request));
    }
    case 'forceComplete': {
      const request = { ...subjectOf(input, progress), migrationId: step.migration.id };
      await nova(region, step.summary).forceCompleteMigration(request);
      return applyForcedCompletion(progress, step.migration.id);
    }
    case 'confirm': {
      const request = { ...subjectOf(input, progress), migrationId: step.migrationId };
      return applyConfirmation(progress, await wait.confirmMigration(request));
    }
    case 'awaitIdle': {
      const deadlineMs = settings.instanceBusyMs;
      const idle = novaWait(region, step.summary, deadlineMs + settings.stuck.startMs);
      return applyIdleWait(progress, await idle.awaitInstanceIdle({ instanceId: instance.id, deadlineMs }), input);
    }
  }
}

/** One attempt: a pause after earlier ones, the request, and what Nova makes of it. */
async function begin(
  input: MigrateInstanceInput,
  progress: Progress,
  how: 'live' | 'cold',
  request: (subject: MigrationSubject) => Promise<MigrationStart>,
): Promise<void> {
  const delayMs = retryDelayMs(input, progress);
  if (delayMs > 0) await sleep(delayMs, { summary: `Pause before attempt ${progress.attempts + 1}` });
  progress.asked = true;
  // A cancel waits for the answer: what Nova has begun must be known to be aborted or confirmed.
  const start = await CancellationScope.nonCancellable(() =>
    request(subjectOf(input, { ...progress, attempts: progress.attempts + 1 })),
  ).catch((error: unknown) => {
    if (how === 'cold') applyLostStart(progress, readColdRequest(lastDetail(error)));
    throw error;
  });
  progress.asked = false;
  if (start.outcome === 'targetsBusy') return awaitRoom(input, progress);
  if (start.outcome === 'refused')
    count('migrations', { type: how === 'live' ? 'live-migration' : 'migration', outcome: 'refused' });
  applyStart(progress, how, start, input);
}

function readColdRequest(detail: unknown): ColdRequest | null {
  const { known } = Object(detail) as Partial<ColdRequest>;
  return Array.isArray(known) ? { known } : null;
}

async function awaitRoom(input: MigrateInstanceInput, progress: Progress): Promise<void> {
  const { instance, sourceHost, settings } = input;
  const { region, perTarget, targetBusyMs: deadlineMs, stuck } = settings;
  const wait = novaWait(region, `Wait for a target with room for ${instance.name}`, deadlineMs + stuck.startMs);
  if (!(await wait.awaitTargetRoom({ sourceHost, perTarget, deadlineMs }))) applyNoRoom(progress, input);
}
