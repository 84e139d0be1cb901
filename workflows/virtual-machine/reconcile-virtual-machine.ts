import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { mayPass } from '../../contracts/errors.ts';
import { retryHandledAnnotation } from '../../contracts/eviction/annotations.ts';
import { progressQuery, asSignal, messages } from '../../contracts/messages.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import type { VirtualMachineRead, VsphereFacts } from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineInput, VirtualMachineResult } from '../../contracts/virtual-machine/lifecycle.ts';
import type { PhaseFailure } from '../../contracts/virtual-machine/observation.ts';
import type { VirtualMachinePlan } from '../../contracts/virtual-machine/plan.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/progress.ts';
import { showAttributes } from '../lib/attributes.ts';
import { readCarried } from '../lib/input.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { readGrant } from '../limits/membership.ts';
import { virtualMachineLook, virtualMachineObjects } from '../lib/virtual-machine-activities.ts';
import { takeUp } from './carry-out.ts';
import { composeObservation } from './compose-observation.ts';
import { describeProgress, describeRun } from './describe-run.ts';
import { planVirtualMachine } from './plan/plan.ts';
import { afterLook, forgive } from './remember.ts';
import type { Inbox, VirtualMachineRun, VirtualMachineState } from './run.ts';
import { beginRun, emptyInbox, hasNews, hearChange, isChanged } from './run.ts';
import { takeSteps } from './take-step.ts';
import { askTurn, giveBack, hearGrant, waitForTurn } from './take-turn.ts';
import { holds, isAskDue, isBeingMade, isOver, turnOf, turnSeen } from './turn.ts';

/**
 * Drives a virtual machine to where its VirtualMachine wants it: look, decide, publish, act, until nothing is left to do. Started by the
 * bridge, by `drover`, or by hand with plain JSON; the id `virtualmachine/<namespace>/<name>` is the lock. A cancel stops a VM that is being
 * made, and lets every other step that is under way finish.
 *
 * @param carried what an earlier run knew, when it continues as new
 */
export async function reconcileVirtualMachine(
  input: VirtualMachineInput,
  carried?: VirtualMachineState,
): Promise<VirtualMachineResult> {
  const { namespace, name } = Object(input) as VirtualMachineInput;
  const run = beginRun(namespace, name, readCarried(carried));
  const inbox = emptyInbox();
  takeMessages(run, inbox);
  return await CancellationScope.nonCancellable(async () => {
    try {
      return await drive(run, inbox, input);
    } finally {
      await giveBack(run);
    }
  });
}

async function drive(run: VirtualMachineRun, inbox: Inbox, input: VirtualMachineInput): Promise<VirtualMachineResult> {
  for (;;) {
    const isKnown = run.isFresh && !hasNews(run, inbox) && !inbox.retryNow;
    const early = isKnown ? null : await lookAnew(run, inbox, input);
    if (early !== null) return early;
    const plan = inbox.cancelled ? decide(run) : await decideInTurn(run);
    if (inbox.cancelled) {
      await stopCreate(run, inbox);
      const cancelled = await endAsCancelled(run, plan);
      // Whoever has changed it meanwhile wants something else: who would be told of it but this run?
      if (isChanged(run, inbox)) await continueAsNew<typeof reconcileVirtualMachine>(input, run.state);
      throw cancelled;
    }
    const isTold = plan !== null && (isToldFirst(plan) || (!isKnown && isDrift(run, plan)));
    if (isTold) await publish(run, plan);
    const ended = await proceed(run, inbox, plan, isTold);
    if (ended !== null) return ended;
    // A turn is this run's own: while the VM is being made it is not given back.
    if (workflowInfo().continueAsNewSuggested && !isBeingMade(run.state.memory))
      await continueAsNew<typeof reconcileVirtualMachine>(input, run.state);
  }
}

