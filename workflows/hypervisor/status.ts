import type { Condition, ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition, setConditions } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorObservation, HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorAnnotations } from '../../contracts/ids.ts';
import { describePlan } from '../lib/plan.ts';
import type { Plan, Step } from '../lib/plan.ts';
import { judgeLifecycle, judgeReady } from './conditions.ts';
import { describeCertificate } from './certificate.ts';
import { judgeEvicting } from './emptying.ts';
import { describeForcedDown } from './forced-down.ts';
import { highAvailabilityOf } from './high-availability.ts';
import { disabledBy, isOnboarding, isTerminating, judgeDeadline, modeOf, onboardingOf } from './judge.ts';
import { aggregatesProblem, planAggregates, traitsProblem, wantAggregates } from './membership.ts';
import { describeAgents, isOffboarded } from './offboarding.ts';
import { describeResultsOf } from './testing.ts';
import { decide, untilAlarm } from './plan.ts';
import { planTraits } from './traits.ts';
import type { Context, HypervisorSituation, HypervisorStep } from './types.ts';

/** What a Hypervisor says. All pure. */

/**
 * Null: there is no Hypervisor to say it, or it is about to go. Before the run of a failure is signalled, and while an
 * operator is waited for, it says what was decided about the host itself.
 */
export function statusOf(situation: HypervisorSituation, given: Plan<HypervisorStep>): HypervisorStatusPatch | null {
  const decided = decide(situation);
  if (decided === null) return null;
  const { context, removed, takenUp } = decided;
  const isOwn = given.kind === 'execute' ? given.steps[0]?.kind === 'signalNodeFailure' : given.reason === untilAlarm;
  const plan = isOwn ? decided.plan : given;
  if (situation.settings.mode === 'observe') return describeObservation(context, plan);
  const status = describeStatus(context, plan, removed);
  // The next run is to find it.
  if (takenUp === null || (plan.kind === 'done' && plan.reason === 'Cancelled')) return status;
  return { ...status, annotations: { ...status.annotations, [hypervisorAnnotations.retryHandled]: takenUp } };
}

/** Beside a replaced operator every other condition is that operator's, so this is all that is said. */
function describeObservation({ desired }: Context, plan: Plan<Step>): HypervisorStatusPatch {
  const { message } = describePlan(plan);
  const isIntent = plan.kind === 'done' && plan.reason === 'ObserveOnly';
  const condition = {
    type: hypervisorConditions.observed,
    status: 'True',
    reason: 'Observed',
    message: isIntent ? message : `drover only observes, and would change nothing: ${message}`,
    observedGeneration: desired.generation,
  } as const;
  return { conditions: [condition] };
}

/** Whether the Hypervisor says all of it already, so that a report would change nothing. Pure. */
export function isSaid({ recorded }: Pick<HypervisorObservation, 'recorded'>, status: HypervisorStatusPatch): boolean {
  const { conditions, removed = [], annotations = null, ...fields } = status;
  return (
    annotations === null &&
    conditions.every((update) => {
      const current = findCondition(recorded.conditions, update.type);
      return (
        current?.status === update.status &&
        current.reason === update.reason &&
        current.message === update.message &&
        current.observedGeneration === update.observedGeneration
      );
    }) &&
    removed.every((type) => findCondition(recorded.conditions, type) === undefined) &&
    Object.entries(fields).every(
      ([field, value]) =>
        value === null || JSON.stringify(value) === JSON.stringify(recorded[field as keyof typeof fields]),
    )
  );
}

/**
 * Everything that a Hypervisor says, from what was observed and what happens next. Nothing is said to be so that was
 * not observed.
 *
 * @param takenBack types of conditions that the decision took back
 */
export function describeStatus(
  context: Context,
  plan: Plan<Step>,
  takenBack: readonly string[],
): HypervisorStatusPatch {
  const { desired, observed } = context;
  const { recorded, nova, node, provider } = observed;
  if (observed.failure !== null) return describeFailure(context, plan);
  const said = [
    describeOnboarding(context, plan),
    ...describeChecks(context),
    ...describeDecided(context),
    describeTraits(context),
    describeAggregates(context),
    describeDisabled(context),
    describeForcedDown(context),
    describeCertificate(context),
    describeTerminating(context),
    describeTaint(context),
    describeAgentPods(context),
    describeOffboarded(context, plan),
    describeHandOver(context),
  ].filter((update) => update !== null);

  const evicting = describeEvicting(context);
  if (evicting.condition !== null) said.push(evicting.condition);
  const removed = [
    ...takenBack,
    ...(evicting.removed ? [hypervisorConditions.evicting] : []),
    ...(isForcedDownNoMore(context) ? [hypervisorConditions.forcedDown] : []),
    ...(agentsAreBack(context) ? [hypervisorConditions.agentPodsEvicted] : []),
  ];
  said.push(highAvailabilityOf(context));

  const current = setConditions(
    recorded.conditions.filter(({ type }) => !removed.includes(type)),
    said,
    '',
  );
  const registered = recorded.hypervisorId !== null && recorded.serviceId !== null;
  said.push(
    judgeReady({
      conditions: current,
      mode: modeOf(desired, node),
      lifecycleEnabled: desired.lifecycleEnabled,
      registered,
    }),
  );
  const offboarded = findCondition(current, hypervisorConditions.offboarded)?.status === 'True';
  said.push(judgeLifecycle(context, plan, offboarded));

  return {
    conditions: said.map((update) => ({ ...update, observedGeneration: desired.generation })),
    removed: removed.filter((type) => said.every((update) => update.type !== type)),
    hypervisorId: desired.lifecycleEnabled ? recorded.hypervisorId : null,
    serviceId: desired.lifecycleEnabled ? recorded.serviceId : null,
    traits: desired.lifecycleEnabled && provider !== null ? provider.traits : null,
    aggregates:
      desired.lifecycleEnabled && nova !== null
        ? observed.aggregates
            .filter(({ hasHost }) => hasHost)
            .map(({ name, uuid, metadata }) => ({ name, uuid, metadata }))
        : null,
    internalIp: node?.internalIp ?? null,
    evicted: evicting.evicted,
    libVirtVersion: recorded.libVirtVersion === null ? learntVersion(context) : null,
    annotations: appliedTraits(context),
  };
}

