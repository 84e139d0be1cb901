import { findCondition, setConditions } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  HypervisorSettings,
  HypervisorStatusPatch,
} from '../../contracts/hypervisor/hypervisor.ts';
import { acknowledgeRetry } from './acknowledge-retry.ts';
import { describeObservation, observeOnly } from './describe-observation.ts';
import { describeStatus } from './describe-status.ts';
import { guardDrain } from './guard-drain.ts';
import { judgeDeadline } from './judge-deadline.ts';
import type { Deadline } from './judge-deadline.ts';
import { judgeEmptying, ownEviction } from './judge-evicting.ts';
import { mapNode, newHypervisor } from './map-node.ts';
import { isOnboarding, isTerminating, modeOf, onboardingOf } from './mode.ts';
import { planActive } from './plan-active.ts';
import { planEmptying } from './plan-emptying.ts';
import { beginRollingUpdate, forgetRollingUpdate, planMaintenance } from './plan-maintenance.ts';
import { planOffboarding } from './plan-offboarding.ts';
import { abortOnboarding, beginOnboarding, planOnboarding } from './plan-onboarding.ts';
import type { Become, Context, Decision, Plan, Step } from './step.ts';
import { act, done, rest, wait } from './step.ts';

/** What a run does now, and what the Hypervisor then says. The status is published before the steps are taken. */
export interface HypervisorPlan {
  plan: Decision;
  /** Null: there is no Hypervisor to say it. */
  status: HypervisorStatusPatch | null;
  /** Of a Node that terminates: by when the host has to be empty. */
  deadline: (Deadline & { marginMs: number; halfOver: boolean }) | null;
}

/** How often the onboarding may change in one decision; each change leads on, so this is only a guard. */
const mostChanges = 10;

/**
 * Decides what happens to a hypervisor next. Pure. The outside comes first: what the Node says, and what failed; then the maintenance that
 * counts; then the onboarding; then the service. Sources: seed 001; hypervisor.md B; design section 8.
 *
 * @param desired null: there is no Hypervisor of that name
 */
export function planHypervisor(
  desired: DesiredHypervisor | null,
  observed: HypervisorObservation,
  nowMs: number,
  settings: HypervisorSettings,
): HypervisorPlan {
  const isObserved = settings.mode === 'observe' || desired?.mode === 'observe';
  if (desired === null) {
    const plan = planCreation(observed, settings);
    return { plan: isObserved ? observeOnly(plan) : plan, status: null, deadline: null };
  }
  if (desired.deleting)
    return { plan: done('The Hypervisor is being deleted: nothing more is done'), status: null, deadline: null };

  let context: Context = { desired, observed, settings, nowMs };
  const forgotten = new Set<string>();
  for (let changes = 0; changes < mostChanges; changes += 1) {
    const plan = decide(context);
    if (plan.next !== 'become') {
      const deadline = judgeDeadline(desired, observed.node, settings);
      return {
        plan: isObserved ? observeOnly(plan) : wakeAtHalf(plan, deadline, nowMs),
        status: isObserved ? describeObservation(context, plan) : describeStatus(context, plan, [...forgotten]),
        deadline:
          deadline === null
            ? null
            : { ...deadline, marginMs: deadline.atMs - nowMs, halfOver: nowMs >= deadline.halfAtMs },
      };
    }
    for (const type of plan.forget ?? []) forgotten.add(type);
    for (const { type } of plan.conditions) forgotten.delete(type);
    context = become(context, plan);
  }
  throw new Error(`The decision about ${desired.name} does not come to an end`);
}

function become(context: Context, { conditions, forget = [], ids }: Become): Context {
  const { desired, observed, nowMs } = context;
  const kept = observed.recorded.conditions.filter(({ type }) => !forget.includes(type));
  const updates = conditions.map((update) => ({ ...update, observedGeneration: desired.generation }));
  const recorded = {
    ...observed.recorded,
    conditions: setConditions(kept, updates, new Date(nowMs).toISOString()),
    ...ids,
  };
  return { ...context, observed: { ...observed, recorded } };
}

function planCreation({ node }: HypervisorObservation, { copiedLabels }: HypervisorSettings): Decision {
  const hypervisor = node === null ? null : newHypervisor(node, copiedLabels);
  if (hypervisor === null) return done('There is neither a Hypervisor of that name nor a Node that is one');
  return act({ do: 'createHypervisor', hypervisor, words: `Make the Hypervisor of Node ${hypervisor.name}` });
}

function decide(context: Context): Plan {
  const { desired, observed, settings } = context;
  const { failure, node } = observed;
  const { state } = onboardingOf(observed);
  // What could not be read is not known: nothing is decided on it. An onboarding ends with the cause, where trying again is no use.
  if (failure !== null)
    return isOnboarding(state) && !failure.retryable
      ? abortOnboarding(failure.message)
      : wait(failure.message, failure.retryAtMs);

  const seen = takeInRegistration(context) ?? takeBackOffboarding(context);
  if (seen !== null) return seen;
  const urgent = [
    mapNode(desired, node, settings.copiedLabels),
    guardDrain(context),
    beginRollingUpdate(context),
    forgetRollingUpdate(context),
    settleRetry(context),
  ];
  const [first] = urgent.filter((step) => step !== null);
  if (first !== undefined) return act(first);
  return decideByMode(context);
}