function takeMessages(run: VirtualMachineRun, inbox: Inbox): void {
  setHandler(progressQuery<VirtualMachineProgress>(), () => describeProgress(run));
  setHandler(messages.objectChanged, (change) => hearChange(inbox, change));
  const retryNow = (): string => {
    inbox.retryNow = true;
    return `Looks at ${run.namespace}/${run.name} again`;
  };
  setHandler(messages.allowanceGranted, (value) => {
    const granted = readGrant(value);
    if (granted !== null) hearGrant(run, granted);
  });
  setHandler(messages.retryNow, retryNow);
  setHandler(asSignal(messages.retryNow), () => void retryNow());
  void CancellationScope.current().cancelRequested.catch(() => (inbox.cancelled = true));
}

async function lookAnew(
  run: VirtualMachineRun,
  inbox: Inbox,
  input: VirtualMachineInput,
): Promise<VirtualMachineResult | null> {
  inbox.changed = false;
  inbox.told = null;
  inbox.seen = null;
  if (inbox.retryNow) tryAnew(run);
  inbox.retryNow = false;
  const early = await look(run, input);
  if (early === null) await takeUpRetry(run);
  return early;
}

/** What has failed, and who shares out the turns may have forgotten it. */
function tryAnew(run: VirtualMachineRun): void {
  run.state.memory = forgive(run.state.memory);
  if (run.turn !== null) run.turn = { ...run.turn, askAgainMs: 0 };
}

/** Reads all that decisions need: the object with what it names, and its VM. Where vCenter does not answer, the object says so. */
async function look(run: VirtualMachineRun, input: VirtualMachineInput): Promise<VirtualMachineResult | null> {
  const { namespace, name, state } = run;
  try {
    const { read, facts, problem } = await observe(run, input);
    if (read.next === 'nothing') return resultOf(run, 'NothingToDo', read.message);
    if (read.next === 'handedOver')
      return resultOf(run, 'HandedOver', `Run ${read.workflowId} drives ${namespace}/${name}`);
    // Whoever changed the object may have mended what failed.
    if (run.seen !== null && run.seen.desired?.generation !== read.desired?.generation)
      state.memory = forgive(state.memory);
    run.seen = read;
    run.lookedMs = Date.now();
    if (facts !== null) run.facts = facts;
    if (facts !== null || problem !== null) state.memory = afterLook(state.memory, problem, Date.now());
    state.failures = 0;
  } catch (error) {
    const { code, message } = explain(error);
    if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
    state.failures += 1;
    run.message = message;
    run.seen = null;
  }
  return null;
}

interface Observed {
  read: VirtualMachineRead;
  /** Null: vCenter was not asked, or did not answer. */
  facts: VsphereFacts | null;
  problem: Pick<PhaseFailure, 'reason' | 'message' | 'requeue'> | null;
}

/** @throws where Kubernetes does not answer, or the input is none */
async function observe({ namespace, name }: VirtualMachineRun, input: VirtualMachineInput): Promise<Observed> {
  try {
    const seen = await virtualMachineLook(
      `Look at ${namespace}/${name}: the object, what it names, and its VM`,
    ).observeVirtualMachine(input);
    return { read: seen, facts: seen.next === 'run' ? seen.facts : null, problem: null };
  } catch (error) {
    const { code, reason, message } = explain(error);
    if (code === 'InvalidInput') throw error;
    const read = await virtualMachineObjects(
      `Read VirtualMachine ${namespace}/${name}, as one of the two does not answer`,
    ).readVirtualMachine(input);
    return { read, facts: null, problem: { reason, message, requeue: code === null || mayPass(code) } };
  }
}

/** Notes that `drover retry` was heard, so that no run is started for it again; what had failed is tried anew. If that fails, the next look does it. */
async function takeUpRetry(run: VirtualMachineRun): Promise<void> {
  const { namespace, name, seen, state } = run;
  const desired = seen?.desired ?? null;
  if (
    seen === null ||
    desired === null ||
    desired.retry === null ||
    seen.settings.mode === 'observe' ||
    desired.mode === 'observe'
  )
    return;
  const { uid, generation, retry } = desired;
  try {
    takeUp(
      run,
      await virtualMachineObjects(`Note that the retry of ${namespace}/${name} was taken up`).patchVirtualMachine({
        namespace,
        name,
        uid,
        generation,
        patches: [{ annotations: { [retryHandledAnnotation]: retry } }],
      }),
    );
    // What this look could not see is not to be seen by wanting it.
    state.memory = { ...state.memory, failures: state.memory.failures.filter(({ phase }) => phase === 'observe') };
  } catch (error) {
    void explain(error);
  }
}

