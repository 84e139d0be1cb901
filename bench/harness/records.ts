import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine } from '../machine.ts';
import type { Commit } from './commit.ts';
import type { Spread } from './spread.ts';

/** What makes two machines alike. */
export type MachineKind = Pick<Machine, 'cores' | 'cpu' | 'memoryGiB'>;

/** One figure, as it was measured last on this machine and commit. */
export interface RecordedFigure extends Spread {
  /** RFC 3339. */
  recordedAt: string;
  /** One-minute load average when the measurement began. */
  load: number;
  versions: Readonly<Record<string, string>>;
}

/** The figures of one suite on one machine and commit. */
export interface BenchRecord extends Commit {
  machine: MachineKind;
  figures: Readonly<Record<string, RecordedFigure>>;
}

const results = fileURLToPath(new URL('../results', import.meta.url));

export const kindOf = ({ cores, cpu, memoryGiB }: MachineKind): MachineKind => ({ cores, cpu, memoryGiB });
export const isAlike = (one: MachineKind, other: MachineKind): boolean => one.cores === other.cores && one.cpu === other.cpu && one.memoryGiB === other.memoryGiB;

/** Readable, and without the machine's name: `2-cores-24-gib-1a2b3c-0123456789.json`. */
export function fileOf({ machine: { cores, cpu, memoryGiB }, commit, changed }: Pick<BenchRecord, 'machine' | 'commit' | 'changed'>): string {
  const digest = createHash('sha256').update(cpu).digest('hex').slice(0, 6);
  return `${cores}-cores-${memoryGiB}-gib-${digest}-${commit}${changed ? '-changed' : ''}.json`;
}

/** Every record of a suite. */
export function readRecords(suite: string, directory = results): BenchRecord[] {
  const folder = join(directory, suite);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as BenchRecord);
}

/** Takes figures into the record of this machine and commit; what it has besides stays. */
export function addToRecord(suite: string, added: BenchRecord, directory = results): void {
  const folder = join(directory, suite);
  const file = join(folder, fileOf(added));
  mkdirSync(folder, { recursive: true });
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BenchRecord).figures : {};
  replaceFile(file, `${JSON.stringify({ ...added, figures: { ...before, ...added.figures } }, null, 2)}\n`);
}

/** Whoever reads meanwhile reads one whole file. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
