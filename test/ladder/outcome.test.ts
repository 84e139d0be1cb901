import { join } from 'node:path';
import { checkout } from '../evidence/sources.ts';
import { violationError } from '../violation-error.ts';
import type { JestReport, Outcome } from './outcome.ts';
import { readJestReport, renderTimes, summarize } from './outcome.ts';

const pathOf = (name: string): string => join(checkout, `test/flows/${name}.test.ts`);
type File = JestReport['testResults'][number];
const file = (name: string, tests: File['assertionResults'], more: Partial<File> = {}): File => ({
  name: pathOf(name),
  status: 'passed',
  message: '',
  startTime: 0,
  endTime: 2_000,
  assertionResults: tests,
  ...more,
});
const outcome = (more: Partial<Outcome>): Outcome => ({
  title: 'flows',
  passed: 0,
  failed: [],
  skipped: [],
  retried: [],
  took: [],
  seconds: 1,
  ...more,
});
const anySkip = (): boolean => true;

test('passed, failed, skipped and retried tests of jest’s report, and how long each file took', () => {
  const read = readJestReport({
    testResults: [
      file('short', [
        { status: 'passed', fullName: 'a', invocations: 1 },
        { status: 'pending', fullName: 'b' },
      ]),
      file(
        'long',
        [
          { status: 'passed', fullName: 'c', invocations: 2, retryReasons: ['Error: too late'] },
          { status: 'failed', fullName: 'd' },
        ],
        { status: 'failed', endTime: 9_000 },
      ),
    ],
  });
  expect(read).toEqual({
    passed: 2,
    failed: ['d'],
    skipped: ['b'],
    retried: ['c'],
    took: [
      { what: 'long', path: pathOf('long'), seconds: 9, passed: 1, failed: 1, skipped: [], retried: ['c'] },
      { what: 'short', path: pathOf('short'), seconds: 2, passed: 1, failed: 0, skipped: ['b'], retried: [] },
    ],
  });
});

test('who violates an invariant at the first attempt has failed, whatever the second does', () => {
  const read = readJestReport({
    testResults: [
      file('a', [
        {
          status: 'passed',
          fullName: 'a',
          invocations: 2,
          retryReasons: [`${violationError(['invariant 4: …']).stack}`],
        },
      ]),
    ],
  });
  expect(read).toMatchObject({
    passed: 0,
    failed: [expect.stringMatching(/^a \(it violated an invariant/u)],
    retried: [],
    took: [{ passed: 0, failed: 1, retried: [] }],
  });
});

test('a file that breaks before its first test has failed', () => {
  expect(readJestReport({ testResults: [file('a', [], { status: 'failed' })] }).failed).toEqual([
    'test/flows/a.test.ts',
  ]);
});

test('one test may need its second attempt; two fail the run', () => {
  expect(summarize([outcome({ passed: 3, retried: ['a'] })], anySkip)).toMatchObject({
    passed: 3,
    failures: [],
    remarks: ['run twice: a'],
  });
  expect(
    summarize([outcome({ passed: 3, retried: ['a'] }), outcome({ passed: 1, retried: ['b'] })], anySkip),
  ).toMatchObject({
    passed: 4,
    failures: ['2 tests passed only at their second attempt; 1 may'],
    remarks: ['run twice: a', 'run twice: b'],
  });
});

test('a skip that is not expected fails the run', () => {
  expect(summarize([outcome({ passed: 1, skipped: ['Ceph a', 'b'] })], (name) => name.startsWith('Ceph'))).toEqual({
    passed: 1,
    skipped: 2,
    failures: ['not expected to be skipped: b'],
    remarks: ['skipped: Ceph a'],
  });
});

test('the longest files come first, those of less than a second not at all', () => {
  expect(
    renderTimes([
      outcome({
        seconds: 70.4,
        took: [
          ['long', 60],
          ['short', 9.6],
          ['quick', 0.4],
        ].map(([what, seconds]) => ({
          what: `${what}`,
          path: '',
          seconds: Number(seconds),
          passed: 1,
          failed: 0,
          skipped: [],
          retried: [],
        })),
      }),
    ]),
  ).toEqual(['    70 s  flows: long 60, short 10']);
});