/** Decides; where all that is missing is its turn, asks for it, and decides anew by the same look. What it does not need it gives back. */
async function decideInTurn(run: VirtualMachineRun): Promise<VirtualMachinePlan | null> {
  const plan = decide(run);
  const needs = plan === null ? null : turnOf(plan, run.seen?.desired?.deleting === true);
  if (run.turn !== null && run.turn.of !== needs && !(plan === null && isBeingMade(run.state.memory)))
    await giveBack(run);
  const of = plan?.decision.next === 'wait' ? plan.decision.turn : undefined;
  if (of === undefined || !isAskDue(run.turn, of, Date.now())) return plan;
  await askTurn(run, of);
  return decide(run);
}

/** Null: Kubernetes could not be read. */
function decide(run: VirtualMachineRun): VirtualMachinePlan | null {
  const { seen, facts, state, turn } = run;
  run.isFresh = false;
  if (seen === null) return null;
  const observes = seen.settings.mode === 'observe' || seen.desired?.mode === 'observe';
  const observed = composeObservation(seen.recorded, seen.objects, facts, turnSeen(turn, observes));
  const plan = planVirtualMachine(seen.desired, observed, state.memory, Date.now(), seen.settings);
  const { decision, memory } = plan;
  state.memory = memory;
  run.message =
    decision.next === 'wait'
      ? `Waiting for ${decision.for}`
      : decision.next === 'done'
        ? decision.message
        : (decision.steps[0]?.words ?? '');
  return plan;
}

/**
 * Whether it is told before it is done: where it comes to rest or waits, and what nobody could be told later, as the object goes. Other steps
 * are told once one of them has to be waited for, as most of them are over in the time that telling takes.
 */
function isToldFirst({ decision }: VirtualMachinePlan): boolean {
  if (decision.next !== 'act') return true;
  return decision.steps.some(
    (step) =>
      step.do === 'cancelCreate' ||
      (step.do === 'patchVirtualMachine' &&
        step.patches.some(({ removeFinalizers = [] }) => removeFinalizers.length > 0)),
  );
}

/** Whether somebody else has changed the power state, as a look shows: that is told before it is put right, or nobody would see it. */
const isDrift = ({ seen }: VirtualMachineRun, { decision, status }: VirtualMachinePlan): boolean =>
  decision.next === 'act' &&
  decision.steps.some((step) => step.do === 'power') &&
  status?.fields.powerState !== undefined &&
  seen?.recorded.powerState !== undefined;

/** Says in the object, and in the Web UI, where it is and what comes next. A report that fails is not the VM's problem: the next one says the same. */
async function publish(run: VirtualMachineRun, { decision, status, event, notes }: VirtualMachinePlan): Promise<void> {
  const { namespace, name } = run;
  const desired = run.seen?.desired ?? null;
  const isNews = status !== null || event !== null || notes.length > 0;
  // An event in the history, so only when the state is another one, and somebody has to be told.
  if (isNews && run.phase !== decision.state)
    showAttributes({ kind: 'VirtualMachine', object: `${namespace}/${name}`, phase: decision.state });
  run.phase = decision.state;
  setCurrentDetails(describeRun(run, status));
  if (desired === null || !isNews) return;
  try {
    const { uid, generation } = desired;
    const written = await virtualMachineObjects(
      `Write the status of VirtualMachine ${namespace}/${name}`,
    ).publishVirtualMachine({ namespace, name, uid, generation, status, event, notes });
    // The spec is what it was decided on, until it is looked at anew.
    if (run.seen !== null && written !== null)
      run.seen = {
        ...run.seen,
        recorded: written.recorded,
        ...(written.desired.generation === generation && { desired: written.desired }),
      };
  } catch (error) {
    void explain(error);
  }
}

