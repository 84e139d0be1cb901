import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LabError } from './lab-error.ts';
import type { ProcessIdentity, ProcessRecord, ServiceSpec } from './part.ts';
import { ensurePrivateDirectory, readFileIfThere, readJsonIfThere, writePrivateJson } from './private-files.ts';
import { identify, isAlive, signalIfSame, waitForEnd } from './process-identity.ts';
import { formatDuration } from './progress.ts';
import { tailOf } from './run-command.ts';

/**
 * Set in every service and inherited by all it starts: the proof that a process belongs to this part, for those that no
 * record names (workers of a service that was killed, a service whose starter died before it could write the record).
 */
const TAG = 'DROVER_LAB_PROCESS';
const TAG_OF_COMMANDS = 'command';
const READY_POLL_MS = 50;
const READY_ATTEMPT_MS = 5000;
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const KILL_TIMEOUT_MS = 10_000;

export type Readiness = Pick<ServiceSpec, 'ready' | 'readyTimeoutMs'>;

const recordFile = (dir: string, name: string) => join(dir, 'processes', `${name}.json`);

/** The recorded services of a part, in the order they were started. */
export function readProcesses(dir: string): ProcessRecord[] {
  const folder = join(dir, 'processes');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => readJsonIfThere(join(folder, file)) as ProcessRecord)
    .sort((a, b) => a.rank - b.rank || a.startedAt.localeCompare(b.startedAt));
}

export function readProcess(dir: string, name: string): ProcessRecord {
  const record = readJsonIfThere(recordFile(dir, name)) as ProcessRecord | undefined;
  if (record === undefined) throw new LabError(`no process ${name} is recorded in ${dir}: is this part of the lab up?`);
  return record;
}

/**
 * Starts a service of the part in `dir` in a session of its own, so that it outlives this process and the terminal, and
 * waits until it is ready.
 *
 * @throws LabError with the end of its log when it ends or does not become ready in time (then it is stopped).
 */
