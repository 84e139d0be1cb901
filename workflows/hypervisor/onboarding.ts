import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import { anOperator, hypervisorConditions, onboardingReasons } from '../../contracts/hypervisor/conditions.ts';
import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import { hypervisorChecks } from '../../contracts/hypervisor/hypervisor.ts';
import type { HypervisorCheck, NovaHost, TestRecord } from '../../contracts/hypervisor/hypervisor.ts';
import { awaitForeign, deleteTestServers, foreignEvictions } from './emptying.ts';
import { disabledBy, modeOf, onboardingOf } from './judge.ts';
import type { OnboardingState } from './judge.ts';
import { isolationProblem, membershipProblem, planAggregates, planMembership, zoneOf } from './membership.ts';
import { blocked, execute, wait } from './types.ts';
import type { Context, Decision, Draft, Transition } from './types.ts';

/** Begins, or begins again. */
export const beginOnboarding = (): Transition => become('initial', 'Initial onboarding');

/** The Testing checks again, on a host that was in service before: its registration stays. */
export const beginTesting = (): Transition => become('testing', 'Running onboarding tests');

export const abortOnboarding = (message: string): Transition => become('aborted', message);

function become(state: Exclude<OnboardingState, 'none'>, message: string): Transition {
  const status = state === 'succeeded' || state === 'aborted' ? 'False' : 'True';
  return {
    kind: 'become',
    conditions: [{ type: hypervisorConditions.onboarding, status, reason: onboardingReasons[state], message }],
  };
}

/**
 * Brings a host from its registration into service: Initial → Testing → Handover → Succeeded, or Aborted with the cause. Every wait for
 * something that may never come is bounded. Null: the onboarding is over.
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
      return blocked(`Onboarding was aborted: ${condition?.message ?? ''}`);
    case 'initial':
    case 'testing':
    case 'handover': {
      const cause = refusal ?? memory.refusal;
      return cause === null
        ? planStage(context, state, Date.parse(condition?.lastTransitionTime ?? '') || 0)
        : planAbort(context, cause);
    }
  }
}

/** Why a host may not be onboarded at all. */
function refuse({ desired, observed }: Context): string | null {
  if (!desired.lifecycleEnabled) return 'Aborted due to LifecycleEnabled being false';
  return modeOf(desired, observed.node) === 'termination' ? 'Aborted due to MaintenanceTermination' : null;
}

/** What the tests have made goes first. */
const planAbort = ({ desired, observed: { testServers } }: Context, message: string): Decision | Transition =>
  testServers.length === 0 ? abortOnboarding(message) : deleteTestServers(testServers, desired.name);

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
      return planInitial(context, sinceMs);
    case 'testing':
      return planTests(context, sinceMs);
    case 'handover':
      return planHandover(context);
  }
}

