import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from './part.ts';

interface Stat {
  readonly state: string;
  readonly threads: number;
  /** Clock ticks since boot. */
  readonly startTicks: string;
}

/**
 * State, number of threads and start time of a line of /proc/<pid>/stat, proc(5) fields 3, 20 and 22. The command name
 * in field 2 may hold spaces and brackets, so counting starts behind the last closing one.
 */
export function parseStat(stat: string): Stat | undefined {
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .trim()
    .split(' ');
  const state = fields[0];
  const startTicks = fields[19];
  return state === undefined || startTicks === undefined || !/^\d+$/.test(startTicks)
    ? undefined
    : { state, threads: Number(fields[17]), startTicks };
}

let bootId: string | undefined;

function startTimeOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    try {
      return (
        execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', timeout: 5000 }).trim() ||
        undefined
      );
    } catch {
      return undefined;
    }
  }
  let stat;
  try {
    stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
  // A zombie has ended; only its parent has not noticed yet. While it has further threads, though, these still hold its
  // ports and files.
  if (stat === undefined || stat.state === 'X' || (stat.state === 'Z' && stat.threads <= 1)) return undefined;
  // Ticks count from boot, so after a reboot they can repeat.
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${bootId}/${stat.startTicks}`;
}

/** Who the process of that number is now, or undefined when there is none. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** Whether exactly that process still runs; false when the number belongs to another process by now. */
export function isAlive(identity: ProcessIdentity): boolean {
  return startTimeOf(identity.pid) === identity.startTime;
}

/** Signals the process if it is still the one that was recorded; returns whether it was. */
export function signalIfSame(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits until the process has ended; false when it has not by then. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isAlive(identity)) {
    if (performance.now() > deadline) return false;
    await delay(20);
  }
  return true;
}
