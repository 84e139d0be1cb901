import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { EvictionOpened } from '../../contracts/eviction/activities.ts';
import { isErrorCode } from '../../contracts/errors.ts';
import type { EvictionInput, EvictionProgress, EvictionResult } from '../../contracts/eviction/eviction.ts';
import { messages, progressQuery } from '../../contracts/messages.ts';
import { kubernetesWait, temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { readCarried, readInput } from '../lib/input.ts';
import { readGrant } from '../limits/membership.ts';
import { applyGrant } from './allowance.ts';
import { handleCommands } from './commands.ts';
import { awaitStopLifted, drive, enableService, isFinal } from './drive.ts';
import { enableSummary, planReEnable } from './plan.ts';
import {
  addEvent,
  addNotReEnabled,
  backOff,
  beginRun,
  enterPhase,
  type EvictionInbox,
  type EvictionRun,
  openEviction,
  publishNow,
  readEviction,
  reportProblem,
  showDetails,
  wake,
  whileWanted,
} from './run.ts';
import { enableAttempts, type End, type EvictionState, requestStop } from './state.ts';
import { describeProgress, describeResult, progressBeforeOpening } from './status.ts';

/** How long the run waits for its own cancel request to come back before it ends without it. */
const ownCancelMs = 10_000;

/** The wait ends by its own deadline; Temporal's time-out only catches one that does not. */
const slackMs = 60_000;

/**
 * Empties a host: every server is moved off it, and the Eviction says how that went. Started by the bridge when an
 * Eviction changes, by `drover evict`, or by hand with plain JSON under any workflow id; the id `eviction/<host>` is
 * the lock.
 *
 * Cancelling asks for an orderly end (start nothing more, let what is in flight finish), so the whole run stands in a
 * scope that a cancel does not reach; the plan sees the request.
 *
 * @param carried what an earlier run of the same eviction knew, when it continues as new
 */
export async function evictHypervisor(input: EvictionInput, carried?: EvictionState): Promise<EvictionResult> {
  const { hypervisor } = readInput({ kind: 'Hypervisor', input: ['hypervisor'] }, input);
  const inbox: EvictionInbox = {
    run: null,
    changed: false,
    cancelled: false,
    concluded: false,
    ending: false,
    wakeUps: 0,
  };
  handleMessages(inbox, hypervisor);
  return await CancellationScope.nonCancellable(async () => {
    let result: EvictionResult | null = null;
    let failure: ApplicationFailure | null = null;
    for (let state = readCarried(carried); ; state = null) {
      inbox.changed = false;
      inbox.ending = false;
      const ended = inbox.run;
      // What is asked for while the next Eviction is opened is meant for that one.
      inbox.run = null;
      // What it was started with has been served after the first round: what else waits for the host asks for itself.
      const opened = await open(result === null ? input : { hypervisor }, state, inbox);
      if (opened.kind !== 'run') {
        inbox.run = ended;
        await finishHandlers(inbox);
        if (opened.kind === 'handedOver') return handedOver(hypervisor, opened);
        // No await since this was read: what came before it was observed by the activity, what comes now
        // makes another round.
        if (inbox.changed) continue;
        if (failure !== null) throw failure;
        return result ?? nothingToDo(hypervisor);
      }
      const run = beginRun(opened, state, inbox);
      // What its last Eviction has left in flight keeps it a member.
      if (ended !== null && ended.membership.reported !== null) {
        run.membership = ended.membership;
        run.state.allowance = ended.state.allowance;
      }
      inbox.run = run;
      inbox.concluded = false;
      // Both may have come while the Eviction was read, or with the answer: Temporal delivers signals first.
      if (inbox.cancelled) stopForCancel(run);
      if (inbox.changed) run.readDueMs = 0;
      if ((await drive(run)) === 'old') {
        // Events are not carried over.
        if (run.events.length > 0)
          await publishNow(run, { releaseFinalizer: false }).catch((error: unknown) => void explain(error));
        await finishHandlers(inbox);
        await continueAsNew<typeof evictHypervisor>({ hypervisor }, run.state);
      }
      const end = endOf(run.state);
      await conclude(run, end);
      inbox.concluded = true;
      if (end.phase === 'Stopped') return await endAsCancelled(hypervisor, inbox, end);
      result = describeResult(run.state, end);
      await condition(() => inbox.changed, run.state.settings.lingerMs);
      failure = isErrorCode(end.reason)
        ? ApplicationFailure.create({ type: end.reason, message: end.message, nonRetryable: true, details: [result] })
        : null;
      if (failure === null || inbox.changed) continue;
      await finishHandlers(inbox);
      if (!inbox.changed) throw failure;
    }
  });
}

/** Set before the first await, so that nothing that was sent with the start is missed. */
function handleMessages(inbox: EvictionInbox, hypervisor: string): void {
  setHandler(progressQuery<EvictionProgress>(), () =>
    inbox.run === null
      ? progressBeforeOpening(hypervisor, workflowInfo().startTime)
      : describeProgress(inbox.run.state, inbox.run.waiting, Date.now()),
  );
  setHandler(messages.objectChanged, () => {
    inbox.changed = true;
    if (inbox.run !== null) inbox.run.readDueMs ??= 0;
    wake({ inbox });
  });
  setHandler(messages.allowanceGranted, (value) => {
    const granted = readGrant(value);
    if (inbox.run === null || granted === null) return;
    applyGrant(inbox.run, granted);
    wake({ inbox });
  });
  handleCommands(inbox);
  void CancellationScope.current().cancelRequested.catch(() => {
    inbox.cancelled = true;
    if (inbox.run !== null) stopForCancel(inbox.run);
    wake({ inbox });
  });
}

/** Lets every update have its answer before the run ends: Temporal would fail those that are open. */
async function finishHandlers(inbox: EvictionInbox): Promise<void> {
  inbox.ending = true;
  if (!allHandlersFinished()) await condition(allHandlersFinished);
}

/** A cancel by Temporal alone leaves no name. What a command or a deletion asked for before still holds. */
function stopForCancel(run: EvictionRun): void {
  if (run.state.stop === null) addEvent(run, 'Normal', 'Stopping', 'The run was cancelled');
  requestStop(run.state, 'a cancel of the run', Date.now());
}

/**
 * Opens the Eviction, however long Kubernetes is away. What waiting does not mend fails the run with the sentence that
 * says why.
 *
 * @param carried of an eviction that goes on: a bad edit must not end it in the middle, so what it asked for before
 * still holds. It is read again, which says what is wrong
 */
async function open(
  input: EvictionInput,
  carried: EvictionState | null,
  inbox: EvictionInbox,
): Promise<EvictionOpened> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await openEviction(input, carried?.desired.uid ?? null);
    } catch (error) {
      const problem = explain(error);
      if (carried !== null && problem.code === 'InvalidObject') {
        inbox.changed = true;
        const { desired, settings, bootId } = carried;
        return { kind: 'run', desired, settings, bootId };
      }
      if (isFinal(problem)) {
        await finishHandlers(inbox);
        throw ApplicationFailure.create({ type: problem.reason, message: problem.message, nonRetryable: true });
      }
      setCurrentDetails(`**Cannot read the Eviction:** ${problem.message}`);
      if (!inbox.cancelled) await backOff(inbox, failures, 'Try again to read the Eviction');
      if (!inbox.cancelled) continue;
      await finishHandlers(inbox);
      throw new CancelledFailure('Cancelled before the Eviction could be read');
    }
  }
}

