import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A simulated operating-system process: a worker, a bridge, or the test itself. What runs in one that was killed goes on no further: its
 * timers do not fire, its calls have no effect and get no answer.
 */
export interface Process {
  /** `worker`, `bridge`, `test`. */
  readonly name: string;
  isAlive: boolean;
}

/** What runs in no other: the test, people, the outside systems themselves. It is never killed. */
const testProcess: Process = { name: 'test', isAlive: true };

const storage = new AsyncLocalStorage<Process>();

const simulated = new WeakSet<Process>();

export function startProcess(name: string): Process {
  const process: Process = { name, isAlive: true };
  simulated.add(process);
  return process;
}

/** One that was started: drover's own, and neither the test nor an outside system. */
export const isSimulated = (process: Process): boolean => simulated.has(process);

/** The process in which the caller runs. */
export const currentProcess = (): Process => storage.getStore() ?? testProcess;

export const runIn = <Result>(process: Process, action: () => Result): Result => storage.run(process, action);