/**
 * One that was emptied because it had failed, and that a user wants in service again, does not go on saying that it is
 * being emptied.
 */
function describeHandOver({ desired, observed: { recorded, node } }: Context): ConditionUpdate | null {
  const said = findCondition(recorded.conditions, hypervisorConditions.nodeFailure);
  if (said?.status !== 'True' || said.reason !== 'HandedOver' || modeOf(desired, node) !== '') return null;
  const message = `${desired.name} was emptied as it had failed, and is wanted in service again`;
  return { type: hypervisorConditions.nodeFailure, status: 'False', reason: 'Recovered', message };
}

/** Which traits are drover's: those that it is about to put there, as long as they are there. Null: it is noted. */
function appliedTraits(context: Context): Record<string, string | null> | null {
  const { desired, observed } = context;
  const isLeaving = modeOf(desired, observed.node) === 'termination';
  if (!isKept(context) && !isLeaving) return null;
  return planTraits(isLeaving ? [] : desired.customTraits, desired, observed).annotations;
}

/** What could not be read is not known: all that was said before stays, but for what is being waited for. */
function describeFailure(context: Context, plan: Plan<Step>): HypervisorStatusPatch {
  const { desired, observed } = context;
  const before = findCondition(observed.recorded.conditions, hypervisorConditions.lifecycle);
  const judged = judgeLifecycle(context, plan, false);
  const isAborted = onboardingOf(observed).state === 'aborted';
  const lifecycle = before === undefined || isAborted ? judged : { ...judged, reason: before.reason };
  const said = [describeOnboarding(context, plan), ...describeDecided(context), lifecycle].filter(
    (update) => update !== null,
  );
  return { conditions: said.map((update) => ({ ...update, observedGeneration: desired.generation })) };
}

/** The node agent's word counts; until it has spoken, that of the check does. */
const learntVersion = ({ memory }: Context): string | null =>
  memory.tests.map(({ libVirtVersion }) => libVirtVersion).find((version) => version !== null) ?? null;

/** The words that upstream writes at each stage; what is being waited for comes after them. */
function describeOnboarding({ observed }: Context, plan: Plan<Step>): ConditionUpdate | null {
  const { state, condition } = onboardingOf(observed);
  if (condition === undefined) return null;
  const { type, status, reason } = condition;
  if (!isOnboarding(state)) return { type, status, reason, message: condition.message };
  const stage =
    state === 'testing'
      ? 'Running onboarding tests'
      : state === 'handover'
        ? 'Waiting for other controllers to take over'
        : 'Initial onboarding';
  return { type, status, reason, message: plan.kind === 'wait' ? `${stage}. ${describePlan(plan).message}` : stage };
}

/** What the onboarding has decided of itself stays until it begins again. */
const describeDecided = ({ observed: { recorded } }: Context): ConditionUpdate[] =>
  [hypervisorConditions.onboardingRetry, hypervisorConditions.tested].flatMap((wanted) => {
    const found = findCondition(recorded.conditions, wanted);
    if (found === undefined) return [];
    const { type, status, reason, message } = found;
    return [{ type, status, reason, message }];
  });

function describeChecks({ memory, settings }: Context): ConditionUpdate[] {
  return memory.tests.filter(({ check }) => settings.checks.includes(check)).flatMap(describeResultsOf);
}

/**
 * Whether traits and aggregates are drover's to keep now: a host that was never onboarded, or failed, is left as it is.
 */
const isKept = ({ desired, observed }: Context): boolean =>
  desired.lifecycleEnabled && observed.nova !== null && !['none', 'aborted'].includes(onboardingOf(observed).state);

