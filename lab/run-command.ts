import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { CommandSpec } from './part.ts';
import { LabError } from './lab-error.ts';

/** Between SIGTERM and SIGKILL of a command that overran or is no longer wanted. */
const KILL_AFTER_MS = 5000;
const TAIL_LINES = 15;

/** The last lines of a text, without trailing empty ones. */
export function tailOf(text: string, lines = TAIL_LINES): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

/**
 * Runs a command to its end; resolves to its standard output.
 *
 * @throws LabError with the end of what it printed when it fails, overruns, or cannot be started; the signal's reason
 * when it is aborted.
 */
export async function runCommand(spec: CommandSpec, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn(spec.command, spec.args, {
    cwd: spec.cwd,
    env: { ...process.env, ...spec.env },
    stdio: [spec.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let everything = '';
  const collect = (toStdout: boolean) => (chunk: string) => {
    if (toStdout) stdout += chunk;
    everything += chunk;
    if (spec.logFile !== undefined) appendFileSync(spec.logFile, chunk, { mode: 0o600 });
  };
  if (spec.logFile !== undefined) mkdirSync(dirname(spec.logFile), { recursive: true });
  child.stdout?.setEncoding('utf8').on('data', collect(true));
  child.stderr?.setEncoding('utf8').on('data', collect(false));
  // A command that does not read its input to the end closes the pipe; its exit code shows the rest.
  child.stdin?.on('error', () => {});
  child.stdin?.end(spec.input);

  const overrun = AbortSignal.timeout(spec.timeoutMs);
  const stop = signal === undefined ? overrun : AbortSignal.any([signal, overrun]);
  let killTimer: NodeJS.Timeout | undefined;
  const onStop = () => {
    child.kill('SIGTERM');
    killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  };
  stop.addEventListener('abort', onStop, { once: true });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    child.on('error', reject);
    child.on('close', (code, killedBy) => resolve(killedBy ?? String(code)));
    const ending = await promise.catch((error: unknown) => {
      throw new LabError(`${spec.command} cannot be started: ${(error as Error).message}`);
    });
    signal?.throwIfAborted();
    if (ending === '0') return stdout;
    const why = overrun.aborted ? `did not end within ${spec.timeoutMs / 1000} s` : `failed (${ending})`;
    const where = spec.logFile === undefined ? '' : `; whole output in ${spec.logFile}`;
    throw new LabError(`${basename(spec.command)} ${spec.args[0] ?? ''} ${why}${where}\n${tailOf(everything)}`.trim());
  } finally {
    clearTimeout(killTimer);
    stop.removeEventListener('abort', onStop);
  }
}
