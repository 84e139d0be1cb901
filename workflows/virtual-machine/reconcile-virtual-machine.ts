import { ApplicationFailure, CancellationScope, CancelledFailure, condition, continueAsNew, defineQuery, defineSignal, defineUpdate, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { findCondition } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import { retryHandledAnnotation } from '../../contracts/eviction-annotations.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine-conditions.ts';
import type { VirtualMachineInput, VirtualMachineResult } from '../../contracts/virtual-machine-lifecycle.ts';
import type { VirtualMachinePlan } from '../../contracts/virtual-machine-plan.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine-progress.ts';
import { showAttributes } from '../lib/attributes.ts';
import { readCarried } from '../lib/carried.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { virtualMachineObjects, vsphere } from '../lib/virtual-machine-activities.ts';
import { composeObservation, lookFor } from './compose-observation.ts';
import { describeProgress, describeRun } from './describe-run.ts';
import { planVirtualMachine } from './plan.ts';
import { afterLook, forgive } from './remember.ts';
import type { Inbox, VirtualMachineRun, VirtualMachineState } from './run.ts';
import { beginRun, emptyInbox } from './run.ts';
import { takeSteps } from './take-step.ts';

/**
 * Drives a virtual machine to where its VirtualMachine wants it: look, decide, publish, act, until nothing is left to do. Started by the
 * bridge, by `drover`, or by hand with plain JSON; the id `virtualmachine/<namespace>/<name>` is the lock. A cancel stops a VM that is being
 * made, and lets every other step that is under way finish.
 *
 * @param carried what an earlier run knew, when it continues as new
 */
export async function reconcileVirtualMachine(input: VirtualMachineInput, carried?: VirtualMachineState): Promise<VirtualMachineResult> {
  const { namespace, name } = Object(input) as VirtualMachineInput;
  const run = beginRun(namespace, name, readCarried(carried));
  const inbox = emptyInbox();
  takeMessages(run, inbox);
  return await CancellationScope.nonCancellable(async () => {
    for (;;) {
      inbox.changed = false;
      inbox.generation = 0;
      if (inbox.retryNow) run.state.memory = forgive(run.state.memory);
      inbox.retryNow = false;
      const early = await look(run, input);
      if (early !== null) return early;
      const plan = decide(run);
      if (plan !== null) await publish(run, plan);
      if (inbox.cancelled) throw await endAsCancelled(run);
      const ended = await proceed(run, inbox, plan);
      if (ended !== null) return ended;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcileVirtualMachine>(input, run.state);
    }
  });
}

function takeMessages(run: VirtualMachineRun, inbox: Inbox): void {
  setHandler(defineQuery<VirtualMachineProgress>(messages.progress), () => describeProgress(run));
  setHandler(defineSignal<[Partial<ObjectChanged> | undefined]>(messages.objectChanged), (change) => {
    inbox.changed = true;
    inbox.generation = Math.max(inbox.generation, change?.generation ?? 0);
  });
  const retryNow = (): string => {
    inbox.retryNow = true;
    return `Looks at ${run.namespace}/${run.name} again`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), retryNow);
  setHandler(defineSignal(messages.retryNow), () => void retryNow());
  void CancellationScope.current().cancelRequested.catch(() => (inbox.cancelled = true));
}

/** Reads all that decisions need: the object with what it names, and then its VM. Where vCenter does not answer, the object says so. */
async function look(run: VirtualMachineRun, input: VirtualMachineInput): Promise<VirtualMachineResult | null> {
  const { namespace, name, state } = run;
  try {
    const read = await virtualMachineObjects(`Read VirtualMachine ${namespace}/${name}, and what it names`).readVirtualMachine(input);
    if (read.next === 'nothing') return resultOf(run, 'NothingToDo', read.message);
    if (read.next === 'handedOver') return resultOf(run, 'HandedOver', `Run ${read.workflowId} drives ${namespace}/${name}`);
    // Whoever changed the object may have mended what failed.
    if (run.seen !== null && run.seen.desired?.generation !== read.desired?.generation) state.memory = forgive(state.memory);
    run.seen = read;
    state.failures = 0;
  } catch (error) {
    const { code, message } = explain(error);
    if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
    state.failures += 1;
    run.message = message;
    run.seen = null;
    return null;
  }
  await takeUpRetry(run);
  await lookAtVcenter(run);
  return null;
}

/** Notes that `drover retry` was heard, so that no run is started for it again; what had failed is tried anew. If that fails, the next look does it. */
async function takeUpRetry({ namespace, name, seen, state }: VirtualMachineRun): Promise<void> {
  const desired = seen?.desired ?? null;
  if (seen === null || desired === null || desired.retry === null || seen.settings.mode === 'observe' || desired.mode === 'observe') return;
  const { uid, generation, retry } = desired;
  try {
    await virtualMachineObjects(`Note that the retry of ${namespace}/${name} was taken up`).patchVirtualMachine({ namespace, name, uid, generation, patches: [{ annotations: { [retryHandledAnnotation]: retry } }] });
    state.memory = forgive(state.memory);
  } catch (error) {
    void explain(error);
  }
}

