import type { ErrorCode } from '../contracts/errors.ts';
import type { HostCheck } from '../contracts/hypervisor/host-check.ts';
import type { Clock } from './clock.ts';
import { droverFailure, failureCode } from './failure.ts';
import { redactedStart } from './redaction.ts';

/** What is asked. */
export type Asked = Pick<HostCheck, 'name' | 'expectation'>;

/** What a judge says of what was observed. */
export type Finding = Omit<HostCheck, 'durationMs'>;

/** Conditions are read by people, and names and errors of other systems may be as long as they like. */
const longestObserved = 600;

export const passed = (asked: Asked, observed: string): Finding => ({
  ...asked,
  outcome: 'passed',
  observed: redactedStart(observed, longestObserved),
  code: null,
});

/** Said with what to do about it. */
export const failed = (asked: Asked, code: ErrorCode, observed: string): Finding => ({
  ...asked,
  outcome: 'failed',
  observed: droverFailure(code, redactedStart(observed, longestObserved)).message,
  code,
});

/** Its system failed the check. @throws what is no failure of the table, and the signal's reason */
export function failedBy(asked: Asked, error: unknown, signal: AbortSignal): Finding {
  signal.throwIfAborted();
  const code = failureCode(error);
  if (code === null) throw error;
  return { ...asked, outcome: 'failed', observed: (error as Error).message, code };
}

export const skipped = (asked: Asked, why: string): HostCheck => ({
  ...asked,
  outcome: 'skipped',
  observed: why,
  code: null,
  durationMs: 0,
});

/** Findings with the time since `startedMs` of the clock's `monotonicMs`. */
export function timed(clock: Clock, startedMs: number, findings: readonly Finding[]): HostCheck[] {
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  return findings.map((finding) => ({ ...finding, durationMs }));
}
