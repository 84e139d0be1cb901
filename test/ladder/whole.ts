import { relative } from 'node:path';
import { z } from 'zod';
import { saveRecord } from '../evidence/keep.ts';
import { type EvidenceRecord, type Failure, makeRecord, readRecords } from '../evidence/record.ts';
import { checkout } from '../evidence/sources.ts';
import { type Rung, rungs } from './list-stages.ts';
import type { Outcome } from './outcome.ts';

/**
 * The record of the whole ladder. It takes hours: the record is written whenever a stage ends, with what is missing, and
 * a later run with `--resume` goes on from there. A stage that has ended is not run again, whatever it came to, so that
 * a second attempt hides no failure.
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

/**
 * What the newest record has of the very sources that are there. Checks take a minute, and are of documents too: they are
 * run again. Pure.
 */
export function stagesToKeep(records: readonly EvidenceRecord[], digest: string): EndedStage[] {
  const newest = records.at(-1);
  if (newest?.sources.digest !== digest) return [];
  return detailsSchema.parse(newest.details).stages.filter(({ rung }) => rung !== 'checks');
}

export interface WholeRun {
  seed: number;
  startedMs: number;
  /** Of the sources, when it began. */
  digest: string;
  /** How many stages the ladder has. */
  stages: number;
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
export function saveWhole({ seed, startedMs, digest, stages }: WholeRun, soFar: SoFar): string {
  const startedAt = new Date(startedMs).toISOString();
  const run = { series: 'test-all', title: 'the whole ladder', seed, command: 'npm run test:all', startedMs } as const;
  // This one has been written after each stage before.
  const earlier = readRecords('test-all').filter((record) => record.startedAt !== startedAt);
  return saveRecord(makeRecord({ ...run, digestBefore: digest, ...recordOf(soFar, stages) }, earlier));
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
  took: took.filter(({ seconds }) => seconds >= 1).map((file) => ({ ...file, path: relative(checkout, file.path) })),
});
