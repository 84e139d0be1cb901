import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { errors } from '../../contracts/errors.ts';
import { hypervisorConditions, testedReasons } from '../../contracts/hypervisor/conditions.ts';
import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import { hypervisorChecks } from '../../contracts/hypervisor/hypervisor.ts';
import type { HypervisorCheck, TestRecord } from '../../contracts/hypervisor/hypervisor.ts';

/** Which checks of the Testing phase are made, and what they come to. All pure. */

export interface TestingQuestion {
  /** As configured. */
  checks: readonly HypervisorCheck[];
  skipTests: boolean;
  /** When the onboarding that is under way began: earlier records do not count. */
  sinceMs: number;
  tests: readonly TestRecord[];
  maxAttempts: number;
  retryDelayMs: number;
  /** How long until what is not the host's is asked again; and where only an operator can mend it. */
  recheckMs: number;
  slowMs: number;
  nowMs: number;
}

export type TestingPlan =
  | { kind: 'passed' }
  /** At once. */
  | { kind: 'run'; checks: { check: HypervisorCheck; attempt: number }[] }
  /** The pause before the next attempt. */
  | { kind: 'pause'; untilMs: number; message: string }
  /** For what is not the host's to mend: without end. */
  | { kind: 'beyondHost'; untilMs: number; message: string; needsOperator: boolean }
  /** Every check that failed for good, what it expected and what it saw. */
  | { kind: 'failed'; message: string };

/**
 * Decides which checks run now. Those that ask only (libvirt, Open vSwitch, Ceph) run before a server is started on the
 * host; each is tried as often as the settings say, unless what it ran into cannot mend itself. What fails for a cause
 * that is not the host's is waited out: it says nothing of the host, nor does what else failed beside it.
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
    if (record === undefined) return -Infinity;
    if (failsBeyondHost(record)) return record.atMs + (mayPass(record) ? question.recheckMs : question.slowMs);
    return record.atMs + question.retryDelayMs * 2 ** (record.attempts - 1);
  };
  const due = stage.filter((check) => question.nowMs >= dueAtMs(check));
  if (due.length > 0)
    return {
      kind: 'run',
      checks: due.map((check) => ({ check, attempt: (records.get(check)?.attempts ?? 0) + 1 })),
    };
  const message = stage.map((check) => `${check}: ${describeResults(failing(records.get(check)))}`).join('; ');
  const isBeyond = stage.every((check) => failsBeyondHost(records.get(check)));
  const untilMs = Math.min(...stage.map(dueAtMs));
  if (!isBeyond) return { kind: 'pause', untilMs, message };
  return { kind: 'beyondHost', untilMs, message, needsOperator: stage.some((check) => !mayPass(records.get(check))) };
}

/** One without a result has observed nothing; what was skipped is not known to be well. */
const hasPassed = (record: TestRecord | undefined): boolean =>
  record !== undefined && record.results.length > 0 && record.results.every(({ outcome }) => outcome === 'passed');

const failing = (record: Pick<TestRecord, 'results'> | undefined): HostCheck[] =>
  record?.results.filter(({ outcome }) => outcome === 'failed') ?? [];

/** Whether anything failed whose cause is not the host's. */
export const failsBeyondHost = (record: Pick<TestRecord, 'results'> | undefined): boolean =>
  failing(record).some(({ beyondHost }) => beyondHost === true);

const mayPass = (record: Pick<TestRecord, 'results'> | undefined): boolean =>
  failing(record).every(({ code }) => code === null || errors[code].retryable);

const isFinal = (record: TestRecord, maxAttempts: number): boolean =>
  !hasPassed(record) && !failsBeyondHost(record) && (record.attempts >= maxAttempts || !mayPass(record));

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
      message: `Expected ${expectation}; saw ${observed} (${(durationMs / 1_000).toFixed(1)} s${attempts === 0 ? '' : `, attempt ${attempts}`})`,
    };
  });

/**
 * The condition `Tested` of a host whose tests are over: a user who puts guests on it has to see where
 * nothing was tested.
 */
export function describeTested({
  checks,
  skipTests,
}: {
  checks: readonly HypervisorCheck[];
  skipTests: boolean;
}): ConditionUpdate {
  const of = (status: 'True' | 'Unknown', reason: keyof typeof testedReasons, message: string): ConditionUpdate => ({
    type: hypervisorConditions.tested,
    status,
    reason: testedReasons[reason],
    message,
  });
  if (skipTests) return of('Unknown', 'skipped', 'Not tested: spec.skipTests says so');
  if (checks.length === 0)
    return of(
      'Unknown',
      'noChecks',
      'Not tested: no check is configured. Add a section to `hypervisor` in drover’s settings: smoke (a flavor and an image) starts a server on each host, libvirt, ovs and ceph ask the host',
    );
  return of('True', 'passed', `Passed: ${checks.join(', ')}`);
}