/** Takes the steps, waits, or ends. Null: look again. */
async function proceed(
  run: VirtualMachineRun,
  inbox: Inbox,
  plan: VirtualMachinePlan | null,
  toldFirst: boolean,
): Promise<VirtualMachineResult | null> {
  const { state } = run;
  if (plan === null) {
    await waitFor(run, inbox, `kube-apiserver: ${run.message}`, Date.now() + retryAfterMs(state.failures));
    return null;
  }
  const { decision } = plan;
  const settings = run.seen?.settings;
  if (decision.next === 'act') {
    let isTold = toldFirst;
    await takeSteps(run, inbox, decision.steps, async () => {
      if (!isTold) await publish(run, plan);
      isTold = true;
    });
    // Others wait for just that; it arrives beside the next look.
    if (run.turn !== null && isOver(run.turn.of, decision.steps, state.memory)) void giveBack(run);
    return null;
  }
  if (decision.next === 'wait') {
    if (decision.turn !== undefined) {
      await waitForTurn(run, inbox, decision.turn, decision.for);
      // That its turn has come changes nothing of what was seen a moment ago.
      run.isFresh = holds(run.turn, decision.turn) && Date.now() - run.lookedMs < reliedOnMs;
    } else await waitFor(run, inbox, decision.for, decision.untilMs);
    return null;
  }
  if (state.acted && decision.end !== 'gone' && !hasNews(run, inbox))
    await condition(() => hasNews(run, inbox) || inbox.retryNow || inbox.cancelled, settings?.lingerMs ?? 0);
  // Whoever was told that it looks again is not left with a run that has ended.
  if (hasNews(run, inbox) || inbox.retryNow) return null;
  return resultOf(
    run,
    decision.end === 'rests' ? 'Rests' : decision.end === 'gone' ? 'Gone' : 'Settled',
    decision.message,
  );
}

/** @param untilMs null: it is told */
async function waitFor(run: VirtualMachineRun, inbox: Inbox, what: string, untilMs: number | null): Promise<void> {
  // Whatever is missed, by whomever, is noticed within the hour.
  const endMs = untilMs ?? Date.now() + longestUntoldMs;
  run.waiting = { for: what, untilMs: endMs };
  await condition(() => hasNews(run, inbox) || inbox.retryNow || inbox.cancelled, Math.max(0, endMs - Date.now()));
  run.waiting = null;
}

/** So long a look holds where nothing was told since. */
const reliedOnMs = 60_000;

const longestUntoldMs = 60 * 60 * 1_000;

const resultOf = (
  { namespace, name, phase }: VirtualMachineRun,
  outcome: VirtualMachineResult['outcome'],
  message: string,
): VirtualMachineResult => ({ virtualMachine: `${namespace}/${name}`, outcome, state: phase, message });

/** What a create that nobody waits for any more has made all the same is found by its mark, when somebody goes on. */
async function stopCreate(run: VirtualMachineRun, inbox: Inbox): Promise<void> {
  const { create } = run.state.memory;
  if (create === null || run.seen === null || run.seen.desired === null) return;
  await takeSteps(
    run,
    inbox,
    [{ do: 'cancelCreate', task: create.task, words: `Stop making VM ${run.name}`, phase: 'create' }],
    async () => undefined,
  );
}

/** The object says that nobody drives it for now; a changed spec or `drover retry` goes on. */
async function endAsCancelled(run: VirtualMachineRun, plan: VirtualMachinePlan | null): Promise<CancelledFailure> {
  const { namespace, name } = run;
  const message = `The run was cancelled. \`drover retry vm ${namespace}/${name}\` goes on, and so does a changed spec`;
  const desired = run.seen?.desired ?? null;
  // It has come to rest by itself.
  if (plan?.decision.next === 'done') await publish(run, plan);
  else if (plan !== null && desired !== null) {
    const { lifecycle: type } = virtualMachineConditions;
    const { fields, conditions, removed } = plan.status ?? { fields: {}, conditions: [], removed: [] };
    const rests = {
      type,
      status: 'False' as const,
      reason: plan.decision.state,
      message,
      observedGeneration: desired.generation,
    };
    await publish(run, {
      ...plan,
      status: { fields, conditions: [...conditions.filter((condition) => condition.type !== type), rests], removed },
    });
  }
  return new CancelledFailure(message);
}
