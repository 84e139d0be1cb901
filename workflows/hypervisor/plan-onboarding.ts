import { hypervisorConditions, onboardingReasons } from '../../contracts/hypervisor/conditions.ts';
import { acknowledgeRetry } from './acknowledge-retry.ts';
import { foreignEvictions } from './judge-evicting.ts';
import { isolationProblem } from './judge-isolation.ts';
import { modeOf, onboardingOf } from './mode.ts';
import type { OnboardingState } from './mode.ts';
import { planAggregates } from './plan-aggregates.ts';
import { membershipProblem, planMembership } from './plan-membership.ts';
import { planTesting } from './plan-testing.ts';
import { disabledBy, enabling } from './service.ts';
import type { Context, Plan } from './step.ts';
import { act, rest, wait } from './step.ts';
import { zoneOf } from './want-aggregates.ts';

/** Begins, or begins again. */
export const beginOnboarding = (): Plan => become('initial', 'Initial onboarding');

/** The Testing checks again, on a host that was in service before: its registration stays. */
export const beginTesting = (): Plan => become('testing', 'Running onboarding tests');

export const abortOnboarding = (message: string): Plan => become('aborted', message);

function become(state: Exclude<OnboardingState, 'none'>, message: string): Plan {
  const status = state === 'succeeded' || state === 'aborted' ? 'False' : 'True';
  return {
    next: 'become',
    conditions: [{ type: hypervisorConditions.onboarding, status, reason: onboardingReasons[state], message }],
  };
}

/**
 * Brings a host from its registration into service: Initial → Testing → Handover → Succeeded, or Aborted with the cause. Every wait for
 * something that may never come is bounded. Null: the onboarding is over. Sources: seed 001 "Onboarding Process"; hypervisor.md B.2.
 */
export function planOnboarding(context: Context): Plan | null {
  const { desired, observed } = context;
  const { state, condition } = onboardingOf(observed);
  const refusal = refuse(context);
  switch (state) {
    case 'succeeded':
      return null;
    case 'none':
      return refusal === null ? beginOnboarding() : null;
    case 'aborted':
      if (desired.retry !== null)
        return refusal === null ? beginOnboarding() : act(acknowledgeRetry(desired, desired.retry));
      return rest(`Onboarding was aborted: ${condition?.message ?? ''}`);
    case 'initial':
    case 'testing':
    case 'handover':
      return refusal === null
        ? planStage(context, state, Date.parse(condition?.lastTransitionTime ?? '') || 0)
        : planAbort(context, refusal);
  }
}

/** Why a host may not be onboarded at all. */
function refuse({ desired, observed }: Context): string | null {
  if (!desired.lifecycleEnabled) return 'Aborted due to LifecycleEnabled being false';
  return modeOf(desired, observed.node) === 'termination' ? 'Aborted due to MaintenanceTermination' : null;
}

/** What the tests have made goes first. */
function planAbort({ desired, observed: { testServers } }: Context, message: string): Plan {
  if (testServers.length === 0) return abortOnboarding(message);
  return act({ do: 'deleteTestServers', ids: testServers, words: `Delete the test servers on ${desired.name}` });
}

function planStage(context: Context, state: 'initial' | 'testing' | 'handover', sinceMs: number): Plan {
  const { hold } = context.observed;
  if (hold !== null) return wait(`the end of what holds the host: ${hold.message}`);
  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return wait(`Eviction ${foreign.name}, which somebody started, to end`);
  switch (state) {
    case 'initial':
      return planInitial(context, sinceMs);
    case 'testing':
      return planTests(context, sinceMs);
    case 'handover':
      return planHandover(context);
  }
}

