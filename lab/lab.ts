import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { cacheDirectory } from '../runtime/cache.ts';
import { checkoutDirectory, createContext } from './context.ts';
import { LabError } from './lab-error.ts';
import { withLock } from './lock.ts';
import type { Description, LabContext, PartName } from './part.ts';
import {
  type AnyPart,
  createParts,
  type DefaultPartName,
  defaultPartNames,
  type Handles,
  partNames,
  type PartOptions,
} from './parts.ts';
import { releasePorts } from './ports.ts';
import { handleFile, readHandle } from './part-handle.ts';
import { ensurePrivateDirectory, writePrivateJson } from './private-files.ts';
import { deadServices, readProcesses, stopServices } from './processes.ts';
import { formatDuration, formatPartLine } from './progress.ts';

/** Written into every lab; a directory without it is not a lab and is neither filled nor wiped. */
const MARKER = 'lab.json';

export interface LabOptions<Name extends PartName = PartName> extends PartOptions {
  /** Default `labDirectory()`. */
  readonly dir?: string;
  /** Default: to start, `defaultPartNames`; to stop and to wipe, all. */
  readonly parts?: readonly Name[];
  /** Takes the progress lines; default: they are dropped. */
  readonly report?: (line: string) => void;
  /** Aborting it while the lab comes up stops what has been started. */
  readonly signal?: AbortSignal;
}

/** A lab that is up. It outlives this process; the caller that started it stops it. */
export interface Lab<Name extends PartName = DefaultPartName> {
  readonly dir: string;
  readonly handles: Pick<Handles, Name>;
  /** The environment in which `kubectl`, `temporal`, `tctl` and `openstack` find the lab; PATH included. */
  readonly exports: Readonly<Record<string, string>>;
  /** Stops these parts; their data stays. */
  stop(): Promise<void>;
}

export interface PartStatus extends Description {
  readonly name: PartName;
  readonly title: string;
  /** `broken`: it was started and some of its services have ended since. */
  readonly state: 'up' | 'down' | 'broken';
  /** The services that should run and do not. */
  readonly dead: readonly string[];
  readonly logDir: string;
}

export interface LabReading {
  readonly dir: string;
  /** Of the parts that are up. */
  readonly handles: Partial<Handles>;
  readonly exports: Readonly<Record<string, string>>;
  readonly parts: readonly PartStatus[];
}

/** `$DROVER_LAB`, else `.lab` in the checkout. */
export function labDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env['DROVER_LAB'] || join(checkoutDirectory, '.lab'));
}

/**
 * Brings the parts up, side by side as far as they do not use each other, each built first where need be; a part that
 * is up already is attached to.
 * @throws LabError (or the signal's reason) after stopping whatever this call had started.
 */
