import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { JestReport } from '../ladder/outcome.ts';
import { readJestReport } from '../ladder/outcome.ts';

/** What jest makes of test files that fail in every way, and that share a process. */

const dir = mkdtempSync(join(tmpdir(), 'drover-jest-'));
let report: JestReport;
beforeAll(async () => {
  const outputFile = join(dir, 'report.json');
  const config = join(import.meta.dirname, 'fixtures/jest.config.mjs');
  const args = [
    'node_modules/jest/bin/jest.js',
    '--config',
    config,
    '--runInBand',
    '--json',
    '--outputFile',
    outputFile,
  ];
  const cwd = join(import.meta.dirname, '../..');
  await new Promise((resolve) => execFile(process.execPath, args, { cwd }, resolve));
  report = JSON.parse(readFileSync(outputFile, 'utf8')) as JestReport;
});
afterAll(() => rmSync(dir, { recursive: true }));

const testsOf = (file: string): JestReport['testResults'][number]['assertionResults'] =>
  report.testResults.find(({ name }) => basename(name) === file)?.assertionResults ?? [];

test('a file finds the process as it was before the file that ran first', () => {
  const titles = [...testsOf('1-changes.fixture.mjs'), ...testsOf('2-finds.fixture.mjs')];
  expect(titles.map(({ status, fullName }) => `${status} ${fullName}`)).toEqual([
    'passed changes the process',
    'passed finds the process as it was',
    'passed has its own set-up, and shares its modules',
  ]);
});

test('what fails is told', () => {
  const { passed, failed, skipped, retried } = readJestReport(report);
  expect({ passed, failed: failed.map((name) => basename(name)), skipped, retried }).toEqual({
    passed: 4,
    failed: [
      'an expectation',
      'an error',
      'too long',
      'a rejection that is not handled',
      'an error of a callback',
      'one of several at once',
      'what must come first fails',
      '4-cannot-be-read.fixture.mjs',
    ],
    skipped: ['is skipped'],
    retried: ['passes at the second attempt'],
  });
});

test('the message names the line of the source', () => {
  const { message } = report.testResults.find(({ name }) => basename(name) === '3-fails.fixture.mjs')!;
  expect(message).toContain('3-fails.fixture.mjs:4:');
});
