import type { CheckFindings } from '../../contracts/hypervisor/activities.ts';
import type { HypervisorObservation, TestRecord } from '../../contracts/hypervisor/hypervisor.ts';
import { errors } from '../../contracts/errors.ts';
import type { Problem } from '../lib/failures.ts';
import { isOnboarding, onboardingOf } from './judge.ts';
import { awaitsRegistration } from './onboarding.ts';
import { failsBeyondHost } from './testing.ts';
import type { HypervisorMemory, HypervisorSituation, HypervisorStep } from './types.ts';

export const emptyMemory: HypervisorMemory = {
  tests: [],
  refusal: null,
  registeringSinceMs: null,
  failures: 0,
  signalled: null,
  halfOverAtMs: null,
};

export const isRetryable = ({ code }: Problem): boolean => code === null || errors[code].retryable;

/**
 * Null: trying again may mend it, or is all that can be done. A stop refuses nothing: what it holds goes on when it is
 * lifted. Pure.
 */
export function applyFailure(
  memory: HypervisorMemory,
  step: HypervisorStep,
  problem: Problem,
): HypervisorMemory | null {
  if (step.onboards !== true || problem.code === 'Stopped' || isRetryable(problem)) return null;
  return { ...memory, refusal: problem.message };
}

/** A cause to end an onboarding is dropped with it. Pure. */
export function prune(memory: HypervisorMemory, observed: HypervisorObservation): HypervisorMemory {
  const refusal = isOnboarding(onboardingOf(observed).state) ? memory.refusal : null;
  return { ...memory, refusal, failures: observed.failure === null ? 0 : memory.failures + 1 };
}

export const resetFailures = (memory: HypervisorMemory): HypervisorMemory => ({
  ...memory,
  refusal: null,
  failures: 0,
});

/** Of each observation, before anything is decided on it. Pure. */
export function clockRegistration(
  memory: HypervisorMemory,
  { desired, observed, nowMs }: Pick<HypervisorSituation, 'desired' | 'observed' | 'nowMs'>,
): HypervisorMemory {
  const isAwaited = desired !== null && awaitsRegistration({ desired, observed });
  return { ...memory, registeringSinceMs: isAwaited ? (memory.registeringSinceMs ?? nowMs) : null };
}

/** An attempt more of each check that was run, but where its cause is not the host's. Pure. */
export function recordChecks(
  memory: HypervisorMemory,
  { checks, sinceMs }: Extract<HypervisorStep, { kind: 'runChecks' }>,
  findings: readonly CheckFindings[],
  atMs: number,
): HypervisorMemory {
  const records = findings.map((found): TestRecord => {
    const attempt = checks.find(({ check }) => check === found.check)?.attempt ?? 1;
    return { ...found, attempts: failsBeyondHost(found) ? attempt - 1 : attempt, atMs, sinceMs };
  });
  const isOther = ({ check }: TestRecord): boolean => records.every((record) => record.check !== check);
  return { ...memory, tests: [...memory.tests.filter(isOther), ...records] };
}
