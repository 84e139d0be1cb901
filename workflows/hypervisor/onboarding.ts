import type { Condition, ConditionUpdate } from '../../contracts/conditions.ts';
import {
  anOperator,
  causeBeyondHost,
  hypervisorConditions,
  onboardingReasons,
  onboardingRetryMessage,
  onboardingRetryMs,
} from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorCheck, NovaHost } from '../../contracts/hypervisor/hypervisor.ts';
import { requestCertificate } from './certificate.ts';
import { awaitForeign, deleteTestServers, foreignEvictions } from './emptying.ts';
import { describeLone, disabledBy, modeOf, onboardingOf } from './judge.ts';
import type { OnboardingState } from './judge.ts';
import {
  aggregatesProblem,
  isolationProblem,
  membershipProblem,
  planAggregates,
  planMembership,
  traitsProblem,
  zoneOf,
} from './membership.ts';
import { describeTested, planTesting } from './testing.ts';
import { blocked, execute, wait } from './types.ts';
import type { Context, Decision, Draft, Transition } from './types.ts';

/** Begins, or begins again. */
export const beginOnboarding = (): Transition => become('initial', 'Initial onboarding');

/** The Testing checks again, on a host that was in service before: its registration stays. */
export const beginTesting = (): Transition => become('testing', 'Running onboarding tests');

/** Whose it is that an onboarding ends: what is not the host's is tried again by itself. */
type Whose = 'host' | 'beyondHost';

export function abortOnboarding(
  { settings, nowMs }: Pick<Context, 'settings' | 'nowMs'>,
  message: string,
  whose: Whose,
): Transition {
  const aborted = become('aborted', message);
  if (whose === 'host') return aborted;
  const retry: ConditionUpdate = {
    type: hypervisorConditions.onboardingRetry,
    status: 'True',
    reason: causeBeyondHost,
    message: onboardingRetryMessage(nowMs + 2 * settings.registrationMs),
  };
  return { ...aborted, conditions: [...aborted.conditions, retry], removed: [] };
}

/** @param more conditions that come with it */
function become(
  state: Exclude<OnboardingState, 'none'>,
  message: string,
  more: readonly ConditionUpdate[] = [],
): Transition {
  const status = state === 'succeeded' || state === 'aborted' ? 'False' : 'True';
  const onboarding: ConditionUpdate = {
    type: hypervisorConditions.onboarding,
    status,
    reason: onboardingReasons[state],
    message,
  };
  const { onboardingRetry, tested } = hypervisorConditions;
  const removed = [onboardingRetry, ...(state === 'initial' || state === 'testing' ? [tested] : [])];
  return { kind: 'become', conditions: [onboarding, ...more], removed };
}

/**
 * Brings a host from its registration into service: Initial → Testing → Handover → Succeeded, or Aborted with the
 * cause. Every wait for something that may never come is bounded. Null: the onboarding is over.
 */
export function planOnboarding(context: Context): Decision | Transition | null {
  const { desired, observed, memory } = context;
  const { state, condition } = onboardingOf(observed);
  const refusal = refuse(context);
  switch (state) {
    case 'succeeded':
      return null;
    case 'none':
      return refusal === null ? beginOnboarding() : null;
    case 'aborted':
      if (desired.retry !== null && refusal === null) return beginOnboarding();
      return planAfterAbort(context, condition, refusal);
    case 'initial':
    case 'testing':
    case 'handover': {
      const cause = refusal ?? memory.refusal;
      return cause === null
        ? planStage(context, state, Date.parse(condition?.lastTransitionTime ?? '') || 0)
        : planAbort(context, cause, refusal === null ? 'beyondHost' : 'host');
    }
  }
}

/**
 * An onboarding that ended for a cause beyond its host begins again after twice the time that a registration may take:
 * the comparison with Nova signals its run then, as none is open meanwhile.
 */
function planAfterAbort(
  { observed, nowMs }: Context,
  condition: Condition | undefined,
  refusal: string | null,
): Decision | Transition {
  const retryMs = onboardingRetryMs(observed.recorded.conditions);
  return refusal === null && retryMs !== null && nowMs >= retryMs
    ? beginOnboarding()
    : blocked(`Onboarding was aborted: ${condition?.message ?? ''}`);
}

