import { appendFileSync, readFileSync } from 'node:fs';
import type { JestReport } from './outcome.ts';

/** Names the file that takes a line of JSON for each test file. */
export const resultsVariable = 'DROVER_FILE_RESULTS';

type Row = JestReport['testResults'][number];

/** The part of a result that counts, as jest gives it to reporters. */
interface FileResult {
  testFilePath: string;
  testResults: Row['assertionResults'];
  /** It could not be read, or ended by itself. */
  testExecError?: unknown;
  failureMessage?: string | null;
  perfStats: { start: number; end: number };
}

/** A reporter of jest, whose own JSON comes with the last test: a run that is interrupted would have shown nothing. */
export default class ReportFiles {
  onTestFileResult(_test: unknown, result: FileResult): void {
    const to = process.env[resultsVariable];
    if (to !== undefined) appendFileSync(to, `${JSON.stringify(rowOf(result))}\n`);
  }
}

/** As in jest's own report. */
function rowOf({ testFilePath: name, testResults, testExecError, failureMessage, perfStats }: FileResult): Row {
  const isFailed = testExecError !== undefined && testExecError !== null;
  const status = isFailed || testResults.some((one) => one.status === 'failed') ? 'failed' : 'passed';
  const times = { startTime: perfStats.start, endTime: perfStats.end };
  return { name, status, message: failureMessage ?? '', ...times, assertionResults: isFailed ? [] : testResults };
}

/** What has ended so far. A line that is being written has no end yet. */
export const readFileResults = (path: string): JestReport => ({
  testResults: readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row),
});
