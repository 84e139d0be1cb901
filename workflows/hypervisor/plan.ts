import { findCondition, setConditions } from '../../contracts/conditions.ts';
import { anOperator, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { done } from '../lib/plan.ts';
import type { Plan } from '../lib/plan.ts';
import { judgeState } from './conditions.ts';
import { judgeEmptying, ownEviction, planEmptying } from './emptying.ts';
import { liftForcedDown } from './forced-down.ts';
import { signalFailure } from './high-availability.ts';
import { isOnboarding, isTerminating, judgeDeadline, modeOf, onboardingOf } from './judge.ts';
import {
  beginRollingUpdate,
  cleanUpMaintenance,
  clearRollingUpdate,
  planActive,
  planMaintenance,
} from './maintenance.ts';
import { mapNode, newHypervisor } from './node.ts';
import { guardDrain, isOffboarded, planOffboarding, releaseNode } from './offboarding.ts';
import { abortOnboarding, beginOnboarding, planOnboarding } from './onboarding.ts';
import { blocked, execute, wait } from './types.ts';
import type { Context, Decision, HypervisorSituation, HypervisorStep, Transition } from './types.ts';

type HypervisorPlan = Plan<HypervisorStep>;

/** Reason of the wait that a host is in which is blocked, and whose machine is taken away in a while. */
export const untilAlarm = 'BlockedUntilAlarm';

/** How often the onboarding may change in one decision; each change leads on, so this is only a guard. */
const mostChanges = 10;

/** Decides what happens to a hypervisor next. Pure. */
export function planHypervisor(situation: HypervisorSituation): HypervisorPlan {
  const { desired, askedMs } = situation;
  if (desired === null) return planCreation(situation);
  const decided = decide(situation);
  if (decided === null) return done('gone', 'Deleted', 'The Hypervisor is being deleted: nothing more is done');
  const { context, state, plan } = decided;
  const signal = signalFailure(context, askedMs);
  if (signal !== null) {
    const steps = plan.kind === 'execute' ? plan.steps : [];
    return { kind: 'execute', steps: [{ ...signal, phase: state }, ...steps] };
  }
  return wakeAtAlarm(context, plan, state);
}

function planCreation({ observed: { node }, settings }: HypervisorSituation): HypervisorPlan {
  const hypervisor = node === null ? null : newHypervisor(node, settings.copiedLabels);
  if (hypervisor === null)
    return done('gone', 'NotFound', 'There is neither a Hypervisor of that name nor a Node that is one');
  const summary = `Make the Hypervisor of Node ${hypervisor.name}`;
  return { kind: 'execute', steps: [{ kind: 'createHypervisor', hypervisor, summary, phase: 'Initial' }] };
}

/** What was decided about the host itself. */
export interface Decided {
  /** After the transitions. */
  context: Context;
  plan: HypervisorPlan;
  /** Of the lifecycle: reason of the condition `Lifecycle`. */
  state: string;
  /** Types of conditions that hold no longer. */
  removed: string[];
  /** The retry that was taken up; null: none. */
  takenUp: string | null;
}

/**
 * The outside comes first: what the Node says, and what failed; then the maintenance that counts; then the onboarding;
 * then the service. Pure. Null: there is no Hypervisor, or it is being deleted.
 */
export function decide({ desired, observed, settings, memory, nowMs }: HypervisorSituation): Decided | null {
  if (desired === null || desired.deleting) return null;
  let context: Context = { desired, observed, settings, memory, nowMs };
  const removed = new Set<string>();
  for (let changes = 0; changes < mostChanges; changes += 1) {
    const decision = decideOnce(context);
    if (decision.kind !== 'become') {
      const state = stateOf(context);
      const takenUp = context.desired.retry === desired.retry ? null : desired.retry;
      // How far it has come is said before anything is done, and so is that it is on its way: a run that is terminated
      // is missed then.
      const isNew = changes > 0 || saysItIsOver({ ...context, observed });
      return { context, plan: inPhase(decision, state, context, isNew), state, removed: [...removed], takenUp };
    }
    for (const type of decision.removed ?? []) removed.add(type);
    for (const { type } of decision.conditions) removed.delete(type);
    context = become(context, decision);
  }
  throw new Error(`The decision about ${desired.name} does not come to an end`);
}

function become(context: Context, { conditions, removed = [], ids, takesUpRetry }: Transition): Context {
  const { desired, observed, nowMs } = context;
  const kept = observed.recorded.conditions.filter(({ type }) => !removed.includes(type));
  const updates = conditions.map((update) => ({ ...update, observedGeneration: desired.generation }));
  const recorded = {
    ...observed.recorded,
    conditions: setConditions(kept, updates, new Date(nowMs).toISOString()),
    ...ids,
  };
  return {
    ...context,
    desired: takesUpRetry === true ? { ...desired, retry: null } : desired,
    observed: { ...observed, recorded },
  };
}

/** As resync sees it: then no run is started for it. */
function saysItIsOver({ desired, observed: { recorded } }: Context): boolean {
  const said = findCondition(recorded.conditions, hypervisorConditions.lifecycle);
  return said !== undefined && said.status !== 'Unknown' && said.observedGeneration === desired.generation;
}

/** What could not be read is not known: it is where it was. */
function stateOf(context: Context): string {
  const { failure, recorded } = context.observed;
  if (failure === null) return judgeState(context, isOffboarded(context));
  return findCondition(recorded.conditions, hypervisorConditions.lifecycle)?.reason ?? judgeState(context, false);
}

function inPhase(decision: Decision, phase: string, { observed }: Context, isNew: boolean): HypervisorPlan {
  if (decision.kind === 'wait') return { ...decision, phase };
  if (decision.kind === 'done') return { ...decision, reason: phase };
  const onboards = isOnboarding(onboardingOf(observed).state);
  const steps = decision.steps.map((step, index): HypervisorStep => ({
    ...step,
    phase,
    // What cleans up after a failure is no reason to end it once more.
    ...(onboards && step.kind !== 'deleteTestServers' && { onboards }),
    ...(isNew && index === 0 && { publish: 'before' }),
  }));
  return { kind: 'execute', steps };
}

function decideOnce(context: Context): Decision | Transition {
  const { desired, observed, settings } = context;
  const { failure, node } = observed;
  // What could not be read is not known: nothing is decided on it. An onboarding ends with the cause, where trying
  // again is no use.
  if (failure !== null)
    return isOnboarding(onboardingOf(observed).state) && !failure.retryable
      ? abortOnboarding(context, failure.message, 'beyondHost')
      : wait(failure.reason, `another attempt: ${failure.message}`, failure.retryAtMs);

  const transition = takeInRegistration(context) ?? takeBackOffboarding(context);
  if (transition !== null) return transition;
  const urgent = [
    mapNode(desired, node, settings.copiedLabels),
    guardDrain(context),
    releaseNode(context),
    liftForcedDown(context),
    beginRollingUpdate(context),
    clearRollingUpdate(context),
  ];
  const [first] = urgent.filter((step) => step !== null);
  if (first !== undefined) return execute(first);
  return takeUpRetry(context) ?? decideByMode(context);
}

function decideByMode(context: Context): Decision | Transition {
  const { desired, observed } = context;
  const mode = modeOf(desired, observed.node);
  const { state } = onboardingOf(observed);
  if (mode === 'termination') {
    if (isOnboarding(state)) return planOnboarding(context) ?? blocked('The onboarding does not end');
    if (desired.lifecycleEnabled) return planOffboarding(context);
    return (
      planEmptying(context, mode) ??
      blocked(`${desired.name} is empty; its lifecycle is not driven, so it is not taken out of Nova`)
    );
  }
  if (state === 'aborted' && desired.retry !== null) return planOnboarding(context) ?? planActive(context);
  if (mode !== '') return planMaintenance(context, mode);
  if (state !== 'succeeded' && (desired.lifecycleEnabled || isOnboarding(state))) {
    return cleanUpMaintenance(context) ?? planOnboarding(context) ?? planActive(context);
  }
  const active = planActive(context);
  if (state === 'succeeded' || active.kind !== 'done' || active.outcome === 'blocked') return active;
  return blocked('Lifecycle management is disabled');
}

/**
 * The ids that Nova has the host under; one that it has lost before it was in service registers anew. While it is taken
 * out of Nova, those that it had stay the ones.
 */
function takeInRegistration({ desired, observed }: Context): Transition | null {
  const { nova, loneService, recorded, node } = observed;
  if (!desired.lifecycleEnabled) return null;
  if (nova === null) {
    const { state } = onboardingOf(observed);
    const isLeaving = modeOf(desired, node) === 'termination';
    // One that never got a hypervisor was never recorded: it is the one that goes.
    if (isLeaving && recorded.serviceId === null && loneService !== null)
      return {
        kind: 'become',
        conditions: [],
        ids: { hypervisorId: recorded.hypervisorId, serviceId: loneService.serviceId },
      };
    return (state === 'testing' || state === 'handover') && !isLeaving ? beginOnboarding() : null;
  }
  if (nova.hypervisorId === recorded.hypervisorId && nova.serviceId === recorded.serviceId) return null;
  if (recorded.serviceId !== null && modeOf(desired, node) === 'termination') return null;
  return { kind: 'become', conditions: [], ids: { hypervisorId: nova.hypervisorId, serviceId: nova.serviceId } };
}

/** A Node that is not terminating after all, or that came back: what was said of its end is taken back. */
function takeBackOffboarding({ desired, observed }: Context): Transition | null {
  const { recorded, node } = observed;
  const offboarded = findCondition(recorded.conditions, hypervisorConditions.offboarded);
  if (offboarded === undefined || modeOf(desired, node) === 'termination' || isTerminating(desired, node)) return null;
  if (offboarded.status !== 'True')
    return { kind: 'become', conditions: [], removed: [hypervisorConditions.offboarded] };
  const { offboarded: type, onboarding, traitsUpdated, aggregatesUpdated, evicting } = hypervisorConditions;
  return {
    kind: 'become',
    conditions: [],
    removed: [type, onboarding, traitsUpdated, aggregatesUpdated, evicting],
    ids: { hypervisorId: null, serviceId: null },
  };
}

/** A retry with nothing to retry is over at once. Others are taken up where what failed begins again. */
function takeUpRetry(context: Context): Transition | null {
  const { desired, observed } = context;
  if (desired.retry === null) return null;
  const mode = modeOf(desired, observed.node);
  const isAborted = desired.lifecycleEnabled && mode !== 'termination' && onboardingOf(observed).state === 'aborted';
  const emptying = judgeEmptying(context);
  const isStuck = ['failed', 'stopped', 'open'].includes(emptying) || (emptying === 'absent' && mode !== 'termination');
  // What it was meant for may come to nothing only once that Eviction is gone.
  const isLeaving = ownEviction(context)?.deleting === true;
  const waitsForEviction = mode !== '' && (isStuck || isLeaving);
  return isAborted || waitsForEviction ? null : { kind: 'become', conditions: [], takesUpRetry: true };
}

/** An operator is warned when half of the time is over, also where it is an operator who is waited for. */
function wakeAtAlarm(
  { desired, observed, settings, nowMs }: Context,
  plan: HypervisorPlan,
  phase: string,
): HypervisorPlan {
  const deadline = judgeDeadline(desired, observed.node, settings);
  const alarms = deadline === null ? [] : [deadline.halfAtMs, deadline.atMs].filter((ms) => ms > nowMs);
  if (alarms.length === 0) return plan;
  if (plan.kind === 'wait') return { ...plan, untilMs: Math.min(plan.untilMs ?? Infinity, ...alarms) };
  if (plan.kind !== 'done' || plan.outcome !== 'blocked') return plan;
  const message = `${anOperator}, as ${plan.message}`;
  return { kind: 'wait', phase, reason: untilAlarm, message, untilMs: Math.min(...alarms) };
}

/** The deadline of which half is over, Unix ms, while the host is not out of Nova; null: there is none. Pure. */
export function lateDeadline(
  { desired, observed, settings, nowMs }: HypervisorSituation,
  plan: HypervisorPlan,
): number | null {
  if (desired === null || desired.deleting || (plan.kind === 'done' && plan.outcome !== 'blocked')) return null;
  const deadline = judgeDeadline(desired, observed.node, settings);
  return deadline !== null && nowMs >= deadline.halfAtMs ? deadline.atMs : null;
}