/** Why a host may not be onboarded at all. */
function refuse({ desired, observed }: Context): string | null {
  if (!desired.lifecycleEnabled) return 'Aborted due to LifecycleEnabled being false';
  return modeOf(desired, observed.node) === 'termination' ? 'Aborted due to MaintenanceTermination' : null;
}

/** What the tests have made goes first. */
function planAbort(context: Context, message: string, whose: Whose): Decision | Transition {
  const { desired, observed } = context;
  const { testServers } = observed;
  return testServers.length === 0
    ? abortOnboarding(context, message, whose)
    : deleteTestServers(testServers, desired.name);
}

/** A name in the spec that is no trait is the Hypervisor's own; aggregates are Nova's. */
const whoseMembership = (context: Context): Whose =>
  traitsProblem(context) === null && aggregatesProblem(context) !== null ? 'beyondHost' : 'host';

function planStage(
  context: Context,
  state: 'initial' | 'testing' | 'handover',
  sinceMs: number,
): Decision | Transition {
  const { hold } = context.observed;
  if (hold !== null) return awaitRelease(hold);
  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return awaitForeign(foreign);
  switch (state) {
    case 'initial':
      return planInitial(context);
    case 'testing':
      return planTests(context, sinceMs);
    case 'handover':
      return planHandover(context);
  }
}

/**
 * Whether it is the registration that the onboarding waits for now: its time begins anew after a hold, a
 * maintenance, an Eviction of another party, and an observation in which OpenStack did not answer. Pure.
 */
export function awaitsRegistration(context: Pick<Context, 'desired' | 'observed'>): boolean {
  const { desired, observed } = context;
  const { failure, hold, nova, provider, node } = observed;
  return (
    onboardingOf(observed).state === 'initial' &&
    failure === null &&
    modeOf(desired, node) === '' &&
    hold === null &&
    foreignEvictions(context).length === 0 &&
    (nova === null || provider === null || zoneOf(context) === null)
  );
}

function planInitial(context: Context): Decision | Transition {
  const { desired, observed, settings } = context;
  const { nova, aggregates, provider } = observed;
  const zone = zoneOf(context);
  const certificate = requestCertificate(context);
  if (certificate !== null) return execute(certificate);
  if (nova === null) {
    const lone = observed.loneService === null ? '' : `: ${describeLone(observed.loneService)}`;
    return awaitRegistration(context, `nova-compute to register ${desired.name} in Nova${lone}`);
  }
  if (provider === null) return awaitRegistration(context, `nova-compute to register ${desired.name} in Placement`);
  if (zone === null) return awaitRegistration(context, `the label topology.kubernetes.io/zone on Node ${desired.name}`);
  // Also those that it is put into after its tests: it would be a pity to find out only then.
  const { problem } = planAggregates(
    [zone, settings.testAggregate, ...desired.aggregates],
    aggregates,
    nova.host,
    nova.servers > 0,
  );
  if (problem?.startsWith('aggregates not found'))
    return planAbort(context, `failed to apply aggregates: ${problem}`, 'beyondHost');
  const isTried = settings.checks.includes('smoke') && !desired.skipTests;
  const leak = isTried ? isolationProblem(aggregates, settings.testAggregate) : null;
  if (leak !== null) return planAbort(context, `failed to apply aggregates: ${leak}`, 'beyondHost');
  const open = membershipProblem(context);
  if (open !== null) return planAbort(context, open, whoseMembership(context));
  return planMembership(context) ?? become('testing', 'Running onboarding tests');
}

function awaitRegistration(context: Context, missing: string): Decision | Transition {
  const { registrationMs, recheckMs } = context.settings;
  const deadlineMs = (context.memory.registeringSinceMs ?? context.nowMs) + registrationMs;
  if (context.nowMs >= deadlineMs)
    return planAbort(context, `Waited ${Math.round(registrationMs / 60_000)} min in vain for ${missing}`, 'host');
  return wait('NotRegistered', missing, Math.min(context.nowMs + recheckMs, deadlineMs));
}

