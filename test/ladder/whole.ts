import { isAbsolute, relative } from 'node:path';
import { z } from 'zod';
import { saveRecord } from '../evidence/keep.ts';
import { type EvidenceRecord, type Failure, makeRecord, readRecords, unknown } from '../evidence/record.ts';
import { checkout, countChanged, type readCommit } from '../evidence/sources.ts';
import { type Rung, rungs, type Stage } from './list-stages.ts';
import type { Outcome, Took } from './outcome.ts';

/**
 * The record of the whole ladder. It takes hours: the record is written whenever a stage, or a file of the flows, ends,
 * with what is missing, and a later run with `--resume` goes on from there. What has ended is not run again while its
 * sources are what they were, whatever it came to, so that a second attempt hides no failure: a stage, or a file of the
 * flows, each of which has sources of its own. A flow that failed is run again when it has been mended, and the other
 * ones are not.
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
    z.object({
      what: z.string(),
      path: z.string(),
      seconds: z.number(),
      passed: z.number(),
      failed: z.number(),
      // Older records name both for the stage only.
      skipped: z.array(z.string()).default([]),
      retried: z.array(z.string()).default([]),
    }),
  ),
});
const detailsSchema = z.object({ stages: z.array(stageSchema) });

/** @throws ZodError where the record is of something else */
export const stagesIn = ({ details }: Pick<EvidenceRecord, 'details'>): EndedStage[] =>
  detailsSchema.parse(details).stages;

/** Whether the files that globs name are still those of a record. */
export type IsOf = (record: EvidenceRecord, globs: readonly string[]) => boolean;

/** Of the files on disk. What changed while a record was made, or before that was committed, is of none. */
export const isOfNow: IsOf = ({ commit, changed, sources }, globs) =>
  sources.digest !== unknown && changed === false && countChanged(commit, globs) === 0;

const listEnded = (
  records: readonly EvidenceRecord[],
  title: string,
): { record: EvidenceRecord; stage: EndedStage }[] =>
  records.flatMap((record) =>
    stagesIn(record)
      .filter((stage) => stage.title === title)
      .map((stage) => ({ record, stage })),
  );

/** What has ended with the very sources that are there, the last of each title. Checks take minutes. Pure. */
export const stagesToKeep = (
  records: readonly EvidenceRecord[],
  stages: readonly Pick<Stage, 'rung' | 'title' | 'sources'>[],
  isOf: IsOf,
): EndedStage[] =>
  stages
    .filter(({ rung }) => rung !== 'checks')
    .flatMap(({ title, sources }) => {
      const last = listEnded(records, title).findLast(({ record }) => sources.every((globs) => isOf(record, globs)));
      return last === undefined ? [] : [last.stage];
    });

/**
 * What has been run of the files of a stage with the very sources that are there; null: nothing. Pure.
 *
 * @param globsOf what decides how a file goes
 */
export function filesToKeep(
  records: readonly EvidenceRecord[],
  { title, files }: { title: string; files: readonly string[] },
  { globsOf, isOf }: { globsOf: (file: string) => readonly string[]; isOf: IsOf },
): EndedStage | null {
  const ended = listEnded(records, title);
  const kept = files.flatMap((file) => {
    const last = ended.findLast(({ record, stage }) => rowOf(stage, file) !== undefined && isOf(record, globsOf(file)));
    const took = last && rowOf(last.stage, file);
    return took === undefined || last === undefined ? [] : [{ stage: last.stage, took }];
  });
  const [latest] = kept.map(({ stage }) => stage).toSorted((a, b) => (a.endedAt < b.endedAt ? 1 : -1));
  if (latest === undefined) return null;
  const took = kept.map((one) => one.took);
  const stages = [...new Set(kept.map(({ stage }) => stage))];
  return {
    ...latest,
    seconds: Math.max(...stages.map(({ seconds }) => seconds)),
    passed: took.reduce((sum, { passed }) => sum + passed, 0),
    failed: took.filter(({ failed }) => failed > 0).map(({ path, failed }) => `${path}: ${failed} failed`),
    skipped: [...new Set(namesOf('skipped', took, stages))],
    retried: namesOf('retried', took, stages),
    took,
  };
}

const rowOf = ({ took }: EndedStage, file: string): Took | undefined => took.find(({ path }) => path === file);

/** Those of the files, and of an older record, which does not say in which file they are, all. */
const namesOf = (of: 'skipped' | 'retried', took: readonly Took[], stages: readonly EndedStage[]): string[] => {
  const unnamed = stages.flatMap((stage) => {
    const named = stage.took.flatMap((file) => file[of]);
    return stage[of].filter((name) => !named.includes(name));
  });
  return [...took.flatMap((file) => file[of]), ...unnamed];
};

/** What a stage came to with what was kept of its files. Pure. */
export const withKept = (outcome: Outcome, kept: EndedStage | null): Outcome =>
  kept === null
    ? outcome
    : {
        title: outcome.title,
        seconds: outcome.seconds + kept.seconds,
        passed: outcome.passed + kept.passed,
        failed: [...kept.failed, ...outcome.failed],
        skipped: [...kept.skipped, ...outcome.skipped],
        retried: [...kept.retried, ...outcome.retried],
        took: [...kept.took, ...outcome.took].toSorted((a, b) => b.seconds - a.seconds),
      };

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
  /** One that has not ended, with its files that have; null: there is none, or its files do not count alone. */
  underWay: EndedStage | null;
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
  { stages, underWay, passed, skipped, failures, isOver }: SoFar,
  all: number,
): Pick<EvidenceRecord, 'counts' | 'details'> & { failures: Pick<Failure, 'what' | 'complaints'>[] } => ({
  counts: { passed, failed: failures.length, skipped, missing: all - stages.length + (isOver ? 0 : 1) },
  failures: failures.map((what) => ({ what, complaints: [] })),
  details: { stages: [...stages, ...(underWay === null ? [] : [underWay])].map(shorten) },
});

/** What `renderTimes` does not show need not be kept. */
const shorten = ({ took, ...stage }: EndedStage): EndedStage => ({
  ...stage,
  took: took
    .filter(({ seconds }) => seconds >= 1)
    .map((file) => ({ ...file, path: isAbsolute(file.path) ? relative(checkout, file.path) : file.path })),
});
