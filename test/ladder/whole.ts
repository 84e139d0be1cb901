import { isAbsolute, relative } from 'node:path';
import { z } from 'zod';
import { saveRecord } from '../evidence/keep.ts';
import { type EvidenceRecord, type Failure, makeRecord, readRecords, unknown } from '../evidence/record.ts';
import { checkout, type readCommit } from '../evidence/sources.ts';
import { type Rung, rungs } from './list-stages.ts';
import type { Outcome } from './outcome.ts';

/**
 * The record of the whole ladder. It takes hours: the record is written whenever a stage ends, with what is missing,
 * and a later run with `--resume` goes on from there. A stage that has ended is not run again, whatever it came to, so
 * that a second attempt hides no failure.
 */

/** A stage that has ended. */
export interface EndedStage extends Outcome {
  rung: Rung;
  endedAt: string;
  /** What it sampled by. */
  seed: number;
}

const stageSchema = z.object({
  rung: z.enum(rungs),
  title: z.string(),
  endedAt: z.iso.datetime(),
  seed: z.number(),
  seconds: z.number(),
  passed: z.number(),
  failed: z.array(z.string()),
  skipped: z.array(z.string()),
  retried: z.array(z.string()),
  took: z.array(
    z.object({ what: z.string(), path: z.string(), seconds: z.number(), passed: z.number(), failed: z.number() }),
  ),
});
const detailsSchema = z.object({ stages: z.array(stageSchema) });

/** @throws ZodError where the record is of something else */
export const stagesIn = ({ details }: Pick<EvidenceRecord, 'details'>): EndedStage[] =>
  detailsSchema.parse(details).stages;

/**
 * What has ended with the very sources that are there, of each stage the last: nothing where the whole ladder has.
 * Checks take a minute, and flows that found no lab have shown nothing: they are run again. Pure.
 */
export function stagesToKeep(records: readonly EvidenceRecord[], digest: string): EndedStage[] {
  const alike = digest === unknown ? [] : records.filter(({ sources }) => sources.digest === digest);
  if (alike.at(-1)?.counts['missing'] === 0) return [];
  const ended = alike.flatMap(stagesIn);
  const last = new Map(ended.map((stage) => [stage.title, stage]));
  return [...last.values()].filter(({ rung, took }) => rung !== 'checks' && (rung !== 'flows' || took.length > 0));
}

export interface WholeRun {
  seed: number;
  startedMs: number;
  /** Of the sources, when it began. */
  digest: string;
  /** When it began, so that all its records are one file. */
  commit: ReturnType<typeof readCommit>;
  stageCount: number;
}

export interface SoFar {
  stages: readonly EndedStage[];
  passed: number;
  skipped: number;
  /** A line each, those of stages included. */
  failures: readonly string[];
  /** Nothing is to come, and evidence has been judged. */
  isOver: boolean;
}

/** @returns the record's path below the checkout */
export function saveWhole({ seed, startedMs, digest, commit, stageCount }: WholeRun, soFar: SoFar): string {
  const startedAt = new Date(startedMs).toISOString();
  const run = { series: 'test-all', title: 'the whole ladder', seed, command: 'npm run test:all', startedMs } as const;
  // This one has been written after each stage before.
  const earlier = readRecords('test-all').filter((record) => record.startedAt !== startedAt);
  const record = makeRecord({ ...run, digestBefore: digest, ...recordOf(soFar, stageCount) }, earlier);
  return saveRecord({ ...record, ...commit });
}

/** Pure. */
export const recordOf = (
  { stages, passed, skipped, failures, isOver }: SoFar,
  all: number,
): Pick<EvidenceRecord, 'counts' | 'details'> & { failures: Pick<Failure, 'what' | 'complaints'>[] } => ({
  counts: { passed, failed: failures.length, skipped, missing: all - stages.length + (isOver ? 0 : 1) },
  failures: failures.map((what) => ({ what, complaints: [] })),
  details: { stages: stages.map(shorten) },
});

/** What `renderTimes` does not show need not be kept. */
const shorten = ({ took, ...stage }: EndedStage): EndedStage => ({
  ...stage,
  took: took
    .filter(({ seconds }) => seconds >= 1)
    .map((file) => ({ ...file, path: isAbsolute(file.path) ? relative(checkout, file.path) : file.path })),
});
