import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { errors } from '../../contracts/errors.ts';
import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorSeen } from '../../contracts/hypervisor/activities.ts';
import type {
  HypervisorInput,
  HypervisorProgress,
  HypervisorResult,
  HypervisorStatusPatch,
  RecordedStatus,
  ShownStatus,
} from '../../contracts/hypervisor/hypervisor.ts';
import { messages } from '../../contracts/messages.ts';
import { readCarried } from '../lib/input.ts';
import { explain } from '../lib/failures.ts';
import { host, hypervisorObjects } from '../lib/hypervisor-activities.ts';
import { failureLook } from '../lib/node-failure-activities.ts';
import { showAttributes } from '../lib/attributes.ts';
import { count } from '../lib/metrics.ts';
import { retryAfterMs } from '../lib/retry.ts';
import { carryOut } from './carry-out.ts';
import { describeProgress, describeRun } from './describe-run.ts';
import { failureNews } from './failure-news.ts';
import { isSaid } from './is-said.ts';
import { planHypervisor } from './plan.ts';
import type { HypervisorPlan } from './plan.ts';
import type { HypervisorRun, HypervisorState } from './run.ts';
import { beginState, observationOf } from './run.ts';

interface Inbox {
  changed: boolean;
  /** Somebody wants it tried now. */
  retryNow: boolean;
  cancelled: boolean;
}

/**
 * Drives a hypervisor to where its Hypervisor and its Node want it: look, decide, act, publish, until nothing is left to do. Started by the
 * bridge, by `drover`, or by hand with plain JSON; the id `hypervisor/<name>` is the lock. A cancel lets the step that is under way finish.
 *
 * @param carried what an earlier run knew, when it continues as new
 */
export async function reconcileHypervisor(
  input: HypervisorInput,
  carried?: HypervisorState,
): Promise<HypervisorResult> {
  const run: HypervisorRun = {
    name: input.hypervisor,
    state: readCarried(carried) ?? beginState(),
    seen: null,
    waiting: null,
    message: 'Begins',
  };
  const inbox: Inbox = { changed: false, retryNow: false, cancelled: false };
  takeMessages(run, inbox);
  return await CancellationScope.nonCancellable(async () => {
    for (;;) {
      inbox.changed = false;
      const handedOver = await look(run, input);
      if (handedOver !== null) return handedOver;
      const plan = decide(run);
      if (plan !== null) await publish(run, plan);
      if (inbox.cancelled) throw await endAsCancelled(run);
      if (!(await tellFailure(run))) continue;
      const ended = await proceed(run, inbox, plan);
      if (ended !== null) return ended;
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof reconcileHypervisor>(input, run.state);
    }
  });
}

function takeMessages(run: HypervisorRun, inbox: Inbox): void {
  setHandler(defineQuery<HypervisorProgress>(messages.progress), () => describeProgress(run));
  setHandler(defineSignal(messages.objectChanged), () => void (inbox.changed = true));
  const retryNow = (): string => {
    inbox.retryNow = true;
    return `Looks at ${run.name} again`;
  };
  setHandler(defineUpdate<string>(messages.retryNow), retryNow);
  setHandler(defineSignal(messages.retryNow), () => void retryNow());
  void CancellationScope.current().cancelRequested.catch(() => (inbox.cancelled = true));
}

/** Reads all that decisions need. Where OpenStack does not answer, Kubernetes alone, so that the Hypervisor can say so. */
async function look(run: HypervisorRun, input: HypervisorInput): Promise<HypervisorResult | null> {
  const { name, state } = run;
  try {
    const taken = take(run, await host(`Look at ${name}`).observeHypervisor(input, 'all'));
    // A failed step is told until its time has come.
    if (state.failure !== null && Date.now() >= state.failure.retryAtMs) state.failure = null;
    return taken;
  } catch (error) {
    fail(run, error);
    return await host(`Look at ${name}, without OpenStack`)
      .observeHypervisor(input, 'kubernetes')
      .then(
        (seen) => take(run, seen),
        () => null,
      );
  }
}