export async function startLab<const Name extends PartName = DefaultPartName>(
  options: LabOptions<Name> = {},
): Promise<Lab<Name>> {
  const names = (options.parts ?? defaultPartNames) as readonly Name[];
  const dir = claimDirectory(options.dir ?? labDirectory());
  const parts = createParts(options);
  const failure = new AbortController();
  const signal = options.signal === undefined ? failure.signal : AbortSignal.any([options.signal, failure.signal]);
  const started: PartName[] = [];
  const reading = await withLabLock(dir, options, async () => {
    const missing = names.filter((name) => !isUp(join(dir, name)));
    if (missing.length > 0)
      options.report?.(
        announce(
          dir,
          missing.map((name) => parts[name]),
        ),
      );
    const coming = new Map<PartName, Promise<void>>();
    const come = async (name: PartName): Promise<void> => {
      try {
        const before = names.filter((other) => parts[name].after?.includes(other));
        await Promise.all(before.map(comeOnce));
        const isNew = await bringUp(parts[name], contextOf(dir, name, options, signal));
        if (isNew) started.push(name);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    };
    const comeOnce = (name: PartName): Promise<void> => {
      const already = coming.get(name) ?? come(name);
      coming.set(name, already);
      return already;
    };
    const outcomes = await Promise.allSettled(names.map(comeOnce));
    if (outcomes.some(({ status }) => status === 'rejected')) {
      await Promise.all(started.map((name) => bringDown(parts[name], contextOf(dir, name, options))));
      throw options.signal?.aborted ? options.signal.reason : failure.signal.reason;
    }
    return readLab(dir);
  });
  return {
    dir,
    handles: reading.handles as Pick<Handles, Name>,
    exports: reading.exports,
    stop: () => stopLab({ dir, parts: names, ...(options.report === undefined ? {} : { report: options.report }) }),
  };
}

/** Stops the parts (default: all). What is stopped already stays so; data stays. */
export async function stopLab(options: LabOptions = {}): Promise<void> {
  const dir = resolve(options.dir ?? labDirectory());
  if (!isLab(dir)) return;
  const parts = createParts(options);
  const stop = (name: PartName) => bringDown(parts[name], contextOf(realpathSync(dir), name, options));
  await withLabLock(dir, options, () => Promise.all((options.parts ?? partNames).map(stop)));
}

/** Stops the parts (default: all) and removes their data; the next start begins anew. */
export async function wipeLab(options: LabOptions = {}): Promise<void> {
  const dir = resolve(options.dir ?? labDirectory());
  if (!existsSync(dir)) return;
  if (!isLab(dir)) throw new LabError(`${dir} is not a lab of drover (it has no ${MARKER}); nothing was removed.`);
  await stopLab(options);
  for (const name of options.parts ?? partNames) rmSync(join(dir, name), { recursive: true, force: true });
}

/** What is up in that directory, and how to use it. Reads files only. */
export function readLab(dir: string = labDirectory()): LabReading {
  const real = existsSync(dir) ? realpathSync(dir) : dir;
  const parts = createParts();
  const handles: Partial<Record<PartName, object>> = {};
  const exports: Record<string, string> = {};
  const statuses = partNames.map((name): PartStatus => {
    const part = parts[name];
    const partDir = join(real, name);
    const handle = readHandle(partDir);
    const dead = deadServices(partDir);
    const state = handle === undefined ? 'down' : dead.length > 0 ? 'broken' : 'up';
    const description = handle === undefined ? { urls: {}, exports: {} } : part.describe(handle);
    if (handle !== undefined && state === 'up') {
      handles[name] = handle;
      Object.assign(exports, description.exports);
    }
    return { name, title: part.title, state, dead, logDir: join(partDir, 'log'), ...description };
  });
  exports['PATH'] = [join(real, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { dir: real, handles: handles as Partial<Handles>, exports, parts: statuses };
}

/** Starts the part unless it is up; true when this call started it. */
async function bringUp(part: AnyPart, context: LabContext): Promise<boolean> {
  const { dir } = context;
  const startMs = performance.now();
  if (isUp(dir)) {
    await part.refresh?.(context, readHandle(dir) ?? {});
    context.report(`is up already, logs in ${join(dir, 'log')}`);
    return false;
  }
  await bringDown(part, context, { quiet: true });
  try {
    const handle = await part.start(context, await part.build(context));
    writePrivateJson(handleFile(dir), handle);
    const logs = readProcesses(dir).length > 0 ? `, logs in ${join(dir, 'log')}` : '';
    context.report(`${part.title}: ready after ${formatDuration(performance.now() - startMs)}${logs}`);
    return true;
  } catch (error) {
    await bringDown(part, context, { quiet: true });
    throw error instanceof LabError ? new LabError(`${part.name}: ${error.message}`) : error;
  }
}

/**
 * A part without services (a program only) never is: it costs nothing to start again, and its program may have gone.
 */
function isUp(partDir: string): boolean {
  return readHandle(partDir) !== undefined && readProcesses(partDir).length > 0 && deadServices(partDir).length === 0;
}

function announce(dir: string, missing: readonly AnyPart[]): string {
  const usually = missing.map(
    ({ name, usually: { warm, cold } }) => `${name} ${warm} (${cold} if it must be built first)`,
  );
  return `bringing up the lab in ${dir}; usual times: ${usually.join(', ')}`;
}

async function bringDown(part: AnyPart, context: LabContext, { quiet = false } = {}): Promise<void> {
  const { dir } = context;
  const handle = readHandle(dir);
  const startMs = performance.now();
  await part.beforeStop?.(context, handle);
  await stopServices(dir);
  rmSync(handleFile(dir), { force: true });
  releasePorts(context);
  if (!quiet && handle !== undefined) context.report(`stopped after ${formatDuration(performance.now() - startMs)}`);
}

function contextOf(labDir: string, part: PartName, options: LabOptions, signal?: AbortSignal): LabContext {
  return createContext({
    part,
    labDir,
    cacheDir: cacheDirectory(),
    // Stopping is never interrupted: it is bounded by itself.
    signal: signal ?? new AbortController().signal,
    report: (line) => options.report?.(formatPartLine(part, line)),
  });
}

const isLab = (dir: string) => existsSync(join(dir, MARKER));

/** Makes the directory a lab, or refuses; resolves links, since services are recognised by the path. */
function claimDirectory(dir: string): string {
  const path = resolve(dir);
  if (!isLab(path)) {
    if (existsSync(path) && readdirSync(path).length > 0)
      throw new LabError(`${path} is not empty and not a lab of drover; choose another directory.`);
    mkdirSync(path, { recursive: true });
    ensurePrivateDirectory(path);
    writePrivateJson(join(path, MARKER), {
      what: 'A lab of drover: data of the services it runs on loopback. `npm run lab -- down` before removing it.',
    });
  }
  return realpathSync(path);
}

/** Two commands on one lab run one after the other. */
function withLabLock<Result>(dir: string, options: LabOptions, action: () => Promise<Result>): Promise<Result> {
  return withLock(dir, 'lab', action, {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    onWait: (holder) =>
      options.report?.(
        `waiting for ${holder === undefined ? 'another command' : `process ${holder.pid}`} to finish with this lab`,
      ),
  });
}