function decideByMode(context: Context): Plan {
  const { desired, observed } = context;
  const mode = modeOf(desired, observed.node);
  const { state } = onboardingOf(observed);
  if (mode === 'termination') {
    if (isOnboarding(state)) return planOnboarding(context) ?? rest('The onboarding does not end');
    if (desired.lifecycleEnabled) return planOffboarding(context);
    return (
      planEmptying(context, mode) ??
      rest(`${desired.name} is empty; its lifecycle is not driven, so it is not taken out of Nova`)
    );
  }
  if (state === 'aborted' && desired.retry !== null) return planOnboarding(context) ?? planActive(context);
  if (mode !== '') return planMaintenance(context, mode);
  if (state !== 'succeeded' && (desired.lifecycleEnabled || isOnboarding(state))) {
    return cleanUpMaintenance(context) ?? planOnboarding(context) ?? planActive(context);
  }
  const active = planActive(context);
  if (state === 'succeeded' || active.next !== 'done' || active.rests) return active;
  return rest('Lifecycle management is disabled');
}

/** An onboarding that a maintenance interrupted goes on without that maintenance's Eviction. */
function cleanUpMaintenance({ desired, observed }: Context): Plan | null {
  const own = observed.evictions.find(({ ownerUid, deleting }) => ownerUid === desired.uid && !deleting);
  if (own === undefined) return null;
  return act({
    do: 'deleteEviction',
    name: own.name,
    uid: own.uid,
    words: `The maintenance of ${desired.name} is over: delete Eviction ${own.name}`,
  });
}

/** The ids that Nova has the host under; one that it has lost before it was in service registers anew. While it is taken out of Nova, those that it had stay the ones. */
function takeInRegistration({ desired, observed }: Context): Plan | null {
  const { nova, recorded, node } = observed;
  if (!desired.lifecycleEnabled) return null;
  if (nova === null) {
    const { state } = onboardingOf(observed);
    const isLost = (state === 'testing' || state === 'handover') && modeOf(desired, node) !== 'termination';
    return isLost ? beginOnboarding() : null;
  }
  if (nova.hypervisorId === recorded.hypervisorId && nova.serviceId === recorded.serviceId) return null;
  if (recorded.serviceId !== null && modeOf(desired, node) === 'termination') return null;
  return { next: 'become', conditions: [], ids: { hypervisorId: nova.hypervisorId, serviceId: nova.serviceId } };
}

/** A Node that is not terminating after all, or that came back: what was said of its end is taken back (hypervisor.md C.1, H15). */
function takeBackOffboarding({ desired, observed }: Context): Plan | null {
  const { recorded, node } = observed;
  const offboarded = findCondition(recorded.conditions, hypervisorConditions.offboarded);
  if (offboarded === undefined || modeOf(desired, node) === 'termination' || isTerminating(desired, node)) return null;
  if (offboarded.status !== 'True')
    return { next: 'become', conditions: [], forget: [hypervisorConditions.offboarded] };
  const { offboarded: type, onboarding, traitsUpdated, aggregatesUpdated, evicting } = hypervisorConditions;
  return {
    next: 'become',
    conditions: [],
    forget: [type, onboarding, traitsUpdated, aggregatesUpdated, evicting],
    ids: { hypervisorId: null, serviceId: null },
  };
}

/** A retry with nothing to retry is over at once. */
function settleRetry(context: Context): Step | null {
  const { desired, observed } = context;
  if (desired.retry === null) return null;
  const mode = modeOf(desired, observed.node);
  const isAborted = mode !== 'termination' && onboardingOf(observed).state === 'aborted';
  const emptying = judgeEmptying(context);
  const isStuck = ['failed', 'stopped', 'open'].includes(emptying) || (emptying === 'absent' && mode !== 'termination');
  // What it was meant for may come to nothing only once that Eviction is gone.
  const isLeaving = ownEviction(context)?.deleting === true;
  const waitsForEviction = mode !== '' && (isStuck || isLeaving);
  return isAborted || waitsForEviction ? null : acknowledgeRetry(desired, desired.retry);
}

/** Somebody is told when half of the time is over, also where it is a person who is waited for. */
function wakeAtHalf(plan: Decision, deadline: Deadline | null, nowMs: number): Decision {
  const alarms = deadline === null ? [] : [deadline.halfAtMs, deadline.atMs].filter((ms) => ms > nowMs);
  if (alarms.length === 0) return plan;
  if (plan.next === 'wait') return { ...plan, untilMs: Math.min(plan.untilMs ?? Infinity, ...alarms) };
  return plan.next === 'done' && plan.rests ? wait(`somebody, as ${plan.message}`, Math.min(...alarms)) : plan;
}
