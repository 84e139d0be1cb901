import { basename, relative } from 'node:path';
import { checkout } from '../evidence/sources.ts';
import { isViolation } from '../violation-error.ts';

/** What a stage of the ladder came to. */
export interface Outcome {
  title: string;
  passed: number;
  /** Full names of what failed, or the stage itself. */
  failed: readonly string[];
  /** Full names. */
  skipped: readonly string[];
  /** Full names of those that passed at the second attempt. */
  retried: readonly string[];
  /** Its test files, the longest first. */
  took: readonly Took[];
  seconds: number;
}

export interface Took {
  /** Its name without `.test.ts`. */
  what: string;
  /** Absolute path. */
  path: string;
  seconds: number;
  passed: number;
  failed: number;
  /** Full names. */
  skipped: readonly string[];
  /** Full names. */
  retried: readonly string[];
}

/** The part of jest's JSON report that counts. */
export interface JestReport {
  testResults: readonly {
    /** Absolute path. */
    name: string;
    status: string;
    message: string;
    startTime: number;
    endTime: number;
    assertionResults: readonly {
      status: string;
      fullName: string;
      invocations?: number;
      retryReasons?: readonly string[];
    }[];
  }[];
}

/** Pure. */
export function readJestReport({ testResults }: JestReport): Omit<Outcome, 'title' | 'seconds'> {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = all.filter(({ status }) => status === 'passed');
  // Invariants are what rare failures violate: that a second attempt does not is no excuse.
  const violated = all.filter(hasViolated);
  // A file that cannot be read, or whose beforeAll fails at once, has no tests to fail.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
  );
  const names = (some: typeof all): string[] => some.map(({ fullName }) => fullName);
  return {
    passed: passed.length - violated.length,
    failed: [
      ...names(all.filter(({ status }) => status === 'failed')),
      ...violated.map(({ fullName }) => `${fullName} (it violated an invariant at its first attempt)`),
      ...broken.map(({ name }) => relative(checkout, name)),
    ],
    skipped: names(all.filter(wasSkipped)),
    retried: names(all.filter(wasRetried)),
    took: testResults.map(tookOf).toSorted((a, b) => b.seconds - a.seconds),
  };
}

type TestResult = JestReport['testResults'][number]['assertionResults'][number];

const passedAgain = ({ status, invocations = 1 }: TestResult): boolean => status === 'passed' && invocations > 1;
const hasViolated = (one: TestResult): boolean => passedAgain(one) && (one.retryReasons ?? []).some(isViolation);
const wasSkipped = ({ status }: TestResult): boolean => status === 'pending' || status === 'todo';
const wasRetried = (one: TestResult): boolean => passedAgain(one) && !hasViolated(one);

function tookOf({ name, status, startTime, endTime, assertionResults }: JestReport['testResults'][number]): Took {
  const count = (wanted: string): number => assertionResults.filter((one) => one.status === wanted).length;
  const violated = assertionResults.filter(hasViolated).length;
  return {
    what: basename(name, '.test.ts'),
    path: name,
    seconds: (endTime - startTime) / 1_000,
    passed: count('passed') - violated,
    failed: Math.max(status === 'failed' ? 1 : 0, count('failed') + violated),
    skipped: assertionResults.filter(wasSkipped).map(({ fullName }) => fullName),
    retried: assertionResults.filter(wasRetried).map(({ fullName }) => fullName),
  };
}

/** As many tests of a run may pass at their second attempt. */
const mostRetried = 1;

export interface Summary {
  passed: number;
  skipped: number;
  /** A line each. */
  failures: string[];
  /** What else has to be shown, a line each; the counts are not among them. */
  remarks: string[];
}

/** What the whole run came to. Pure. */
export function summarize(outcomes: readonly Outcome[], isExpectedSkip: (name: string) => boolean): Summary {
  const skipped = outcomes.flatMap((outcome) => outcome.skipped);
  const retried = outcomes.flatMap((outcome) => outcome.retried);
  const failed = outcomes.flatMap((outcome) => outcome.failed.map((name) => `${outcome.title}: ${name}`));
  const unexpected = skipped
    .filter((name) => !isExpectedSkip(name))
    .map((name) => `not expected to be skipped: ${name}`);
  const tooMany =
    retried.length > mostRetried
      ? [`${retried.length} tests passed only at their second attempt; ${mostRetried} may`]
      : [];
  return {
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    skipped: skipped.length,
    failures: [...failed, ...unexpected, ...tooMany],
    remarks: [
      ...skipped.filter(isExpectedSkip).map((name) => `skipped: ${name}`),
      ...retried.map((name) => `run twice: ${name}`),
    ],
  };
}

/** Where the time went: a line for each stage, and below it whatever took a second or more, the longest first. Pure. */
export function renderTimes(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ title, seconds, took }) => {
    const long = took.filter((one) => one.seconds >= 1).map((one) => `${one.what} ${one.seconds.toFixed(0)}`);
    return [`${seconds.toFixed(0).padStart(6)} s  ${title}${long.length > 1 ? `: ${long.join(', ')}` : ''}`];
  });
}
