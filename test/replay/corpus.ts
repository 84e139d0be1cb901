import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import { sameCommands, workflowTypeOf } from './same-commands.ts';

/**
 * The histories that earlier releases wrote: what a new release must still be able to go on with. One archive for each
 * release, of JSON lines; histories as `temporal workflow show --output json` prints them. Of runs with the same
 * commands one history is kept.
 */
const histories = fileURLToPath(new URL('histories/', import.meta.url));
const suffix = '.jsonl.br';

export interface RecordedRun {
  /** `0.1.0/happy-1` */
  name: string;
  workflowId: string;
  history: History;
  /** Requests to each system, where they were counted. */
  calls?: Calls;
}

type Calls = Readonly<Partial<Record<OutsideSystem, number>>>;

/** A line of an archive. */
export interface Entry {
  /** Of every recorded run with these commands, such as `happy-1`. */
  names: readonly string[];
  workflowId: string;
  /** As JSON. */
  history: object;
  calls?: Calls;
}

/** What a release has recorded: neither its runs nor their types may become fewer. */
export interface Inventory {
  /** Runs by workflow type, those included whose history is not kept because another has the same commands. */
  types: Readonly<Record<string, number>>;
  /** Histories that are kept. */
  kept: number;
  /** Of the archive. */
  sha256: string;
}

const archiveOf = (release: string, directory: string): string => join(directory, `${release}${suffix}`);

export function readReleases(directory = histories): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .toSorted();
}

export function readEntries(release: string, directory = histories): Entry[] {
  const file = archiveOf(release, directory);
  if (!existsSync(file)) return [];
  const lines = brotliDecompressSync(readFileSync(file))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** Every history of every release. */
export function readCorpus(directory = histories): RecordedRun[] {
  return readReleases(directory).flatMap((release) =>
    readEntries(release, directory).map(({ names, history, ...run }) => ({
      name: `${release}/${names[0]}`,
      ...run,
      history: historyFromJSON(history),
    })),
  );
}

export function takeInventory(release: string, directory = histories): Inventory {
  const entries = readEntries(release, directory);
  const types: Record<string, number> = {};
  for (const { names, history } of entries)
    types[workflowTypeOf(history)] = (types[workflowTypeOf(history)] ?? 0) + names.length;
  const sorted = Object.fromEntries(Object.entries(types).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    types: sorted,
    kept: entries.length,
    sha256: createHash('sha256')
      .update(readFileSync(archiveOf(release, directory)))
      .digest('hex'),
  };
}

/** Puts the runs of each recording in the place of those that were recorded under its name before. */
export function writeRuns(
  release: string,
  recordings: ReadonlyMap<string, readonly Omit<RecordedRun, 'name'>[]>,
  directory = histories,
): void {
  let entries: readonly Entry[] = readEntries(release, directory);
  for (const [recording, runs] of recordings) {
    const added = runs.map(({ history, ...run }, index): Entry => ({
      names: [`${recording}-${index + 1}`],
      ...run,
      history: JSON.parse(historyToJSON(history), anonymous) as object,
    }));
    entries = replaceRecording(entries, recording, added);
  }
  writeEntries(release, entries, directory);
}

/** Pure. */
export function replaceRecording(entries: readonly Entry[], recording: string, added: readonly Entry[]): Entry[] {
  const isIts = new RegExp(`^${recording}-\\d+$`, 'u');
  const others = entries
    .map((entry) => ({ ...entry, names: entry.names.filter((name) => !isIts.test(name)) }))
    .filter(({ names }) => names.length > 0);
  return keepOnce([...others, ...added]);
}

/** Of entries with the same commands the newest, with the names of all; rather one whose calls were counted. Pure. */
export function keepOnce(entries: readonly Entry[]): Entry[] {
  const groups = Map.groupBy(entries, ({ history }) => sameCommands(history)).values();
  return Array.from(groups, (group) => ({
    ...(group.findLast(({ calls }) => calls !== undefined) ?? group.at(-1))!,
    names: group.flatMap(({ names }) => names).toSorted(byName),
  }));
}

const byName = new Intl.Collator('en', { numeric: true }).compare;

/** The same entries give the same bytes. */
export function writeEntries(release: string, entries: readonly Entry[], directory = histories): void {
  const text = entries
    .toSorted((a, b) => byName(a.names[0] ?? '', b.names[0] ?? ''))
    .map((entry) => `${JSON.stringify(entry)}\n`)
    .join('');
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  };
  writeFileSync(archiveOf(release, directory), brotliCompressSync(text, { params }));
}

/** Without the names of the machine, the processes and the folders that it was recorded on. */
function anonymous(key: string, value: unknown): unknown {
  if (key === 'identity' || key === 'binaryChecksum') return 'drover';
  // A worker's own queue is called by process and machine.
  if (key === 'name' && typeof value === 'string' && /^\d+@/u.test(value)) return 'drover';
  return key === 'stackTrace' ? '' : value;
}

/** Goes through the runs with these workflows. `failures`: those that would not go on as they were, and why. */
export async function replay(
  runs: readonly RecordedRun[],
  workflowBundle: WorkflowBundleOption,
): Promise<{ replayed: number; failures: string[] }> {
  const failures: string[] = [];
  let replayed = 0;
  // One worker for all: a worker loads the bundle, and judges one history after the other.
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, runs)) {
    const run = runs[replayed];
    replayed += 1;
    if (error !== undefined) failures.push(`${run?.name} (${run?.workflowId}): ${error.message}`);
  }
  return { replayed, failures };
}