function describeTraits(context: Context): ConditionUpdate | null {
  const { desired, observed } = context;
  if (!isKept(context) || modeOf(desired, observed.node) === 'termination') return null;
  const type = hypervisorConditions.traitsUpdated;
  const problem = traitsProblem(context);
  if (problem !== null) return { type, status: 'False', reason: 'Failed', message: problem };
  // Also where there is nothing to put there.
  const { steps, standard } = planTraits(desired.customTraits, desired, observed);
  if (steps.length > 0) return null;
  const left = standard.length === 0 ? '' : `; left to Nova: ${standard.join(', ')}`;
  return { type, status: 'True', reason: 'Succeeded', message: `Traits successfully updated${left}` };
}

function describeAggregates(context: Context): ConditionUpdate | null {
  const { nova, aggregates } = context.observed;
  const { names, condition } = wantAggregates(context);
  const problem = aggregatesProblem(context);
  if (problem !== null)
    return { type: hypervisorConditions.aggregatesUpdated, status: 'False', reason: 'Failed', message: problem };
  if (condition === null || names === null || nova === null) return condition;
  return planAggregates(names, aggregates, nova.host, nova.servers > 0).steps.length > 0 ? null : condition;
}

function describeDisabled({ observed: { nova, loneService } }: Context): ConditionUpdate | null {
  const compute = nova ?? loneService;
  if (compute === null) return null;
  const type = hypervisorConditions.disabled;
  const by = disabledBy(compute);
  if (by === 'none') return { type, status: 'False', reason: 'Succeeded', message: 'Hypervisor is enabled' };
  const whose =
    by === 'other' ? `, not for its maintenance: ${compute.service.disabledReason ?? 'no reason given'}` : '';
  return { type, status: 'True', reason: 'Succeeded', message: `Hypervisor is disabled${whose}` };
}

function describeTerminating({ desired, observed }: Context): ConditionUpdate | null {
  const type = hypervisorConditions.terminating;
  if (isTerminating(desired, observed.node))
    return { type, status: 'True', reason: 'Terminating', message: 'Node is terminating' };
  // Only taken back where it was said.
  if (findCondition(observed.recorded.conditions, type) === undefined) return null;
  return { type, status: 'False', reason: 'NotTerminating', message: 'Node is not terminating' };
}

function describeTaint({ desired: { touchedByKubectl } }: Context): ConditionUpdate {
  const type = hypervisorConditions.tainted;
  return touchedByKubectl
    ? { type, status: 'True', reason: 'Kubectl', message: '⚠️' }
    : { type, status: 'False', reason: 'NoKubectl', message: '🟢' };
}

function describeAgentPods({ observed: { agentPods, node } }: Context): ConditionUpdate | null {
  if (agentPods === null || node?.offboardingTaint !== true) return null;
  const type = hypervisorConditions.agentPodsEvicted;
  if (agentPods.length > 0)
    return { type, status: 'False', reason: 'AgentPodsRunning', message: describeAgents(agentPods) };
  return { type, status: 'True', reason: 'NoAgentPods', message: 'No agent pods are running on this node' };
}

const isForcedDownNoMore = ({ observed: { recorded, nova } }: Context): boolean =>
  nova?.service.forcedDown === false &&
  findCondition(recorded.conditions, hypervisorConditions.forcedDown) !== undefined;

/** Its agents were driven off, and the host stays after all. */
const agentsAreBack = ({ desired, observed: { recorded, node } }: Context): boolean =>
  node !== null &&
  !node.offboardingTaint &&
  modeOf(desired, node) !== 'termination' &&
  findCondition(recorded.conditions, hypervisorConditions.agentPodsEvicted) !== undefined;

function describeOffboarded(context: Context, plan: Plan<Step>): ConditionUpdate | null {
  const { desired, observed, settings, nowMs } = context;
  if (modeOf(desired, observed.node) !== 'termination' || !desired.lifecycleEnabled) return null;
  const type = hypervisorConditions.offboarded;
  if (isOffboarded(context)) return { type, status: 'True', reason: 'Offboarded', message: 'Offboarding successful' };
  const deadline = judgeDeadline(desired, observed.node, settings);
  const late = deadline !== null && nowMs >= deadline.halfAtMs ? ', and more than half of the time is over' : '';
  const limit =
    deadline === null ? '' : `. The machine is taken away at ${new Date(deadline.atMs).toISOString()}${late}`;
  const stage =
    plan.kind === 'execute' ? 'Hypervisor is being offboarded, removing host from nova' : describePlan(plan).message;
  return { type, status: 'False', reason: 'Offboarding', message: `${stage}${limit}` };
}

/** `evicted` null: it stays as it is. */
function describeEvicting(context: Context): {
  condition: ConditionUpdate | null;
  removed: boolean;
  evicted: boolean | null;
} {
  const { desired, observed } = context;
  const { recorded, nova, node } = observed;
  const before: Condition | undefined = findCondition(recorded.conditions, hypervisorConditions.evicting);
  const judged = judgeEvicting(context);
  if (judged !== null) return { ...judged, removed: false };
  // Taken out of Nova and gone from it: empty it was, and is.
  if (modeOf(desired, node) === 'termination' && nova === null)
    return { condition: null, removed: false, evicted: null };
  return { condition: null, removed: before !== undefined, evicted: recorded.evicted ? false : null };
}
