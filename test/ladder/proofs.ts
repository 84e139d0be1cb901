import { basename, relative } from 'node:path';
import { saveRecord } from '../evidence/keep.ts';
import { type EvidenceRecord, makeRecord, unknown } from '../evidence/record.ts';
import type { SeriesName } from '../evidence/series.ts';
import { checkout } from '../evidence/sources.ts';
import { suiteGroups, suitesOf } from '../simulated-suites.ts';
import { flowTiers, provenAreas } from '../tiers.ts';
import { namesOf } from './choose.ts';
import type { Outcome } from './outcome.ts';

/** Test files that make evidence where all of them have been run. */
export interface Proof {
  series: SeriesName;
  /** Below the checkout. */
  files: readonly string[];
}

/** @param name of a flow, without `.test.ts` */
export const fileOf = (name: string): string => `test/flows/${name}.test.ts`;

export const flowProofs: readonly Proof[] = provenAreas.map((area) => ({
  series: `flows-${area}`,
  files: namesOf(flowTiers, (row) => row.tier === 'changed' && row.area === area).map(fileOf),
}));

export const suiteProofs: readonly Proof[] = suiteGroups.map((group) => ({
  series: `suites-${group}`,
  files: suitesOf(group),
}));

/** Flows over the fakes. */
export const simulatedFlowProofs: readonly Proof[] = [
  { series: 'suites-flows', files: namesOf(flowTiers, ({ tier }) => tier === 'simulated').map(fileOf) },
];

/** What the files of a proof came to; null: not all of them have been run, and none of them failed. Pure. */
export function readProof(
  { files }: Proof,
  { took }: Pick<Outcome, 'took'>,
): (Pick<EvidenceRecord, 'counts' | 'details'> & { failures: { what: string; complaints: string[] }[] }) | null {
  const byFile = new Map(took.map(({ what: name, path, ...its }) => [relative(checkout, path), { name, ...its }]));
  const run = files.flatMap((file) => {
    const its = byFile.get(file);
    return its === undefined ? [] : [{ file, ...its }];
  });
  // What fails counts, however few of the others were run.
  if (run.length < files.length && run.every(({ failed }) => failed === 0)) return null;
  const sum = (of: 'passed' | 'failed'): number => run.reduce((total, its) => total + its[of], 0);
  // What was skipped here, for want of a package, fails in CI: it must not be left out there as shown.
  const partial = run.filter(({ passed, failed, skipped }) => passed + failed === 0 || skipped.length > 0);
  return {
    counts: { passed: sum('passed'), failed: sum('failed'), missing: files.length - run.length + partial.length },
    failures: run
      .filter(({ failed }) => failed > 0)
      .map(({ file, failed }) => ({ what: file, complaints: [`${failed} failed`] })),
    details: {
      files: run.map(({ name, seconds, passed, failed, skipped }) => ({
        name,
        seconds,
        passed,
        failed,
        ...(skipped.length > 0 && { skipped }),
      })),
    },
  };
}

export interface ProofRun {
  command: string;
  /** Decides what of them is sampled; null: the same on every push. */
  seed: number | null;
  startedMs: number;
  digests: ReadonlyMap<SeriesName, string>;
}

/** @returns paths of the records, below the checkout */
export const recordProofs = (proofs: readonly Proof[], outcome: Outcome, { digests, ...run }: ProofRun): string[] =>
  proofs.flatMap((proof) => {
    const read = readProof(proof, outcome);
    if (read === null) return [];
    const { series, files } = proof;
    const record = makeRecord({
      series,
      title: files.map((file) => basename(file, '.test.ts')).join(', '),
      ...run,
      digestBefore: digests.get(series) ?? unknown,
      ...read,
    });
    return [saveRecord(record)];
  });
