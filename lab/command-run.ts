import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cacheDirectory } from '../runtime/cache.ts';
import { untilInterrupted } from './interruption.ts';
import { LabError } from './lab-error.ts';
import { stopLab } from './lab.ts';
import { tryLock, withLock } from './lock.ts';
import type { PartName } from './part.ts';
import { partNames } from './parts.ts';
import { releasePorts } from './ports.ts';
import { readJsonIfThere, writePrivateJson } from './private-files.ts';
import { killStragglers, tagOwnChildren, stopServices } from './processes.ts';

/**
 * A command that starts processes: `npm test`, `npm run chaos` … What it starts ends with it, when it ends by itself
 * and when it is interrupted; what a kill -9 of it leaves is stopped by the next command of this kind.
 *
 * `<cache>/runs/<id>.json` names its directory, and the lock `<id>.lock` beside it is held for as long as it lives. A
 * lock is the kernel's (lock.ts): one that can be taken is of a command that has ended, and nothing of a living
 * one is touched.
 */

/** A lab that outlives the command, in a directory that the user chose. */
interface UsedLab {
  readonly dir: string;
  /** The parts that the command stops at its end. */
  readonly stops: readonly PartName[];
}

interface RunRecord {
  /** As the user types it. */
  readonly command: string;
  readonly pid: number;
  /** Of this run alone: it is removed, and what runs in it is killed. */
  readonly dir: string;
  readonly lab?: UsedLab;
}

export interface RunOptions extends Pick<RunRecord, 'command' | 'lab'> {
  readonly report: (line: string) => void;
  /** Default: in the cache directory, one for all checkouts of this user. */
  readonly registry?: string;
  /**
   * How long an interrupted action may take to end in good order; default: a minute, since a worker lets its activities
   * end for 30 s.
   */
  readonly graceMs?: number;
}

