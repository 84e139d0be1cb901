import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { checkout } from '../evidence/sources.ts';

export interface Command {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Takes only what others leave of the processors. */
  background?: boolean;
  /** What it reports is shown as it comes; else it is returned, as its output is unless that is shown, too. */
  showStderr?: boolean;
  showStdout?: boolean;
}

/** After a request to end. */
const graceMs = 15_000;

/**
 * Runs a program of the checkout in a process group of its own, so that an interruption reaches all that it starts.
 *
 * @throws the signal's reason, when the group has ended
 */
export async function runCommand(
  { command, args, env = {}, background = false, showStderr = false, showStdout = false }: Command,
  signal: AbortSignal,
): Promise<{ status: number; stdout: string; stderr: string }> {
  signal.throwIfAborted();
  const [program, ...rest] = background ? ['nice', '-n', '10', command, ...args] : [command, ...args];
  const child = spawn(program ?? command, rest, {
    cwd: checkout,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', showStdout ? 'inherit' : 'pipe', showStderr ? 'inherit' : 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const ended = Promise.withResolvers<number>();
  child.on('error', ended.reject);
  child.on('close', (status) => ended.resolve(status ?? 1));
  const end = (how: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how);
    } catch {
      // All of it has ended.
    }
  };
  const stop = (): void => {
    end('SIGTERM');
    void delay(graceMs, undefined, { ref: false }).then(() => end('SIGKILL'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const status = await ended.promise;
    signal.throwIfAborted();
    return { status, ...written };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