function planTests(context: Context, sinceMs: number): Decision | Transition {
  const { desired, observed, settings, nowMs } = context;
  const { nova, testServers } = observed;
  const { tests } = context.memory;
  // Nova has lost it, or the object was moved to another cloud: from the beginning.
  if (nova === null) return beginOnboarding();
  const { skipTests } = desired;
  const { checks, recheckMs, registrationMs: slowMs } = settings;
  const { maxTestAttempts: maxAttempts, testRetryDelayMs: retryDelayMs } = settings;
  const plan = planTesting({
    checks,
    skipTests,
    sinceMs,
    tests,
    maxAttempts,
    retryDelayMs,
    recheckMs,
    slowMs,
    nowMs,
  });
  switch (plan.kind) {
    case 'failed':
      return planAbort(context, plan.message, 'host');
    case 'pause':
      return wait('TestsFailed', `the next attempt of ${plan.message}`, plan.untilMs);
    case 'beyondHost':
      return wait(
        causeBeyondHost,
        `${plan.needsOperator ? `${anOperator} to mend ` : ''}what is not the host’s own: ${plan.message}`,
        plan.untilMs,
      );
    case 'passed':
      if (testServers.length === 0)
        return become('handover', 'Waiting for other controllers to take over', [
          describeTested({ checks, skipTests }),
        ]);
      return deleteTestServers(testServers, nova.host);
    case 'run':
      return plan.checks.some(({ check }) => check === 'smoke')
        ? planSmoke(context, runChecks(plan.checks, sinceMs, maxAttempts))
        : execute(runChecks(plan.checks, sinceMs, maxAttempts));
  }
}

const runChecks = (
  checks: { check: HypervisorCheck; attempt: number }[],
  sinceMs: number,
  maxAttempts: number,
): Draft => ({
  kind: 'runChecks',
  checks,
  sinceMs,
  summary: checks.map(({ check, attempt }) => `Check ${check}, attempt ${attempt} of ${maxAttempts}`).join('; '),
});

const whoseSmoke = (context: Context): Whose =>
  membershipProblem(context) === null ? 'beyondHost' : whoseMembership(context);

/**
 * Nova starts servers only on a host that is enabled: before that, guests have to be kept off it by the test aggregate.
 * Without its zone, which it is to be in too, it is still in those of the spec.
 */
function planSmoke(context: Context, check: Draft): Decision | Transition {
  const { desired, observed, settings } = context;
  if (zoneOf(context) === null)
    return wait(
      'ZoneUnknown',
      `the label topology.kubernetes.io/zone on Node ${desired.name}: without its zone the host is not kept off guests while a server is tested on it`,
    );
  const problem = membershipProblem(context) ?? isolationProblem(observed.aggregates, settings.testAggregate);
  if (problem !== null) return planAbort(context, problem, whoseSmoke(context));
  return planMembership(context) ?? planEnabling(context) ?? execute(check);
}

/** Null: it is enabled. A disable of another party is not drover's to lift. */
export function planEnabling({ desired, observed: { nova, hold } }: Context): Decision | null {
  if (nova === null) return null;
  if (nova.service.forcedDown)
    return wait(
      'ForcedDown',
      `Nova to have ${nova.host} no longer forced down: it was fenced, or a user did that. What a replaced operator has left, \`drover hosts --adopt ${desired.name} --consent\` takes back`,
    );
  switch (disabledBy(nova)) {
    case 'none':
      return null;
    case 'other':
      return wait(
        'DisabledByOthers',
        `${anOperator} to enable ${nova.host}, as it was not drover that disabled it: ${nova.service.disabledReason ?? 'no reason given'}`,
      );
    case 'maintenance':
    case 'novaDefault':
      return hold === null ? execute(enable(nova)) : awaitRelease(hold);
  }
}

const enable = ({ host, service }: NovaHost): Draft => ({
  kind: 'enableService',
  host,
  carrying: service.disabledReason,
  summary: `Enable ${host} in Nova`,
});

const awaitRelease = ({ message }: { message: string }): Decision =>
  wait('Held', `the end of what holds the host: ${message}`);

function planHandover(context: Context): Decision | Transition {
  const { nova } = context.observed;
  if (nova === null) return beginOnboarding();
  const problem = membershipProblem(context);
  if (problem !== null) return planAbort(context, problem, whoseMembership(context));
  const membership = planMembership(context);
  if (membership !== null) return membership;
  const isOurs = ['maintenance', 'novaDefault'].includes(disabledBy(nova)) && !nova.service.forcedDown;
  return isOurs ? execute(enable(nova)) : become('succeeded', 'Onboarding completed');
}
