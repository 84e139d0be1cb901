import { renameSync, writeFileSync } from 'node:fs';
import type { EvidenceRecord, Run } from '../../test/evidence/record.ts';
import { saveRecord } from '../../test/evidence/keep.ts';
import { makeRecord, readRecords as readEvidence, unknown } from '../../test/evidence/record.ts';
import { type SeriesName, seriesNames } from '../../test/evidence/series.ts';
import { isAlike, type MachineKind } from '../machine.ts';
import type { SuiteFigures } from './benchmark.ts';
import type { Spread } from './spread.ts';

/** One figure, as it was measured last on this machine and commit. */
export interface RecordedFigure extends Spread {
  /** RFC 3339. */
  recordedAt: string;
  /** One-minute load average when the measurement began. */
  load: number;
  versions: Readonly<Record<string, string>>;
}

/** The figures of one suite on one machine and commit, as they stand in its evidence. */
export interface BenchRecord {
  /** Ten digits, or `unknown`. */
  commit: string;
  /** Whether anything that was measured differed from it. */
  changed: boolean;
  machine: MachineKind;
  figures: Readonly<Record<string, RecordedFigure>>;
}

/** What has just been measured, and how. */
export interface Measured {
  figures: Readonly<Record<string, RecordedFigure>>;
  /** What could not be measured, a sentence each. */
  failures: readonly string[];
  /** What the report of the suite shows besides; takes what the record has of it. */
  more?: (details: EvidenceRecord['details']) => object;
  /** When the command began. */
  startedMs: number;
}

/** @throws for a suite that has no series of evidence */
export function seriesOf({ name }: Pick<SuiteFigures, 'name'>): SeriesName {
  const found = seriesNames.find((series) => series === `bench-${name}`);
  if (found === undefined) throw new Error(`there is no series of evidence for ${name}`);
  return found;
}

/** Every record of a suite, the oldest first. */
export const readRecords = (suite: Pick<SuiteFigures, 'name'>): BenchRecord[] =>
  readEvidence(seriesOf(suite)).map(toBenchRecord);

const toBenchRecord = ({ commit, changed, machine, details }: EvidenceRecord): BenchRecord => ({
  commit,
  changed: changed === true,
  machine: machine === unknown ? { cores: 0, cpu: unknown, memoryGiB: 0 } : machine,
  figures: details['figures'] as BenchRecord['figures'],
});

/** Takes figures into the record of this machine and these sources; what it has besides stays. */
export function addToRecord(suite: SuiteFigures, measured: Measured): void {
  saveRecord(mergeRecord(suite, measured, readEvidence(seriesOf(suite)), makeRecord));
}

/** @param make a record of a run. Pure, but for it. */
export function mergeRecord(
  suite: SuiteFigures,
  { figures, failures, more = () => ({}), startedMs }: Measured,
  earlier: readonly EvidenceRecord[],
  make: (run: Run, earlier: readonly EvidenceRecord[]) => EvidenceRecord,
): EvidenceRecord {
  const run: Run = {
    series: seriesOf(suite),
    title: suite.title,
    seed: null,
    command: `npm run bench -- ${suite.name}`,
    startedMs,
    counts: {},
    failures: failures.map((what) => ({ what, complaints: [] })),
    details: {},
  };
  const made = make(run, earlier);
  const before = earlier.findLast(
    ({ sources, machine }) =>
      sources.digest === made.sources.digest &&
      machine !== unknown &&
      made.machine !== unknown &&
      isAlike(machine, made.machine),
  );
  const all = { ...(before?.details['figures'] as object | undefined), ...figures };
  const missing = suite.figures.filter(({ id }) => !(id in all));
  const begun = [...new Set([...((before?.details['begun'] as string[] | undefined) ?? []), made.startedAt])];
  return {
    ...made,
    ...(before === undefined ? {} : { startedAt: before.startedAt, commit: before.commit, changed: before.changed }),
    attempts: begun.length,
    counts: { figures: Object.keys(all).length, missing: missing.length },
    // What could not be measured then and can be now has passed later.
    failures: [
      ...(before?.failures ?? []).map((failure) => ({ ...failure, passedLater: missing.length === 0 })),
      ...made.failures,
    ],
    details: { ...before?.details, ...more(before?.details ?? {}), begun, figures: all },
  };
}

/** A concurrent reader reads one whole file. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
