import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  condition,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { ErrorCode } from '../../contracts/errors.ts';
import { onTimeReasons } from '../../contracts/eviction/conditions.ts';
import { migrationId } from '../../contracts/ids.ts';
import { kubernetesWait, nova, novaSurvey } from '../lib/activities.ts';
import { initialAttributes } from '../lib/attributes.ts';
import { explain, isOutOfTime, type Problem } from '../lib/failures.ts';
import { deadlineTimer } from '../lib/timer.ts';
import { migrateInstance } from '../migration/migrate-instance.ts';
import { allowanceReporter, expireAllowance } from './allowance.ts';
import { describeMargin, judgeMargin } from './deadline.ts';
import { endPhaseOf, type EvictionStep, planRun } from './plan.ts';
import {
  addEvent,
  addNotReEnabled,
  enterPhase,
  type EvictionRun,
  publishNow,
  readEviction,
  reportProblem,
  showDetails,
  statusPublisher,
  wake,
  whileWanted,
} from './run.ts';
import {
  applyEnableFailure,
  applyHostRecheck,
  applyMovedElsewhere,
  applyMoveResult,
  applyMoveStart,
  applyPreflight,
  disabledReasonOf,
  enterState,
  mayConfirmResize,
  mayMoveLocked,
  type TrackedInstance,
} from './state.ts';

/** A stop is lifted by a user; the run asks again at least once a day. */
const stopWaitMs = 24 * 60 * 60_000;

/** A run this old continues as new, so that none is older than the release before last. */
const oldMs = 24 * 60 * 60_000;

/** Waiting does not mend these: a user has to change what was asked for. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'HostNotFound',
  'HostAmbiguous',
  'HostDown',
  'InvalidInput',
  'InvalidObject',
  'ModeOff',
  'CauseNotSupported',
]);

/** Reasons of waits that last, and that a user can end: the Eviction must not go on saying what was done before. */
const lasting: ReadonlySet<string> = new Set(['HostDown', 'TriedAgain', 'SlotsHeld']);

export const isFinal = ({ code }: Problem): boolean => code !== null && finalCodes.has(code);

/**
 * Whether a step that failed ends the run. Not while servers move, which the end would cancel: the step is tried again
 * when they have arrived.
 */
export const endsRun = (problem: Problem, inFlight: number): boolean => inFlight === 0 && isFinal(problem);

/**
 * Interprets the plan until the eviction has ended, or the run is to continue as new and nothing is in flight. It is a
 * loop of its own, as most plans are made from what the run knows, without an observation, and one timer serves the
 * plan, the reports to the allowance and the status, which are made beside the steps.
 */
export async function drive(run: EvictionRun): Promise<'ended' | 'old'> {
  const { state, inbox } = run;
  const timer = deadlineTimer('Plan again');
  const publisher = statusPublisher(run);
  const allowance = allowanceReporter(run);
  try {
    while (state.end === null) {
      const { wakeUps } = inbox;
      expireAllowance(run);
      const situation = {
        readDueMs: run.readDueMs,
        marginDueMs: showMargin(run),
        isReportFailing: run.failedReports !== null,
        isOld: workflowInfo().continueAsNewSuggested || Date.now() - run.beganAtMs > oldMs,
        inFlight: run.moves.size,
      };
      const plan = planRun(state, situation, Date.now());
      if (plan.kind === 'execute' && plan.steps[0]?.kind === 'continueAsNew') return 'old';
      if (plan.kind === 'wait') {
        run.waiting = plan;
        if (lasting.has(plan.reason) && run.saidWaiting !== plan.message) run.unpublished = true;
      }
      showDetails(run);
      allowance.reportWhenDue();
      if (plan.kind === 'wait') {
        publisher.publishWhenDue();
        timer.set(earliest(plan.untilMs, allowance.nextMs(), publisher.nextMs()));
        await condition(() => inbox.wakeUps !== wakeUps || timer.due());
        run.waiting = null;
        continue;
      }
      if (plan.kind === 'done') {
        state.end = { phase: endPhaseOf(plan), reason: plan.reason, message: plan.message };
        state.problem = null;
      } else for (const step of plan.steps) await attempt(run, step);
      publisher.publishWhenDue();
    }
    return 'ended';
  } finally {
    timer.set(null);
    await publisher.idle();
    await allowance.leave();
  }
}

