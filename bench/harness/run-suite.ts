import { describeMachine } from '../machine.ts';
import type { Samples, Suite } from './benchmark.ts';
import type { RecordedFigure } from './records.ts';
import { spreadOf } from './spread.ts';

export interface SuiteRun {
  /** Names of benchmarks; they are measured in the suite's order. */
  only: readonly string[];
  report: (line: string) => void;
  /** Takes each benchmark's figures as soon as they are known. */
  take: (figures: Readonly<Record<string, RecordedFigure>>) => void;
  signal: AbortSignal;
}

/** Measures what was asked for. A benchmark that fails is reported, and the others go on. @returns the failures */
export async function runSuite<Run>(
  suite: Suite<Run>,
  run: Run,
  { only, report, take, signal }: SuiteRun,
): Promise<string[]> {
  const failures: string[] = [];
  for (const benchmark of suite.benchmarks.filter(({ name }) => only.includes(name))) {
    signal.throwIfAborted();
    report(`${benchmark.name}: ${benchmark.title} …`);
    try {
      const { recordedAt, load, versions } = describeMachine();
      take(toRecord(await benchmark.measure(run), { recordedAt, load, versions }));
    } catch (error) {
      signal.throwIfAborted();
      const failure = `${benchmark.name}: ${error instanceof Error ? error.message : String(error)}`;
      failures.push(failure);
      report(`FAILED ${failure}`);
    }
  }
  return failures;
}

/** The median and spread of each figure. */
export const toRecord = (
  samples: Samples,
  circumstances: Pick<RecordedFigure, 'recordedAt' | 'load' | 'versions'>,
): Record<string, RecordedFigure> =>
  Object.fromEntries(Object.entries(samples).map(([id, values]) => [id, { ...spreadOf(values), ...circumstances }]));