function take(run: HypervisorRun, seen: HypervisorSeen): HypervisorResult | null {
  if (seen.next === 'nothing')
    return { hypervisor: run.name, outcome: 'NothingToDo', state: null, message: seen.message };
  if (seen.next === 'handedOver')
    return {
      hypervisor: run.name,
      outcome: 'HandedOver',
      state: null,
      message: `Run ${seen.workflowId} drives ${run.name}`,
    };
  run.seen = seen;
  return null;
}

/** @throws what waiting does not mend and no Hypervisor can say: nonsense that was typed by hand */
function fail(run: HypervisorRun, error: unknown): void {
  const { code, reason, message } = explain(error);
  if (code === 'InvalidInput') throw ApplicationFailure.create({ type: code, message, nonRetryable: true });
  const { state } = run;
  state.failures += 1;
  state.failure = {
    reason,
    message,
    retryable: code === null || errors[code].retryable,
    retryAtMs: Date.now() + retryAfterMs(state.failures),
  };
}

/** Null: not even Kubernetes could be read yet. */
function decide({ seen, state }: HypervisorRun): HypervisorPlan | null {
  return seen === null
    ? null
    : planHypervisor(seen.desired, observationOf(seen.observed, state), Date.now(), seen.settings);
}

/** Says in the Hypervisor, and in the Web UI, where it is and what comes next. A report that fails is not the host's problem: the next one says the same. */
async function publish(run: HypervisorRun, { plan, status, deadline }: HypervisorPlan): Promise<void> {
  countHalfOver(run, { plan, deadline });
  run.message =
    plan.next === 'wait'
      ? `Waiting for ${plan.for}`
      : plan.next === 'done'
        ? plan.message
        : (plan.steps[0]?.words ?? '');
  const desired = run.seen?.desired ?? null;
  const recorded = run.seen?.observed.recorded;
  setCurrentDetails(describeRun(run, status));
  if (
    status === null ||
    desired === null ||
    recorded === undefined ||
    isSaid(recorded, run.seen?.shown ?? nothingShown, status)
  )
    return;
  showPhase(run, status, recorded);
  try {
    await hypervisorObjects(`Write the status of Hypervisor ${run.name}`).publishHypervisor({
      name: desired.name,
      uid: desired.uid,
      status,
    });
  } catch (error) {
    void explain(error);
  }
}

/** Somebody is to be woken: once for each deadline, and not for a host that is out of Nova. */
function countHalfOver({ state }: HypervisorRun, { plan, deadline }: Pick<HypervisorPlan, 'plan' | 'deadline'>): void {
  if (deadline?.halfOver !== true || (plan.next === 'done' && !plan.rests) || state.halfOverAtMs === deadline.atMs)
    return;
  state.halfOverAtMs = deadline.atMs;
  count('drainsHalfOver', {});
}

/** An event in the history, so only when the state is another one. */
function showPhase(run: HypervisorRun, status: HypervisorStatusPatch, recorded: RecordedStatus): void {
  const now = stateIn(status.conditions);
  if (now === null || now === stateIn(recorded.conditions)) return;
  showAttributes({ kind: 'Hypervisor', object: run.name, host: run.name, phase: now });
}

/** Tells the run of the host's failure what its Node has come to. False: it could not be told, and that is waited for. */
async function tellFailure(run: HypervisorRun): Promise<boolean> {
  const { name, seen, state } = run;
  const news =
    seen === null || seen.desired === null
      ? null
      : failureNews(
          {
            desired: seen.desired,
            observed: observationOf(seen.observed, state),
            settings: seen.settings,
            nowMs: Date.now(),
          },
          state.failureTold,
        );
  if (news === null || state.failure !== null) return true;
  try {
    await failureLook(`Have somebody look whether ${name} has failed`).tellNodeFailure({
      hypervisor: name,
      cause: news,
    });
    state.failureTold = news;
    return true;
  } catch (error) {
    fail(run, error);
    return false;
  }
}