/** One that is gone, or that its owner has paused, is not looked at. */
async function lookAtVcenter(run: VirtualMachineRun): Promise<void> {
  const { seen, state } = run;
  if (seen === null || seen.desired === null || seen.desired.paused) return;
  const { desired, recorded, objects, settings } = seen;
  try {
    run.facts = await vsphere(settings.vcenter, `Look at VM ${desired.name}`).lookAtVirtualMachine(lookFor(desired, recorded, objects));
    state.memory = afterLook(state.memory, null, Date.now());
  } catch (error) {
    const { code, reason, message } = explain(error);
    state.memory = afterLook(state.memory, { reason, message, requeue: code === null || errors[code].retryable }, Date.now());
  }
}

/** Null: Kubernetes could not be read. */
function decide({ seen, facts, state }: VirtualMachineRun): VirtualMachinePlan | null {
  if (seen === null) return null;
  const observed = composeObservation(seen.recorded, seen.objects, facts, { create: true, destroy: true });
  return planVirtualMachine(seen.desired, observed, state.memory, Date.now(), seen.settings);
}

/** Says in the object, and in the Web UI, where it is and what comes next. A report that fails is not the VM's problem: the next one says the same. */
async function publish(run: VirtualMachineRun, { decision, memory, status, event }: VirtualMachinePlan): Promise<void> {
  const { namespace, name } = run;
  run.state.memory = memory;
  run.message = decision.next === 'wait' ? `Waiting for ${decision.for}` : decision.next === 'done' ? decision.message : (decision.steps[0]?.words ?? '');
  // An event in the history, so only when the state is another one.
  if (run.phase !== decision.state) showAttributes({ kind: 'VirtualMachine', object: `${namespace}/${name}`, phase: decision.state });
  run.phase = decision.state;
  setCurrentDetails(describeRun(run, status));
  const desired = run.seen?.desired ?? null;
  if (desired === null || (status === null && event === null)) return;
  try {
    await virtualMachineObjects(`Write the status of VirtualMachine ${namespace}/${name}`).publishVirtualMachine({ namespace, name, uid: desired.uid, status, event });
  } catch (error) {
    void explain(error);
  }
}

/** Takes the steps, waits, or ends. Null: look again. */
async function proceed(run: VirtualMachineRun, inbox: Inbox, plan: VirtualMachinePlan | null): Promise<VirtualMachineResult | null> {
  const { state } = run;
  if (plan === null) {
    await waitFor(run, inbox, `kube-apiserver: ${run.message}`, Date.now() + retryAfterMs(state.failures));
    return null;
  }
  const { decision } = plan;
  const settings = run.seen?.settings;
  if (decision.next === 'act') {
    await takeSteps(run, inbox, decision.steps);
    return null;
  }
  if (decision.next === 'wait') {
    await waitFor(run, inbox, decision.for, decision.untilMs);
    return null;
  }
  if (state.acted && decision.end !== 'gone' && !inbox.changed) await condition(() => inbox.changed || inbox.retryNow || inbox.cancelled, settings?.lingerMs ?? 0);
  // Whoever was told that it looks again is not left with a run that has ended.
  if (inbox.changed || inbox.retryNow) return null;
  return resultOf(run, decision.end === 'rests' ? 'Rests' : decision.end === 'gone' ? 'Gone' : 'Settled', decision.message);
}

/** @param untilMs null: it is told */
async function waitFor(run: VirtualMachineRun, inbox: Inbox, what: string, untilMs: number | null): Promise<void> {
  // Whatever is missed, by whomever, is noticed within the hour.
  const endMs = untilMs ?? Date.now() + longestUntoldMs;
  run.waiting = { for: what, untilMs: endMs };
  await condition(() => inbox.changed || inbox.retryNow || inbox.cancelled, Math.max(0, endMs - Date.now()));
  run.waiting = null;
}

const longestUntoldMs = 60 * 60 * 1_000;

const resultOf = ({ namespace, name, phase }: VirtualMachineRun, outcome: VirtualMachineResult['outcome'], message: string): VirtualMachineResult => ({ virtualMachine: `${namespace}/${name}`, outcome, state: phase, message });

/** The object says that nobody drives it for now; a changed spec or `drover retry` goes on. */
async function endAsCancelled(run: VirtualMachineRun): Promise<CancelledFailure> {
  const { namespace, name, seen } = run;
  const message = `The run was cancelled. \`drover retry vm ${namespace}/${name}\` goes on, and so does a changed spec`;
  const before = findCondition(seen?.recorded.conditions, virtualMachineConditions.lifecycle);
  if (seen !== null && seen.desired !== null && before !== undefined) {
    const { uid, generation } = seen.desired;
    const condition = { type: before.type, status: 'False' as const, reason: before.reason, message, observedGeneration: generation };
    await virtualMachineObjects(`Say in VirtualMachine ${namespace}/${name} that its run was cancelled`)
      .publishVirtualMachine({ namespace, name, uid, status: { fields: {}, conditions: [condition], removed: [] }, event: null })
      .catch((error: unknown) => void explain(error));
  }
  return new CancelledFailure(message);
}