const handedOver = (
  hypervisor: string,
  { workflowId, eviction }: Extract<EvictionOpened, { kind: 'handedOver' }>,
): EvictionResult => ({
  object: `Eviction ${eviction}`,
  eviction,
  hypervisor,
  outcome: 'handedOver',
  reason: 'HandedOver',
  message: `Run ${workflowId} empties ${hypervisor}; Eviction ${eviction} says how it goes`,
  workflowId,
});

const nothingToDo = (hypervisor: string): EvictionResult => ({
  object: `Hypervisor ${hypervisor}`,
  eviction: '',
  hypervisor,
  outcome: 'nothing',
  reason: 'NothingToDo',
  message: `No open Eviction for ${hypervisor}`,
});

function endOf({ end }: EvictionState): End {
  if (end === null) throw ApplicationFailure.nonRetryable('the plan ended without an end');
  return end;
}

/**
 * However the stop was asked for (the object deleted, a command, a cancel of the run), the run closes as cancelled, so
 * that nothing starts it again by itself. Another Eviction that waits for the host is not held back by that.
 */
async function endAsCancelled(hypervisor: string, inbox: EvictionInbox, end: End): Promise<never> {
  for (;;) {
    inbox.changed = false;
    inbox.ending = false;
    const next = await openEviction({ hypervisor }, null).catch(() => null);
    if (next?.kind !== 'run' && !inbox.cancelled) {
      const { workflowId, runId } = workflowInfo();
      await temporal('Close this run as cancelled')
        .cancelRun({ workflowId, runId })
        .catch((error: unknown) => void explain(error));
      await condition(() => inbox.cancelled, ownCancelMs);
    }
    await finishHandlers(inbox);
    if (next?.kind === 'run') return await continueAsNew<typeof evictHypervisor>({ hypervisor });
    // No await since this was read: an Eviction that was made after the list has told this run, and nobody else.
    if (!inbox.changed) throw new CancelledFailure(end.message);
  }
}

