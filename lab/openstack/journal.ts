import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenStackHandle } from './handle.ts';

/** One request that a service was sent, by drover, by a test, or by another service. */
export interface ApiCall {
  /** Unix time of its arrival. */
  readonly timeMs: number;
  readonly durationMs: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** For POST …/action: which one, e.g. `os-migrateLive`. For PUT …/os-services/…: the status that was asked for. */
  readonly action?: string;
  readonly status: number;
  readonly requestId: string;
  readonly userAgent: string;
}

/** A migration record's new status, written the moment it was in Nova's database. */
export interface MigrationEvent {
  /** Unix time. */
  readonly timeMs: number;
  /** uuid of the migration record. */
  readonly migration: string;
  readonly id: number;
  readonly instance: string;
  /** live-migration, migration, resize or evacuation. */
  readonly type: string;
  readonly status: string;
  readonly source: string;
  readonly dest: string | null;
}

type Journaled = Pick<OpenStackHandle, 'journalDir' | 'readJournal'>;

/** What the service was asked, in the order the answers were ready. */
export function readApiCalls(handle: Journaled, service: 'keystone' | 'placement' | 'nova', sinceMs = 0): ApiCall[] {
  return readEntries<ApiCall>(handle, service, sinceMs);
}

/** What became of every migration, in order. */
export function readMigrationEvents(handle: Journaled, sinceMs = 0): MigrationEvent[] {
  return readEntries<MigrationEvent>(handle, 'migrations', sinceMs);
}

function readEntries<Entry extends { timeMs: number }>(handle: Journaled, name: string, sinceMs: number): Entry[] {
  const entries = handle.readJournal === undefined ? readFileEntries(handle, name) : handle.readJournal(name);
  return (entries as Entry[]).filter((entry) => entry.timeMs >= sinceMs);
}

function readFileEntries({ journalDir }: Journaled, name: string): unknown[] {
  const lines = readFileSync(join(journalDir, `${name}.jsonl`), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
}
