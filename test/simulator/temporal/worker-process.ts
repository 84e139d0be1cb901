import type { VirtualClock } from '../clock.ts';
import type { Process } from '../process.ts';
import { endProcess, startProcess } from '../process.ts';
import type { WorkflowBundle } from './sdk.ts';
import { latency } from './server.ts';

/** The worker's operating-system process: one at a time, and none for a while after it was killed. */
export interface WorkerHost {
  readonly process: Process;
  bundle: WorkflowBundle;
  /** When the process was killed; null: it lives. */
  killedMs(process: Process): number | null;
  /** Called when a process has started. */
  onStart: (() => void)[];
  /** Called when it is killed. */
  onKill: (() => void)[];
  /** Temporal can be reached. */
  isConnected(): boolean;
  /**
   * Tells Temporal something, after a short latency; where it cannot be reached, tries again for a while, as Core does.
   */
  report(action: () => void): void;
}

/** Of Core's calls, and between two of them. */
const patienceMs = 10_000;
const retryMs = 500;
/** Between two attempts to take a task of a server that cannot be reached. */
export const pollRetryMs = 250;

export interface WorkerControl {
  readonly host: WorkerHost;
  /** kill -9, and a new process after `downMs`. */
  kill(downMs: number): void;
  start(): void;
}

export interface WorkerHostOptions {
  clock: VirtualClock;
  bundle: WorkflowBundle;
  /** Calls an action later, whatever becomes of the process. */
  after: (delayMs: number, action: () => void) => unknown;
  isConnected: () => boolean;
}

export function createWorkerHost({ clock, bundle, after, isConnected }: WorkerHostOptions): WorkerControl {
  let process = Object.assign(startProcess('worker'), { isAlive: false });
  const killed = new WeakMap<Process, number>();
  let starts = 0;
  const host: WorkerHost = {
    get process() {
      return process;
    },
    bundle,
    killedMs: (process) => killed.get(process) ?? null,
    onStart: [],
    onKill: [],
    isConnected,
    report(action) {
      const sinceMs = clock.nowMs;
      const attempt = (): void => {
        if (isConnected()) return action();
        if (clock.nowMs < sinceMs + patienceMs) clock.after(retryMs, attempt);
      };
      clock.soon(latency.message, attempt);
    },
  };
  const start = (): void => {
    process = startProcess('worker');
    for (const listener of host.onStart) listener();
  };
  return {
    host,
    start,
    kill(downMs) {
      endProcess(process);
      killed.set(process, clock.nowMs);
      for (const listener of host.onKill) listener();
      // The last word on when it is back is that of the last kill.
      const mine = (starts += 1);
      after(downMs, () => mine === starts && start());
    },
  };
}