/**
 * Says when the margin to the deadline becomes short, and when it passes.
 * @returns when that changes by time alone, Unix ms
 */
function showMargin(run: EvictionRun): number | null {
  const { state } = run;
  const margin = judgeMargin(state, Date.now());
  const verdict = margin?.verdict ?? null;
  if (verdict !== state.margin) {
    state.margin = verdict;
    run.unpublished = true;
    const isBad = verdict !== null && onTimeReasons[verdict] === 'False';
    if (isBad) addEvent(run, 'Warning', verdict, describeMargin(state, Date.now())?.message ?? '');
  }
  return margin?.changesAtMs ?? null;
}

const earliest = (...times: (number | null)[]): number | null => {
  const set = times.filter((time) => time !== null);
  return set.length === 0 ? null : Math.min(...set);
};

async function attempt(run: EvictionRun, step: EvictionStep): Promise<void> {
  try {
    await execute(run, step);
    // A move and a reading of the Eviction say themselves how they end.
    if (step.kind !== 'moveInstance' && step.kind !== 'readEviction') run.state.problem = null;
  } catch (error) {
    await applyFailure(run, step, explain(error));
  }
}

async function applyFailure(run: EvictionRun, step: EvictionStep, problem: Problem): Promise<void> {
  if (endsRun(problem, run.moves.size)) {
    run.state.end = { phase: 'Failed', reason: problem.reason, message: problem.message };
    return;
  }
  reportProblem(run, problem, 'step');
  if (problem.code === 'Stopped') await awaitStopLifted(run, problem.message);
  else if (step.kind === 'enableService') {
    applyEnableFailure(run.state);
    if (run.state.reEnabled === false) addNotReEnabled(run);
  }
}

/**
 * Waits until `drover stop` is lifted, a user asks this run to stop, or its Eviction has changed.
 * @returns whether it is lifted
 */
export async function awaitStopLifted(run: EvictionRun, message: string): Promise<boolean> {
  // Said before the wait: the run and the Eviction must show why nothing moves.
  run.waiting = { message, untilMs: null };
  showDetails(run);
  await publishNow(run, { releaseFinalizer: false }).catch((failure: unknown) => void explain(failure));
  let isLifted: boolean | undefined;
  try {
    isLifted = await whileWanted(run, async () => {
      await kubernetesWait('Wait until `drover stop` is lifted', stopWaitMs).awaitStopLifted();
      return true;
    });
    if (isLifted === true) run.state.problem = null;
  } catch (failure) {
    // It is not known whether the stop is lifted: the next mutation asks again.
    if (!isOutOfTime(failure)) reportProblem(run, explain(failure), 'step');
  }
  run.waiting = null;
  return isLifted === true;
}

async function execute(run: EvictionRun, step: EvictionStep): Promise<void> {
  const { state } = run;
  const { desired, settings } = state;
  const { hypervisor } = desired;
  const isDrift = step.kind === 'disableService' && state.phase !== 'Preflight';
  enterPhase(run, step.phase);
  switch (step.kind) {
    case 'preflight': {
      const request = { hypervisor, evictionUid: desired.uid };
      applyPreflight(state, await novaSurvey(settings.region, step.summary).preflightEviction(request), Date.now());
      break;
    }
    case 'disableService': {
      if (isDrift)
        addEvent(
          run,
          'Warning',
          'ServiceEnabled',
          `The compute service of ${hypervisor} was enabled, and not by drover; drover disables it again`,
        );
      const host = hostOf(run);
      const reason = disabledReasonOf(state);
      host.service = await nova(settings.region, step.summary).ensureServiceDisabled({ host: host.host, reason });
      state.disabledSinceMs ??= Date.now();
      break;
    }
    case 'moveInstance':
      startMove(run, step.instance);
      return;
    case 'observeHost':
      applyHostRecheck(state, await nova(settings.region, step.summary).observeHost({ hypervisor }), Date.now());
      break;
    case 'abortMoves':
      if (state.stop !== null) state.stop.aborted = true;
      // Live migrations are aborted, cold ones run to their end.
      for (const move of run.moves.values()) move.abort();
      return;
    case 'enableService':
      state.reEnabled = await enableService(run, step.summary);
      return;
    case 'readEviction':
      await readEviction(run);
      return;
    case 'clearProblem':
      break;
    case 'continueAsNew':
      return;
  }
  run.unpublished = true;
}