export interface CommandRun {
  /** A temporary directory, which is this process's TMPDIR meanwhile. */
  readonly dir: string;
  /** Aborted on SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
}

const EXIT_INTERRUPTED = 130;
const GRACE_MS = 60_000;
/** Of the folders `processes` below a run's directory: a world, its lab, the part. */
const RECORDS_DEPTH = 5;
/** The lock for reads and writes of the registry; a run's own lock has the run's id. */
const REGISTRY = 'registry';

const runRegistry = (): string => join(cacheDirectory(), 'runs');

/**
 * Stops what ended commands left, and runs `action`. Interrupted, it waits for the action to end, stops the rest and
 * ends this process with exit code 130, unless the action came to its end all the same.
 *
 * @throws LabError when a living command uses the same lab
 */
export async function withRun<Result>(
  { command, lab, report, registry = runRegistry(), graceMs = GRACE_MS }: RunOptions,
  action: (run: CommandRun) => Promise<Result>,
): Promise<Result> {
  const reason = new LabError('interrupted');
  const signal = untilInterrupted(reason);
  const { record, release } = await withLock(
    registry,
    REGISTRY,
    async () => {
      await stopEnded(registry, report);
      return claimRun(registry, command, lab);
    },
    { signal },
  );
  const { dir } = record;
  const { TMPDIR: tmpBefore } = process.env;
  // Services keep the TMPDIR that they were started with; those of a lab that stays up must not lose it.
  if (lab === undefined || lab.stops.length > 0) process.env['TMPDIR'] = dir;
  tagOwnChildren(dir);
  const over = new AbortController();
  const overdue = Promise.withResolvers<never>();
  const interrupt = (): void => {
    report('interrupted: stopping what was started');
    // What fails from now on fails because its counterparts are gone.
    for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, () => undefined);
    delay(graceMs, undefined, { signal: over.signal }).then(
      () => overdue.reject(reason),
      () => undefined,
    );
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt);
  const [outcome] = await Promise.allSettled([Promise.race([action({ dir, signal }), overdue.promise])]);
  over.abort();
  await stopAll(record);
  release();
  if (tmpBefore === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = tmpBefore;
  if (outcome.status === 'fulfilled') return outcome.value;
  if (!signal.aborted) throw outcome.reason;
  report('Interrupted; what had been started is stopped.');
  process.exit(EXIT_INTERRUPTED);
}

/** Stops whatever commands that have ended left running, and removes their directories. */
export async function stopAbandonedRuns(report: (line: string) => void): Promise<void> {
  const registry = runRegistry();
  await withLock(registry, REGISTRY, () => stopEnded(registry, report));
}

async function stopEnded(registry: string, report: (line: string) => void): Promise<void> {
  const tried = new Set<string>();
  // Again after each, because a command that an ended one had started has ended with it.
  for (;;) {
    const ended = runsIn(registry)
      .filter((id) => !tried.has(id))
      .map((id) => ({ id, release: tryLock(registry, id) }))
      .filter((one): one is { id: string; release: () => void } => one.release !== undefined);
    if (ended.length === 0) return;
    for (const { id, release } of ended) {
      tried.add(id);
      try {
        const record = readRecord(registry, id);
        if (record !== undefined) {
          report(`stopping what ${record.command} (process ${record.pid}), which was killed, left behind`);
          await stopAll(record);
        }
        removeRecord(registry, id);
      } catch (error) {
        // The next start tries again; this one has no part in it.
        report(`not all of it is stopped: ${(error as Error).message}`);
      } finally {
        release();
      }
    }
  }
}

function claimRun(
  registry: string,
  command: string,
  lab: UsedLab | undefined,
): { record: RunRecord; release: () => void } {
  const used = lab === undefined ? undefined : { ...lab, dir: realPath(lab.dir) };
  const others = runsIn(registry).flatMap((id) => readRecord(registry, id) ?? []);
  const other = others.find((one) => used !== undefined && one.lab?.dir === used.dir);
  if (other !== undefined)
    throw new LabError(
      `${other.command} (process ${other.pid}) uses the lab in ${used?.dir}: wait until it has ended, or set DROVER_LAB to another directory.`,
    );
  const id = randomUUID();
  const unlock = tryLock(registry, id);
  if (unlock === undefined) throw new LabError(`${id} is locked in ${registry}`);
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'dr-')));
  const record: RunRecord = { command, pid: process.pid, dir, ...(used !== undefined && { lab: used }) };
  writePrivateJson(join(registry, `${id}.json`), record);
  const release = (): void => {
    removeRecord(registry, id);
    unlock();
  };
  return { record, release };
}

const runsIn = (registry: string): string[] =>
  readdirSync(registry).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []));

const readRecord = (registry: string, id: string): RunRecord | undefined =>
  readJsonIfThere(join(registry, `${id}.json`)) as RunRecord | undefined;

function removeRecord(registry: string, id: string): void {
  for (const suffix of ['json', 'lock']) rmSync(join(registry, `${id}.${suffix}`), { force: true });
}

async function stopAll({ dir, lab }: RunRecord): Promise<void> {
  // First, so that nothing is started again meanwhile by what the command had started.
  await killStragglers(dir);
  for (const folder of foldersWithServices(dir, RECORDS_DEPTH)) await stopServices(folder);
  if (lab !== undefined) {
    const others = foldersWithServices(lab.dir, RECORDS_DEPTH).filter((folder) => !isPart(lab.dir, folder));
    for (const folder of others) await stopServices(folder);
    if (lab.stops.length > 0) await stopLab({ dir: lab.dir, parts: lab.stops });
  }
  await killStragglers(dir);
  releasePorts({ dir, cacheDir: cacheDirectory() });
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}

/** The folders at or below `dir` that hold records of services (processes.ts). */
function foldersWithServices(dir: string, depth: number): string[] {
  if (!existsSync(dir)) return [];
  const folders = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) =>
    name === 'processes' ? [dir] : depth === 0 ? [] : foldersWithServices(join(dir, name), depth - 1),
  );
}

const isPart = (labDir: string, folder: string): boolean =>
  partNames.some((name) => folder === join(labDir, name) || folder.startsWith(join(labDir, name, '/')));

const realPath = (dir: string): string => (existsSync(dir) ? realpathSync(dir) : resolve(dir));
