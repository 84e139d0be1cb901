import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';

/**
 * A simulated operating-system process: a worker, a bridge, or the test itself. What runs in one that was killed goes
 * on no further: its timers do not fire, its calls have no effect and get no answer.
 */
export interface Process {
  /** `worker`, `bridge`, `test`. */
  readonly name: string;
  isAlive: boolean;
}

/** What runs in no other: the test, people, the outside systems themselves. It is never killed. */
const testProcess: Process = { name: 'test', isAlive: true };

const storage = new AsyncLocalStorage<Process>();

/**
 * Those that were started, and the signals that each has made of others: Node keeps such a signal for as long as
 * anything listens to it.
 */
const simulated = new WeakMap<Process, Set<WeakRef<AbortSignal>>>();

export function startProcess(name: string): Process {
  const process: Process = { name, isAlive: true };
  simulated.set(process, new Set());
  return process;
}

/** kill -9, or its end: nothing in it hears of an abort any more, so that what has waited for one is free. */
export function endProcess(process: Process): void {
  process.isAlive = false;
  for (const reference of simulated.get(process) ?? []) {
    const signal = reference.deref();
    if (signal === undefined) continue;
    for (const listener of getEventListeners(signal, 'abort'))
      signal.removeEventListener('abort', listener as () => void);
  }
  simulated.get(process)?.clear();
}

/** One that was started: drover's own, and neither the test nor an outside system. */
export const isSimulated = (process: Process): boolean => simulated.has(process);

/** The process in which the caller runs. */
export const currentProcess = (): Process => storage.getStore() ?? testProcess;

export const runIn = <Result>(process: Process, action: () => Result): Result => storage.run(process, action);

/** What Node has there. */
export const plainAny = AbortSignal.any.bind(AbortSignal);

/** In the place of `AbortSignal.any` while a simulation goes on. */
export function anySignal(signals: AbortSignal[]): AbortSignal {
  const signal = plainAny(signals);
  simulated.get(currentProcess())?.add(new WeakRef(signal));
  return signal;
}
