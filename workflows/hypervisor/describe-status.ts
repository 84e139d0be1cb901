import type { Condition, ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition, setConditions } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import { judgeDeadline } from './judge-deadline.ts';
import { judgeEvicting } from './judge-evicting.ts';
import { highAvailabilityFacts, judgeHighAvailability } from './judge-high-availability.ts';
import { judgeLifecycle } from './judge-lifecycle.ts';
import { judgeReady } from './judge-ready.ts';
import { isOnboarding, isTerminating, modeOf, onboardingOf } from './mode.ts';
import { planAggregates } from './plan-aggregates.ts';
import { aggregatesProblem, traitsProblem } from './plan-membership.ts';
import { describeAgents, isOffboarded } from './plan-offboarding.ts';
import { describeResultsOf } from './plan-testing.ts';
import { planTraits } from './plan-traits.ts';
import { disabledBy } from './service.ts';
import type { Context, Decision } from './step.ts';
import { wantAggregates } from './want-aggregates.ts';

/**
 * Everything that a Hypervisor says, from what was seen and what happens next. Pure. Nothing is said to be so that was not seen to be so.
 *
 * @param forgotten types of conditions that the decision took back
 */
export function describeStatus(context: Context, plan: Decision, forgotten: readonly string[]): HypervisorStatusPatch {
  const { desired, observed } = context;
  const { recorded, nova, node, provider } = observed;
  if (observed.failure !== null) return describeFailure(context, plan);
  const said = [
    describeOnboarding(context, plan),
    ...describeChecks(context),
    describeTraits(context),
    describeAggregates(context),
    describeDisabled(context),
    describeTerminating(context),
    describeTaint(context),
    describeAgentPods(context),
    describeOffboarded(context, plan),
  ].filter((update) => update !== null);

  const evicting = describeEvicting(context);
  if (evicting.condition !== null) said.push(evicting.condition);
  const removed = [...forgotten, ...(evicting.removed ? [hypervisorConditions.evicting] : [])];
  said.push(judgeHighAvailability(highAvailabilityFacts(context)));

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

  const ids = desired.lifecycleEnabled
    ? { hypervisorId: recorded.hypervisorId, serviceId: recorded.serviceId }
    : { hypervisorId: null, serviceId: null };
  return {
    conditions: said.map((update) => ({ ...update, observedGeneration: desired.generation })),
    removed: removed.filter((type) => said.every((update) => update.type !== type)),
    ...ids,
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
  };
}

/** What could not be read is not known: all that was said before stays, but for what is being waited for. */
function describeFailure(context: Context, plan: Decision): HypervisorStatusPatch {
  const { desired, observed } = context;
  const before = findCondition(observed.recorded.conditions, hypervisorConditions.lifecycle);
  const judged = judgeLifecycle(context, plan, false);
  const isAborted = onboardingOf(observed).state === 'aborted';
  const lifecycle = before === undefined || isAborted ? judged : { ...judged, reason: before.reason };
  const said = [describeOnboarding(context, plan), lifecycle].filter((update) => update !== null);
  const unchanged = {
    hypervisorId: null,
    serviceId: null,
    traits: null,
    aggregates: null,
    internalIp: null,
    evicted: null,
    libVirtVersion: null,
  };
  return {
    conditions: said.map((update) => ({ ...update, observedGeneration: desired.generation })),
    removed: [],
    ...unchanged,
  };
}

/** The node agent's word counts; until it has spoken, that of the check does. */
const learntVersion = ({ observed }: Context): string | null =>
  observed.tests.map(({ libVirtVersion }) => libVirtVersion).find((version) => version !== null) ?? null;

/** The words that upstream writes at each stage; what is being waited for comes after them. */
function describeOnboarding({ observed }: Context, plan: Decision): ConditionUpdate | null {
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
  return { type, status, reason, message: plan.next === 'wait' ? `${stage}. Waiting for ${plan.for}` : stage };
}

function describeChecks({ observed, settings }: Context): ConditionUpdate[] {
  return observed.tests.filter(({ check }) => settings.checks.includes(check)).flatMap(describeResultsOf);
}

/** Whether traits and aggregates are drover's to keep now: a host that was never onboarded, or failed, is left as it is. */
const isKept = ({ desired, observed }: Context): boolean =>
  desired.lifecycleEnabled && observed.nova !== null && !['none', 'aborted'].includes(onboardingOf(observed).state);

function describeTraits(context: Context): ConditionUpdate | null {
  const { desired, observed } = context;
  if (!isKept(context) || modeOf(desired, observed.node) === 'termination') return null;
  const type = hypervisorConditions.traitsUpdated;
  const problem = traitsProblem(context);
  if (problem !== null) return { type, status: 'False', reason: 'Failed', message: problem };
  // Also where there is nothing to put there (hypervisor.md C.1, H3).
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

function describeDisabled({ observed: { nova } }: Context): ConditionUpdate | null {
  if (nova === null) return null;
  const type = hypervisorConditions.disabled;
  const by = disabledBy(nova);
  if (by === 'nobody') return { type, status: 'False', reason: 'Succeeded', message: 'Hypervisor is enabled' };
  const whose =
    by === 'stranger' ? `, not for its maintenance: ${nova.service.disabledReason ?? 'no reason given'}` : '';
  return { type, status: 'True', reason: 'Succeeded', message: `Hypervisor is disabled${whose}` };
}

function describeTerminating({ desired, observed }: Context): ConditionUpdate | null {
  const type = hypervisorConditions.terminating;
  if (isTerminating(desired, observed.node))
    return { type, status: 'True', reason: 'Terminating', message: 'Node is terminating' };
  // Only taken back where it was said (hypervisor.md C.1, H15).
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

function describeOffboarded(context: Context, plan: Decision): ConditionUpdate | null {
  const { desired, observed, settings, nowMs } = context;
  if (modeOf(desired, observed.node) !== 'termination' || !desired.lifecycleEnabled) return null;
  const type = hypervisorConditions.offboarded;
  if (isOffboarded(context)) return { type, status: 'True', reason: 'Offboarded', message: 'Offboarding successful' };
  const deadline = judgeDeadline(desired, observed.node, settings);
  const late = deadline !== null && nowMs >= deadline.halfAtMs ? ', and more than half of the time is over' : '';
  const limit =
    deadline === null ? '' : `. The machine is taken away at ${new Date(deadline.atMs).toISOString()}${late}`;
  return { type, status: 'False', reason: 'Offboarding', message: `${describeRung(plan)}${limit}` };
}

function describeRung(plan: Decision): string {
  if (plan.next === 'wait') return `Waiting for ${plan.for}`;
  if (plan.next === 'done') return plan.message;
  return 'Hypervisor is being offboarded, removing host from nova';
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