function hostOf({ state }: EvictionRun): NonNullable<EvictionRun['state']['host']> {
  if (state.host === null) throw new Error('planned before the preflight');
  return state.host;
}

/**
 * Enables the compute service where it carries drover's reason.
 * @returns whether it is enabled now
 * @throws as the activity does
 */
export async function enableService({ state }: EvictionRun, summary: string): Promise<boolean> {
  const { host, desired, settings } = state;
  const isEnabled = await nova(settings.region, summary).ensureServiceEnabled({
    host: host?.host ?? desired.hypervisor,
  });
  if (isEnabled && host !== null) host.service = { ...host.service, status: 'enabled', disabledReason: null };
  return isEnabled;
}

/** Starts the child that moves one server, and applies its end whenever that comes. */
function startMove(run: EvictionRun, one: TrackedInstance): void {
  applyMoveStart(one, Date.now());
  run.unpublished = true;
  const scope = new CancellationScope({ cancellable: true });
  const progress = { isStarted: false, isAborted: false };
  const abort = (): void => {
    progress.isAborted = true;
    if (progress.isStarted) scope.cancel();
  };
  run.moves.set(one.instance.id, { abort });
  const moved = scope.run(async () => {
    const child = await startMigration(run, one);
    // A cancel that overtakes the start finds no child, and Temporal does not keep it.
    progress.isStarted = true;
    if (progress.isAborted) scope.cancel();
    return await child.result();
  });
  void moved
    .then(
      (result) => {
        applyMoveResult(run.state, one.instance.id, result, Date.now());
        const { instance, message } = one;
        if (one.state === 'blocked')
          addEvent(
            run,
            'Warning',
            'InstanceNotMigratable',
            `${instance.name} (${instance.id}): ${message ?? 'did not move'}`,
          );
      },
      (error: unknown) => applyMoveFailure(run, one, error),
    )
    .finally(() => {
      run.moves.delete(one.instance.id);
      run.unpublished = true;
      wake(run);
    });
}

function startMigration(
  { state }: EvictionRun,
  { instance }: TrackedInstance,
): Promise<ChildWorkflowHandle<typeof migrateInstance>> {
  const { desired, settings, host } = state;
  return startChild(migrateInstance, {
    workflowId: migrationId(instance.id, settings.cluster),
    args: [
      {
        instance,
        sourceHost: host?.host ?? desired.hypervisor,
        eviction: { name: desired.name, uid: desired.uid },
        consent: desired.consent,
        accepted: mayConfirmResize(state, instance.id),
        mayMoveLocked: mayMoveLocked(state, instance.id),
        settings,
      },
    ],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `Move ${instance.name} off ${desired.hypervisor}`,
    staticDetails: `Server ${instance.id}, ${instance.memoryMiB} MiB, for Eviction ${desired.name}: ${desired.reason}`,
    typedSearchAttributes: initialAttributes({ kind: 'Migration', object: instance.id, host: desired.hypervisor }),
  });
}

/** A failed child concerns Nova as a whole: its server waits, and so does the eviction. */
function applyMoveFailure(run: EvictionRun, one: TrackedInstance, error: unknown): void {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return applyMovedElsewhere(one, run.state, Date.now());
  const problem = explain(error);
  enterState(one, 'pending', Date.now(), problem.message);
  if (run.state.stop === null) reportProblem(run, problem, 'step');
}