export async function spawnService(dir: string, service: ServiceSpec, signal: AbortSignal): Promise<ProcessRecord> {
  const before = readJsonIfThere(recordFile(dir, service.name)) as ProcessRecord | undefined;
  if (before !== undefined && isAlive(before))
    throw new LabError(`${service.name} runs already in ${dir} (pid ${before.pid})`);
  const logFile = join(dir, 'log', `${service.name}.log`);
  ensurePrivateDirectory(join(dir, 'log'));
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.1`);
  const start = {
    name: service.name,
    rank: before?.rank ?? readProcesses(dir).length,
    command: service.command,
    args: service.args,
    env: service.env ?? {},
    cwd: service.cwd ?? dir,
    logFile,
    stopTimeoutMs: service.stopTimeoutMs ?? STOP_TIMEOUT_MS,
  };
  return startRecorded(dir, start, service, signal);
}

/** Starts a recorded service that has ended (or was killed) once more, exactly as it was: same arguments, same log. */
export async function respawnService(
  dir: string,
  name: string,
  readiness: Readiness,
  signal: AbortSignal,
): Promise<ProcessRecord> {
  const { pid, startTime, startedAt: _, ...start } = readProcess(dir, name);
  if (isAlive({ pid, startTime })) throw new LabError(`${name} still runs (pid ${pid})`);
  return startRecorded(dir, start, readiness, signal);
}

async function startRecorded(
  dir: string,
  start: Omit<ProcessRecord, keyof ProcessIdentity | 'startedAt'>,
  readiness: Readiness,
  signal: AbortSignal,
): Promise<ProcessRecord> {
  signal.throwIfAborted();
  const log = openSync(start.logFile, 'a', 0o600);
  const child = spawn(start.command, start.args, {
    cwd: start.cwd,
    env: { ...baseEnvironment(), ...start.env, [TAG]: `${dir}/${start.name}` },
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  let startError: Error | undefined;
  child.on('error', (error) => (startError = error));
  // Node reaps its children on its event loop only, so the number cannot have been given to another process yet.
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (child.pid === undefined) {
    await delay(0); // the error event comes on the next turn of the event loop
    throw new LabError(`${start.name} cannot be started: ${startError?.message ?? start.command}`);
  }
  if (identity === undefined) throw notReady(start, 'ended before it was ready');
  child.unref();
  const record: ProcessRecord = { ...start, ...identity, startedAt: new Date().toISOString() };
  writePrivateJson(recordFile(dir, start.name), record);
  try {
    await waitUntilReady(record, readiness, signal);
  } catch (error) {
    await stopService(record);
    throw error;
  }
  return record;
}

async function waitUntilReady(record: ProcessRecord, readiness: Readiness, signal: AbortSignal): Promise<void> {
  const timeoutMs = readiness.readyTimeoutMs ?? READY_TIMEOUT_MS;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (!isAlive(record)) throw notReady(record, 'ended before it was ready');
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(READY_ATTEMPT_MS)]);
    const ready = await Promise.race([readiness.ready(attempt), aborted(attempt)]).catch(() => false);
    if (ready) return;
    if (performance.now() > deadline) throw notReady(record, `was not ready within ${formatDuration(timeoutMs)}`);
    await delay(READY_POLL_MS);
  }
}

function notReady({ name, logFile }: Pick<ProcessRecord, 'name' | 'logFile'>, what: string): LabError {
  return new LabError(`${name} ${what}; its log ${logFile} ends with\n${tailOf(readFileIfThere(logFile) ?? '')}`);
}

/** Resolves to false when the signal is aborted, for probes that do not listen to it. */
function aborted(signal: AbortSignal): Promise<false> {
  const { promise, resolve } = Promise.withResolvers<false>();
  if (signal.aborted) resolve(false);
  signal.addEventListener('abort', () => resolve(false), { once: true });
  return promise;
}

/** SIGTERM, a bounded wait, SIGKILL; a process that is not the recorded one is left alone. Returns how it went. */
export async function stopService(record: ProcessRecord): Promise<'stopped' | 'killed' | 'gone'> {
  if (!signalIfSame(record, 'SIGTERM')) return 'gone';
  signalIfSame(record, 'SIGCONT'); // a frozen process cannot end
  if (await waitForEnd(record, record.stopTimeoutMs)) return 'stopped';
  await kill(record);
  return 'killed';
}

/** kill -9 of a recorded service, as a fault; resolves when it is gone. The record stays, for `respawnService`. */
export async function killService(dir: string, name: string): Promise<void> {
  await kill(readProcess(dir, name));
}

/** Sends a signal to a recorded service. */
export function signalService(dir: string, name: string, signal: NodeJS.Signals): void {
  const record = readProcess(dir, name);
  if (!signalIfSame(record, signal)) throw new LabError(`${name} (pid ${record.pid}) does not run`);
}

async function kill(identity: ProcessIdentity): Promise<void> {
  signalIfSame(identity, 'SIGKILL');
  if (!(await waitForEnd(identity, KILL_TIMEOUT_MS)))
    throw new LabError(`process ${identity.pid} does not end, not even by SIGKILL`);
}

/** Stops every service of the part, last started first, and whatever of theirs is left; removes the records. */
export async function stopServices(dir: string): Promise<void> {
  for (const record of readProcesses(dir).toReversed()) await stopService(record);
  await killStragglers(dir);
  rmSync(join(dir, 'processes'), { recursive: true, force: true });
}

/** Tags whatever this process starts from now on, besides services, as belonging to `dir`. */
export function tagOwnChildren(dir: string): void {
  process.env[TAG] = `${dir}/${TAG_OF_COMMANDS}`;
}

/** SIGKILL to every process that has the tag of `dir` or of a directory below it, until none is left. */
export async function killStragglers(dir: string): Promise<void> {
  for (let found = findStragglers(dir); found.length > 0; found = findStragglers(dir)) {
    for (const straggler of found) signalIfSame(straggler, 'SIGKILL');
    await Promise.all(found.map(kill));
  }
}

/** Living processes that have the part's tag in their environment (Linux; elsewhere only records are known). */
export function findStragglers(dir: string): ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const tag = `\0${TAG}=${dir}/`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .flatMap((entry) => {
      // Identity first: if the number changes hands in between, the signal finds another start time and is not sent.
      const identity = identify(Number(entry));
      return identity !== undefined && environmentOf(identity.pid).includes(tag) ? [identity] : [];
    });
}

function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch {
    return ''; // ended, or another user's
  }
}

/** Services must not depend on what the caller happens to have set (KUBECONFIG, OS_*, NODE_ENV …). */
function baseEnvironment(): Record<string, string> {
  const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER'];
  return Object.fromEntries(
    inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** `etcd, kube-apiserver`: the services of a part that should run and do not. */
export function deadServices(dir: string): string[] {
  return readProcesses(dir)
    .filter((record) => !isAlive(record))
    .map((record) => basename(record.name));
}