function planInitial(context: Context, sinceMs: number): Plan {
  const { desired, observed, settings } = context;
  const { nova, aggregates, provider } = observed;
  const zone = zoneOf(context);
  if (nova === null) return awaitRegistration(context, sinceMs, `nova-compute to register ${desired.name} in Nova`);
  if (provider === null)
    return awaitRegistration(context, sinceMs, `nova-compute to register ${desired.name} in Placement`);
  if (zone === null)
    return awaitRegistration(context, sinceMs, `the label topology.kubernetes.io/zone on Node ${desired.name}`);
  // Also those that it is put into after its tests: it would be a pity to find out only then.
  const { problem } = planAggregates(
    [zone, settings.testAggregate, ...desired.aggregates],
    aggregates,
    nova.host,
    nova.servers > 0,
  );
  if (problem?.startsWith('aggregates not found')) return planAbort(context, `failed to apply aggregates: ${problem}`);
  const isTried = settings.checks.includes('smoke') && !desired.skipTests;
  const leak = isTried ? isolationProblem(aggregates, settings.testAggregate) : null;
  if (leak !== null) return planAbort(context, `failed to apply aggregates: ${leak}`);
  const open = membershipProblem(context);
  if (open !== null) return planAbort(context, open);
  return planMembership(context) ?? become('testing', 'Running onboarding tests');
}

function awaitRegistration(context: Context, sinceMs: number, missing: string): Plan {
  const { registrationMs, recheckMs } = context.settings;
  const deadlineMs = sinceMs + registrationMs;
  if (context.nowMs >= deadlineMs)
    return planAbort(context, `Waited ${Math.round(registrationMs / 60_000)} min in vain for ${missing}`);
  return wait(missing, Math.min(context.nowMs + recheckMs, deadlineMs));
}

function planTests(context: Context, sinceMs: number): Plan {
  const { desired, observed, settings, nowMs } = context;
  const { nova, tests, testServers } = observed;
  // Nova has lost it, or the object was moved to another cloud: from the beginning.
  if (nova === null) return beginOnboarding();
  const { skipTests } = desired;
  const { maxTestAttempts: maxAttempts, testRetryDelayMs: retryDelayMs } = settings;
  const plan = planTesting({ checks: settings.checks, skipTests, sinceMs, tests, maxAttempts, retryDelayMs, nowMs });
  switch (plan.next) {
    case 'failed':
      return planAbort(context, plan.message);
    case 'pause':
      return wait(`the next attempt of ${plan.words}`, plan.untilMs);
    case 'passed':
      if (testServers.length === 0) return become('handover', 'Waiting for other controllers to take over');
      return act({ do: 'deleteTestServers', ids: testServers, words: `Delete the test servers on ${nova.host}` });
    case 'run':
      return plan.steps.some((step) => step.do === 'runCheck' && step.check === 'smoke')
        ? planSmoke(context, plan.steps)
        : act(...plan.steps);
  }
}

/** Nova starts servers only on a host that is enabled: before that, guests have to be kept off it by the test aggregate. */
function planSmoke(context: Context, steps: Parameters<typeof act>): Plan {
  const { observed, settings } = context;
  const problem = membershipProblem(context) ?? isolationProblem(observed.aggregates, settings.testAggregate);
  if (problem !== null) return planAbort(context, problem);
  return planMembership(context) ?? planEnabling(context) ?? act(...steps);
}

/** Null: it is enabled. Somebody else's disable is theirs to lift. */
export function planEnabling({ observed: { nova, hold } }: Context): Plan | null {
  if (nova === null) return null;
  if (nova.service.forcedDown)
    return wait(`Nova to have ${nova.host} no longer forced down: it was fenced, or somebody did that`);
  switch (disabledBy(nova)) {
    case 'nobody':
      return null;
    case 'stranger':
      return wait(
        `somebody to enable ${nova.host}, as it was not drover that disabled it: ${nova.service.disabledReason ?? 'no reason given'}`,
      );
    case 'maintenance':
    case 'novaDefault':
      return hold === null ? act(enabling(nova)) : wait(`the end of what holds the host: ${hold.message}`);
  }
}

function planHandover(context: Context): Plan {
  const { nova } = context.observed;
  if (nova === null) return beginOnboarding();
  const problem = membershipProblem(context);
  if (problem !== null) return planAbort(context, problem);
  const membership = planMembership(context);
  if (membership !== null) return membership;
  const isOurs = ['maintenance', 'novaDefault'].includes(disabledBy(nova)) && !nova.service.forcedDown;
  return isOurs ? act(enabling(nova)) : become('succeeded', 'Onboarding completed');
}
