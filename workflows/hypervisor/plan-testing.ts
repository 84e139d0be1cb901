import { hypervisorChecks } from '../../contracts/hypervisor/hypervisor.ts';
import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { HypervisorCheck, TestRecord } from '../../contracts/hypervisor/hypervisor.ts';
import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import { errors } from '../../contracts/errors.ts';
import type { Step } from './step.ts';

export interface TestingFacts {
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
  | { next: 'passed' }
  | { next: 'run'; steps: Step[] }
  /** The pause before the next attempt. */
  | { next: 'pause'; untilMs: number; words: string }
  /** Every check that failed for good, what it expected and what it saw. */
  | { next: 'failed'; message: string };

/**
 * Decides which checks run now. Those that ask only (libvirt, Open vSwitch, Ceph) run before a server is started on the host; each is
 * tried as often as the settings say, unless what it ran into cannot mend itself. Source: seed 001 "Phase Testing"; upstream tries for ever.
 */
export function planTesting(facts: TestingFacts): TestingPlan {
  if (facts.skipTests) return { next: 'passed' };
  const records = new Map(
    facts.tests
      .filter((record) => record.atMs >= facts.sinceMs || record.sinceMs === facts.sinceMs)
      .map((record) => [record.check, record]),
  );
  const final = [...records.values()].filter((record) => isFinal(record, facts.maxAttempts));
  if (final.length > 0) return { next: 'failed', message: final.map(describeFailure).join('. ') };

  const open = hypervisorChecks.filter((check) => facts.checks.includes(check) && !hasPassed(records.get(check)));
  if (open.length === 0) return { next: 'passed' };
  const asking = open.filter((check) => check !== 'smoke');
  const stage = asking.length > 0 ? asking : open;
  const dueAtMs = (check: HypervisorCheck): number => {
    const record = records.get(check);
    return record === undefined ? -Infinity : record.atMs + facts.retryDelayMs * 2 ** (record.attempts - 1);
  };
  const due = stage.filter((check) => facts.nowMs >= dueAtMs(check));
  if (due.length > 0)
    return { next: 'run', steps: due.map((check) => runCheck(check, (records.get(check)?.attempts ?? 0) + 1, facts)) };
  const words = stage.map((check) => `${check}: ${describeResults(failing(records.get(check)))}`).join('; ');
  return { next: 'pause', untilMs: Math.min(...stage.map(dueAtMs)), words };
}

const runCheck = (check: HypervisorCheck, attempt: number, { sinceMs, maxAttempts }: TestingFacts): Step => ({
  do: 'runCheck',
  check,
  attempt,
  sinceMs,
  words: `Check ${check}, attempt ${attempt} of ${maxAttempts}`,
});

/** One that has no result has not looked; what was skipped is not known to be well. */
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
          ({ name, expectation, seen, code }) =>
            `${name} expected ${expectation}, saw ${seen}${code === null ? '' : ` [${code}]`}`,
        )
        .join('; ');

const describeFailure = (record: TestRecord): string =>
  `Check ${record.check} failed ${record.attempts === 1 ? 'once' : `${record.attempts} times`}: ${describeResults(failing(record))}`;

const statuses = { passed: 'True', failed: 'False', skipped: 'Unknown' } as const;

/** A condition for each result: what was expected and seen, and how long it took. */
export const describeResultsOf = ({ results, attempts }: TestRecord): ConditionUpdate[] =>
  results.map(({ name, outcome, expectation, seen, code, durationMs }) => {
    const reason = outcome === 'passed' ? 'Passed' : outcome === 'skipped' ? 'Skipped' : (code ?? 'Failed');
    return {
      type: name,
      status: statuses[outcome],
      reason,
      message: `Expected ${expectation}; saw ${seen} (${(durationMs / 1_000).toFixed(1)} s, attempt ${attempts})`,
    };
  });
