import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkout } from '../evidence/sources.ts';
import { type JestReport, type Outcome, readJestReport } from './outcome.ts';
import { readFileResults, resultsVariable } from './report-files.ts';

test('what is reported of each file, of those that fail in every way too, is what jest reports of all', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'drover-reporter-'));
  try {
    const [whole, results] = [join(dir, 'whole.json'), join(dir, 'files.jsonl')];
    const args = [
      'node_modules/jest/bin/jest.js',
      `--config=${join(checkout, 'test/jest/fixtures/jest.config.mjs')}`,
      '--runInBand',
      '--json',
      `--outputFile=${whole}`,
      `--reporters=${join(import.meta.dirname, 'report-files.ts')}`,
    ];
    const env = { ...process.env, [resultsVariable]: results };
    await new Promise((resolve) => execFile(process.execPath, args, { cwd: checkout, env }, resolve));
    const sorted = ({ took, failed, skipped, ...rest }: Omit<Outcome, 'title' | 'seconds'>) => ({
      ...rest,
      failed: failed.toSorted(),
      skipped: skipped.toSorted(),
      // Of a file that cannot be read, jest's own report has the time of the report.
      took: took.map(({ seconds: _seconds, ...file }) => file).toSorted((a, b) => (a.what < b.what ? -1 : 1)),
    });
    const expected = readJestReport(JSON.parse(readFileSync(whole, 'utf8')) as JestReport);
    expect(expected.failed.length).toBeGreaterThan(3);
    expect(sorted(readJestReport(readFileResults(results)))).toEqual(sorted(expected));
  } finally {
    rmSync(dir, { recursive: true });
  }
});