/** Takes the steps, waits, or ends. Null: look again. */
async function proceed(
  run: HypervisorRun,
  inbox: Inbox,
  decided: HypervisorPlan | null,
): Promise<HypervisorResult | null> {
  const { state } = run;
  if (decided === null) {
    await waitFor(run, inbox, 'kube-apiserver', state.failure?.retryAtMs ?? Date.now() + retryAfterMs(state.failures));
    return null;
  }
  const { plan } = decided;
  if (plan.next === 'act') {
    await act(run, inbox, plan.steps);
    return null;
  }
  const settings = run.seen?.settings;
  if (plan.next === 'wait') {
    const recheckMs = Date.now() + (settings?.recheckMs ?? retryAfterMs(1));
    await waitFor(run, inbox, plan.for, Math.min(plan.untilMs ?? recheckMs, recheckMs));
    return null;
  }
  if (state.acted && !inbox.changed) await condition(() => inbox.changed || inbox.cancelled, settings?.lingerMs ?? 0);
  if (inbox.changed) return null;
  return {
    hypervisor: run.name,
    outcome: plan.rests ? 'Rests' : 'Settled',
    state: stateIn(decided.status?.conditions ?? run.seen?.observed.recorded.conditions ?? []),
    message: plan.message,
  };
}

/** The seed's state. */
const stateIn = (conditions: readonly ConditionUpdate[]): string | null =>
  conditions.find(({ type }) => type === hypervisorConditions.lifecycle)?.reason ?? null;

const nothingShown: ShownStatus = { traits: null, aggregates: null, internalIp: null };

async function act(
  run: HypervisorRun,
  inbox: Inbox,
  steps: Extract<HypervisorPlan['plan'], { next: 'act' }>['steps'],
): Promise<void> {
  for (const step of steps) {
    try {
      await carryOut(run, step);
    } catch (error) {
      return fail(run, error);
    }
    run.state.acted = true;
    // What comes next is decided on what is true then.
    if (inbox.changed || inbox.cancelled) return;
  }
  run.state.failures = 0;
}

async function waitFor(run: HypervisorRun, inbox: Inbox, what: string, untilMs: number): Promise<void> {
  run.waiting = { for: what, untilMs };
  inbox.retryNow = false;
  await condition(() => inbox.changed || inbox.retryNow || inbox.cancelled, Math.max(0, untilMs - Date.now()));
  // Whoever changed something, or asks, may have mended it.
  if (inbox.changed || inbox.retryNow) run.state.failure = null;
  run.waiting = null;
}

/** The Hypervisor says that nobody drives it for now; a changed spec or `drover retry` goes on. */
async function endAsCancelled(run: HypervisorRun): Promise<CancelledFailure> {
  const message = `The run was cancelled. \`drover retry ${run.name}\` goes on, and so does a changed spec`;
  const desired = run.seen?.desired ?? null;
  const before = findCondition(run.seen?.observed.recorded.conditions ?? [], hypervisorConditions.lifecycle);
  if (desired !== null && before !== undefined) {
    const { type, reason } = before;
    const status: HypervisorStatusPatch = {
      conditions: [{ type, status: 'False', reason, message, observedGeneration: desired.generation }],
      removed: [],
      hypervisorId: null,
      serviceId: null,
      traits: null,
      aggregates: null,
      internalIp: null,
      evicted: null,
      libVirtVersion: null,
    };
    await hypervisorObjects(`Say in Hypervisor ${run.name} that its run was cancelled`)
      .publishHypervisor({ name: desired.name, uid: desired.uid, status })
      .catch((error: unknown) => void explain(error));
  }
  return new CancelledFailure(message);
}
