import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { describeMachine, kindOf } from '../../bench/machine.ts';
import type { SeriesName } from './series.ts';
import { series } from './series.ts';
import { checkout, digestNow, readCommit } from './sources.ts';

/**
 * What a long run has shown: one JSON file for each, in `evidence/<series>/`. Reports are generated from them, and
 * never edited.
 */

/** Where it was not written down. Nothing is guessed. */
export const unknown = 'unknown';
const unknownSchema = z.literal(unknown);
const timeSchema = z.iso.datetime({ offset: true });

const recordSchema = z.strictObject({
  series: z.string(),
  /** What was run, in a sentence. */
  title: z.string(),
  /** Ten digits of the commit that ran. */
  commit: z.union([z.string().regex(/^[\da-f]{10}$/u), unknownSchema]),
  /** Whether its sources differed from that commit. */
  changed: z.union([z.boolean(), unknownSchema]),
  /** Only where the commit is unknown: the one that brought the result into the repository. */
  recordedIn: z
    .string()
    .regex(/^[\da-f]{10}$/u)
    .optional(),
  /** The paths that it is about, and the digest of what they were. */
  sources: z.strictObject({
    globs: z.array(z.string()),
    digest: z.union([z.string().regex(/^sha256:[\da-f]{64}$/u), unknownSchema]),
  }),
  /** Null: nothing was random. */
  seed: z.union([z.number(), unknownSchema]).nullable(),
  command: z.string(),
  machine: z.union([z.strictObject({ cores: z.number(), cpu: z.string(), memoryGiB: z.number() }), unknownSchema]),
  startedAt: z.union([timeSchema, unknownSchema]),
  endedAt: z.union([timeSchema, unknownSchema]),
  /** How often this was begun with these sources, this one included, whatever came of the others. */
  attempts: z.union([z.number().int().min(1), unknownSchema]),
  /** `passed`, `failed` and `missing` where something is counted as that, and whatever else there is to count. */
  counts: z.record(z.string(), z.number()),
  /** Every failure, those included that did not come again at a later attempt. */
  failures: z.array(
    z.strictObject({
      what: z.string(),
      complaints: z.array(z.string()),
      attempt: z.union([z.number().int(), unknownSchema]),
      passedLater: z.boolean(),
    }),
  ),
  note: z.string().optional(),
  /** What the report of its series shows besides. */
  details: z.record(z.string(), z.unknown()),
});

export type EvidenceRecord = z.infer<typeof recordSchema>;
export type Failure = EvidenceRecord['failures'][number];

const evidence = join(checkout, 'evidence');

/** @throws where it is none, with every problem */
export function parseRecord(text: string): EvidenceRecord {
  const parsed = recordSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data;
}

/** By name, which for those of one series is by time. */
export function readRecords(name: string, directory = evidence): EvidenceRecord[] {
  const folder = join(directory, name);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted();
  return files.map((file) => parseRecord(readFileSync(join(folder, file), 'utf8')));
}

export interface Run extends Pick<EvidenceRecord, 'title' | 'seed' | 'command' | 'counts' | 'details'> {
  series: SeriesName;
  /** When it began. */
  startedMs: number;
  /** Of its sources at that time, by {@link digestNow}, where it took long enough for them to change. */
  digestBefore?: string;
  failures: readonly (Pick<Failure, 'what' | 'complaints'> & Partial<Failure>)[];
}

/** A record of what has just been run with the sources as they are. */
export function makeRecord(
  { series: name, startedMs, failures, digestBefore, ...run }: Run,
  earlier: readonly EvidenceRecord[] = readRecords(name),
): EvidenceRecord {
  const { globs } = series[name];
  const digest = digestNow(globs);
  const alike = earlier.filter(({ sources, command }) => sources.digest === digest && command === run.command);
  const attempts = alike.length + 1;
  return {
    series: name,
    ...run,
    ...readCommit(globs),
    // Changed in the middle, it is of neither.
    sources: { globs: [...globs], digest: digestBefore === undefined || digestBefore === digest ? digest : unknown },
    machine: kindOf(describeMachine()),
    startedAt: new Date(startedMs).toISOString(),
    endedAt: new Date().toISOString(),
    attempts,
    failures: failures.map((failure) => ({ attempt: attempts, passedLater: false, ...failure })),
  };
}

/** `20261123T014622-18d26b8a21.json`; those of an unknown time come first. */
function fileOf({ startedAt, commit, recordedIn = unknown }: EvidenceRecord): string {
  const stamp = startedAt === unknown ? '0' : startedAt.slice(0, 19).replace(/[-:]/gu, '');
  return `${stamp}-${commit === unknown ? recordedIn : commit}.json`;
}

/** @returns its path below the checkout */
export function writeRecord(record: EvidenceRecord, directory = evidence): string {
  const folder = join(directory, record.series);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, fileOf(record));
  // Whole at once: what runs beside it reads the records, too.
  const unfinished = `${file}.unfinished`;
  writeFileSync(unfinished, `${JSON.stringify(recordSchema.parse(record), null, 1)}\n`);
  renameSync(unfinished, file);
  return file.replace(checkout, '');
}
