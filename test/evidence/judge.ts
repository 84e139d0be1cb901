import type { EvidenceRecord } from './record.ts';
import { unknown } from './record.ts';

/**
 * - `fresh`: the newest record is of the sources as they are, and nothing failed, of a sample perhaps: then it says so.
 * - `failed`: it is of these sources, and something did.
 * - `incomplete`: it is of these sources, and a part is missing.
 * - `stale`: they are others now.
 * - `none`: there is no record.
 */
export interface Judgement {
  state: 'fresh' | 'failed' | 'incomplete' | 'stale' | 'none';
  /** A sentence. */
  why: string;
  /** `a sample: 73 of 728 cells`; absent: it is of all that there is. */
  sample?: string;
}

export interface Now {
  globs: readonly string[];
  digest: string;
  /** How many of the files that a record is about are others than in a commit; null where it is not known. */
  countChanged: (commit: string, globs: readonly string[]) => number | null;
  /** How many of today's files the globs of a record do not name. */
  countBeyond: (globs: readonly string[]) => number;
}

const hasFailed = ({ counts, failures }: EvidenceRecord): boolean =>
  (counts['failed'] ?? 0) > 0 || failures.some(({ passedLater }) => !passedLater);

/**
 * Whether a record is of the sources as they are. The paths that a series is about may be fewer by now than those that
 * it was made of: then they are compared with its commit.
 */
function isOfNow({ sources, commit, changed }: EvidenceRecord, now: Now): boolean {
  if (sources.globs.join() === now.globs.join()) return sources.digest === now.digest;
  const isKnown = sources.digest !== unknown && changed === false;
  return isKnown && now.countChanged(commit, now.globs) === 0 && now.countBeyond(sources.globs) === 0;
}

/** By the newest record of a series, the last one. */
export function judge(records: readonly EvidenceRecord[], now: Now): Judgement {
  const { globs, countChanged } = now;
  const newest = records.at(-1);
  if (newest === undefined) return { state: 'none', why: 'there is no record' };
  const { sources, commit, recordedIn } = newest;
  const asOf = commit === unknown ? recordedIn : commit;
  const where = `the record of ${nameOf(newest)}`;
  if (!isOfNow(newest, now)) {
    const others = sources.globs.join() !== globs.join();
    const changed = asOf === undefined ? null : countChanged(asOf, globs);
    const files =
      changed === null
        ? 'its sources have changed since'
        : `${changed} ${changed === 1 ? 'file' : 'files'} of its sources changed since`;
    const which =
      sources.digest === unknown
        ? ['it does not say which sources it is of']
        : others
          ? ['it is about other paths']
          : [];
    return { state: 'stale', why: `${where}: ${[...which, files].join('; ')}` };
  }
  // One command may be tried again; of each the last try counts.
  const last = [
    ...new Map(
      records.filter((record) => record.sources.digest === sources.digest).map((record) => [record.command, record]),
    ).values(),
  ];
  const failed = last.filter(hasFailed);
  if (failed.length > 0)
    return { state: 'failed', why: failed.map(({ command, counts }) => `${command}: ${countsOf(counts)}`).join('; ') };
  const isIncomplete = ['missing', 'missingScenarios', 'missingKinds'].some((what) => (newest.counts[what] ?? 0) > 0);
  if (isIncomplete) return { state: 'incomplete', why: `${where}: ${countsOf(newest.counts)}` };
  const sample = sampleOf(newest.counts);
  return { state: 'fresh', why: `${where}: ${countsOf(newest.counts)}`, ...(sample !== null && { sample }) };
}

/** How much was run of what is drawn from; null: nothing was drawn. Pure. */
export function sampleOf(counts: EvidenceRecord['counts']): string | null {
  const { notSampled = 0, passed = 0, failed = 0, missing = 0 } = counts;
  const run = passed + failed;
  return notSampled === 0 ? null : `a sample: ${run} of ${run + missing + notSampled} cells`;
}

function nameOf({ startedAt, commit, recordedIn }: EvidenceRecord): string {
  const known = recordedIn === undefined ? 'commit unknown' : `in ${recordedIn}`;
  return `${startedAt === unknown ? 'an unknown day' : startedAt.slice(0, 10)} (${commit === unknown ? known : commit})`;
}

/** A judgement of a series, and what it is about. */
export interface JudgedSeries extends Judgement {
  command: string;
  /** Why it is not due with everything else; null: it is. */
  exempt: string | null;
  /** Of the newest record, as it has it; null: there is none. */
  startedAt: string | null;
}

const dayMs = 86_400_000;

/** What is not fresh, a line each: what a run of everything must make, and what is exempt from it. Pure. */
export function listNotFresh(
  judged: readonly ({ name: string } & JudgedSeries)[],
  nowMs: number,
): { due: string[]; exempt: string[] } {
  const old = judged.filter(({ state }) => state !== 'fresh');
  const lines = (some: typeof old): string[] =>
    some.map(({ name, state, why, exempt, startedAt, command }) => {
      const age =
        startedAt === null || startedAt === unknown
          ? []
          : [`${Math.floor((nowMs - Date.parse(startedAt)) / dayMs)} days old`];
      const apart = exempt === null ? [] : [`exempt, as ${exempt}: ${command}`];
      return `evidence ${name} is ${[state, ...age, why, ...apart].join('; ')}`;
    });
  return {
    due: lines(old.filter(({ exempt }) => exempt === null)),
    exempt: lines(old.filter(({ exempt }) => exempt !== null)),
  };
}

export const countsOf = (counts: EvidenceRecord['counts']): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');