/**
 * Brings an eviction whose outcome is known to its end: enables the host where the cause says so, and says everywhere
 * how it ended.
 */
async function conclude(run: EvictionRun, end: End): Promise<void> {
  if (end.phase === 'Succeeded') await reEnable(run);
  enterPhase(run, end.phase, end.reason);
  addEvent(run, end.phase === 'Failed' ? 'Warning' : 'Normal', end.phase, end.message);
  showDetails(run);
  // The end has to reach the object, however long kube-apiserver is away: no other run can say it.
  for (let failures = 1; ; failures += 1) {
    try {
      return await publishNow(run, { releaseFinalizer: true });
    } catch {
      await backOff(run.inbox, failures, 'Try again to write the result');
    }
  }
}

async function reEnable(run: EvictionRun): Promise<void> {
  const { state } = run;
  if (state.host === null) return;
  const plan = planReEnable(state.desired);
  const mayEnable = plan === 'now' || (plan === 'afterReboot' && (await isNodeBack(run)));
  state.reEnabled = mayEnable && (await enable(run));
}

/** Whether its Eviction, as it was read last, asks for the host to be left disabled, or drover only to observe. */
const isLeft = ({ desired }: EvictionState): boolean => desired.mode === 'observe' || planReEnable(desired) === 'leave';

/**
 * The eviction has succeeded and says so; only the return of the host is still awaited, visibly and until a deadline.
 */
async function isNodeBack(run: EvictionRun): Promise<boolean> {
  const { state } = run;
  const { hypervisor } = state.desired;
  enterPhase(run, 'ReEnabling');
  const untilMs = Date.now() + state.settings.nodeReturnMs;
  run.waiting = { message: `Node ${hypervisor} to come back`, untilMs };
  showDetails(run);
  await publishNow(run, { releaseFinalizer: false }).catch((error: unknown) => void explain(error));
  const isBack = await awaitReturn(run, untilMs);
  run.waiting = null;
  if (!isBack && !isLeft(state))
    addEvent(
      run,
      'Warning',
      'NodeNotReturned',
      `Node ${hypervisor} did not come back with a new boot id and Ready, so the host is left disabled`,
    );
  return isBack;
}

/**
 * A stop ends the wait, and so does the deletion of the Eviction, which must not hang for hours on a Node, and a change
 * of it by which the host is left disabled. A kube-apiserver that is away does not: the node that reboots may be the
 * one it runs on.
 */
async function awaitReturn(run: EvictionRun, untilMs: number): Promise<boolean> {
  const { hypervisor } = run.state.desired;
  const isOver = (): boolean => run.state.stop !== null || isLeft(run.state) || Date.now() >= untilMs;
  let failures = 0;
  while (!isOver()) {
    await readIfDue(run);
    if (isOver()) break;
    const leftMs = (run.readDueMs === null ? untilMs : Math.min(untilMs, run.readDueMs)) - Date.now();
    const wait = kubernetesWait(`Wait until Node ${hypervisor} is back`, leftMs + slackMs);
    try {
      const isBack = await whileWanted(run, () => wait.awaitNodeReturned(hypervisor, run.state.bootId, leftMs));
      if (isBack === true) {
        // kube-apiserver answers again: what could not be read before may ask for the host to be left disabled.
        if (run.readDueMs !== null) run.readDueMs = Date.now();
        return true;
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1) addEvent(run, 'Warning', 'NodeNotWatched', explain(error).message);
      await backOff(run.inbox, failures, `Try again to watch Node ${hypervisor}`);
      // Said when kube-apiserver is back, and not at the end.
      if (run.unpublished)
        await publishNow(run, { releaseFinalizer: false }).catch((failure: unknown) => void explain(failure));
    }
  }
  return false;
}

async function readIfDue(run: EvictionRun): Promise<void> {
  if (run.readDueMs !== null && Date.now() >= run.readDueMs) await readEviction(run);
}

async function enable(run: EvictionRun): Promise<boolean> {
  const { state, inbox } = run;
  for (let attempt = 1; attempt <= enableAttempts;) {
    await readIfDue(run);
    if (isLeft(state)) return false;
    try {
      return await enableService(run, enableSummary(state));
    } catch (error) {
      const problem = explain(error);
      reportProblem(run, problem, 'step');
      if (problem.code !== 'Stopped') {
        await backOff(inbox, attempt, 'Try again to enable the host');
        attempt += 1;
      } else if (!(await awaitStopLifted(run, problem.message))) {
        await readIfDue(run);
        if (state.stop !== null) break;
        if (!isLeft(state)) await backOff(inbox, attempt, 'Try again to enable the host');
      }
    }
  }
  addNotReEnabled(run);
  return false;
}
