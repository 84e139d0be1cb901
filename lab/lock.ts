import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from './part.ts';
import { ensurePrivateDirectory, readJsonIfThere, writePrivateJson } from './private-files.ts';
import { identify, isAlive } from './process-identity.ts';

const POLL_INTERVAL_MS = 100;
/** SQLite's SQLITE_BUSY: another connection holds the lock. */
const SQLITE_BUSY = 5;

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called once when the lock is not free at once; `holder` is who has it, where that could be read. */
  readonly onWait?: (holder: ProcessIdentity | undefined) => void;
}

/**
 * Runs `action` while no other caller on this machine, in this process or another, holds
 * the lock `<directory>/<name>.lock`.
 *
 * The lock is the exclusive one of an empty SQLite file, that is, the kernel's: it ends with its holder, however that
 * ends, so there are no stale locks and nothing to take over. `<name>.holder` beside it (pid and start time) only
 * serves the message for those who wait.
 *
 * @throws the signal's reason when it is aborted while waiting.
 */
export async function withLock<Result>(
  directory: string,
  name: string,
  action: () => Promise<Result>,
  options: LockOptions = {},
): Promise<Result> {
  ensurePrivateDirectory(directory);
  const holderFile = join(directory, `${name}.holder`);
  let release = tryLock(directory, name);
  if (release === undefined) options.onWait?.(livingHolder(holderFile));
  while (release === undefined) {
    await delay(POLL_INTERVAL_MS, undefined, options.signal === undefined ? {} : { signal: options.signal });
    release = tryLock(directory, name);
  }
  try {
    writePrivateJson(holderFile, identify(process.pid));
    return await action();
  } finally {
    release();
  }
}

/** The same lock, without waiting: what releases it, or undefined when it is held. */
export function tryLock(directory: string, name: string): (() => void) | undefined {
  ensurePrivateDirectory(directory);
  const database = new DatabaseSync(join(directory, `${name}.lock`));
  if (begin(database)) return () => database.close();
  database.close();
  return undefined;
}

function begin(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

function livingHolder(file: string): ProcessIdentity | undefined {
  const holder = readJsonIfThere(file) as ProcessIdentity | undefined;
  return holder !== undefined && isAlive(holder) ? holder : undefined;
}