function planInitial(context: Context, sinceMs: number): Decision | Transition {
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

function awaitRegistration(context: Context, sinceMs: number, missing: string): Decision | Transition {
  const { registrationMs, recheckMs } = context.settings;
  const deadlineMs = sinceMs + registrationMs;
  if (context.nowMs >= deadlineMs)
    return planAbort(context, `Waited ${Math.round(registrationMs / 60_000)} min in vain for ${missing}`);
  return wait('NotRegistered', missing, Math.min(context.nowMs + recheckMs, deadlineMs));
}

function planTests(context: Context, sinceMs: number): Decision | Transition {
  const { desired, observed, settings, nowMs } = context;
  const { nova, testServers } = observed;
  const { tests } = context.memory;
  // Nova has lost it, or the object was moved to another cloud: from the beginning.
  if (nova === null) return beginOnboarding();
  const { skipTests } = desired;
  const { maxTestAttempts: maxAttempts, testRetryDelayMs: retryDelayMs } = settings;
  const plan = planTesting({ checks: settings.checks, skipTests, sinceMs, tests, maxAttempts, retryDelayMs, nowMs });
  switch (plan.kind) {
    case 'failed':
      return planAbort(context, plan.message);
    case 'pause':
      return wait('TestsFailed', `the next attempt of ${plan.message}`, plan.untilMs);
    case 'passed':
      if (testServers.length === 0) return become('handover', 'Waiting for other controllers to take over');
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

/** Nova starts servers only on a host that is enabled: before that, guests have to be kept off it by the test aggregate. */
function planSmoke(context: Context, check: Draft): Decision | Transition {
  const { observed, settings } = context;
  const problem = membershipProblem(context) ?? isolationProblem(observed.aggregates, settings.testAggregate);
  if (problem !== null) return planAbort(context, problem);
  return planMembership(context) ?? planEnabling(context) ?? execute(check);
}

/** Null: it is enabled. A disable of another party is not drover's to lift. */
export function planEnabling({ observed: { nova, hold } }: Context): Decision | null {
  if (nova === null) return null;
  if (nova.service.forcedDown)
    return wait('ForcedDown', `Nova to have ${nova.host} no longer forced down: it was fenced, or a user did that`);
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
  if (problem !== null) return planAbort(context, problem);
  const membership = planMembership(context);
  if (membership !== null) return membership;
  const isOurs = ['maintenance', 'novaDefault'].includes(disabledBy(nova)) && !nova.service.forcedDown;
  return isOurs ? execute(enable(nova)) : become('succeeded', 'Onboarding completed');
}

export interface TestingQuestion {
  /** As configured. */
  checks: readonly HypervisorCheck[];
  skipTests: boolean;
  /** When the onboarding that is under way began: earlier records do not count. */
  sinceMs: number;
  tests: readonly TestRecord[];
  maxAttempts: number;
  retryDelayMs: number;
  nowMs: number;
}

export type TestingPlan =
  | { kind: 'passed' }
  /** At once. */
  | { kind: 'run'; checks: { check: HypervisorCheck; attempt: number }[] }
  /** The pause before the next attempt. */
  | { kind: 'pause'; untilMs: number; message: string }
  /** Every check that failed for good, what it expected and what it saw. */
  | { kind: 'failed'; message: string };

/**
 * Decides which checks run now. Those that ask only (libvirt, Open vSwitch, Ceph) run before a server is started on the host; each is
 * tried as often as the settings say, unless what it ran into cannot mend itself.
 */
export function planTesting(question: TestingQuestion): TestingPlan {
  if (question.skipTests) return { kind: 'passed' };
  const records = new Map(
    question.tests
      .filter((record) => record.atMs >= question.sinceMs || record.sinceMs === question.sinceMs)
      .map((record) => [record.check, record]),
  );
  const final = [...records.values()].filter((record) => isFinal(record, question.maxAttempts));
  if (final.length > 0) return { kind: 'failed', message: final.map(describeFailure).join('. ') };

  const open = hypervisorChecks.filter((check) => question.checks.includes(check) && !hasPassed(records.get(check)));
  if (open.length === 0) return { kind: 'passed' };
  const asking = open.filter((check) => check !== 'smoke');
  const stage = asking.length > 0 ? asking : open;
  const dueAtMs = (check: HypervisorCheck): number => {
    const record = records.get(check);
    return record === undefined ? -Infinity : record.atMs + question.retryDelayMs * 2 ** (record.attempts - 1);
  };
  const due = stage.filter((check) => question.nowMs >= dueAtMs(check));
  if (due.length > 0)
    return {
      kind: 'run',
      checks: due.map((check) => ({ check, attempt: (records.get(check)?.attempts ?? 0) + 1 })),
    };
  const message = stage.map((check) => `${check}: ${describeResults(failing(records.get(check)))}`).join('; ');
  return { kind: 'pause', untilMs: Math.min(...stage.map(dueAtMs)), message };
}

/** One without a result has observed nothing; what was skipped is not known to be well. */
const hasPassed = (record: TestRecord | undefined): boolean =>
  record !== undefined && record.results.length > 0 && record.results.every(({ outcome }) => outcome === 'passed');

const failing = (record: TestRecord | undefined): HostCheck[] =>
  record?.results.filter(({ outcome }) => outcome === 'failed') ?? [];

const isFinal = (record: TestRecord, maxAttempts: number): boolean =>
  !hasPassed(record) &&
  (record.attempts >= maxAttempts || failing(record).some(({ code }) => code !== null && !errors[code].retryable));

const describeResults = (results: readonly HostCheck[]): string =>
  results.length === 0
    ? 'it came to no result'
    : results
        .map(
          ({ name, expectation, observed, code }) =>
            `${name} expected ${expectation}, saw ${observed}${code === null ? '' : ` [${code}]`}`,
        )
        .join('; ');

const describeFailure = (record: TestRecord): string =>
  `Check ${record.check} failed ${record.attempts === 1 ? 'once' : `${record.attempts} times`}: ${describeResults(failing(record))}`;

const statuses = { passed: 'True', failed: 'False', skipped: 'Unknown' } as const;

/** A condition for each result: what was expected and observed, and how long it took. */
export const describeResultsOf = ({ results, attempts }: TestRecord): ConditionUpdate[] =>
  results.map(({ name, outcome, expectation, observed, code, durationMs }) => {
    const reason = outcome === 'passed' ? 'Passed' : outcome === 'skipped' ? 'Skipped' : (code ?? 'Failed');
    return {
      type: name,
      status: statuses[outcome],
      reason,
      message: `Expected ${expectation}; saw ${observed} (${(durationMs / 1_000).toFixed(1)} s, attempt ${attempts})`,
    };
  });
