import { setTimeout as delay } from 'node:timers/promises';

/**
 * Time, as adapters, activities and the bridge know it. Injected, so that the simulator runs the same code
 * in virtual time.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that never goes back; only differences mean something. */
  monotonicMs(): number;
  /** @throws the signal's reason when it is aborted */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `action` after `delayMs`. Returns what cancels that. */
  schedule(action: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
  schedule: (action, delayMs) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * A signal that is aborted after `ms` by `clock`, as `AbortSignal.timeout` is by the machine's. `dispose`
 * cancels the timer.
 */
export function timeoutSignal(clock: Clock, ms: number): { signal: AbortSignal; dispose: () => void } {
  const controller = new AbortController();
  const dispose = clock.schedule(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    ms,
  );
  return { signal: controller.signal, dispose };
}

/** Gives `work` a signal that is aborted after `ms`. */
export async function withTimeout<Result>(
  clock: Clock,
  ms: number,
  work: (overdue: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { signal, dispose } = timeoutSignal(clock, ms);
  try {
    return await work(signal);
  } finally {
    dispose();
  }
}

/** Calls `action` every `periodMs` until the returned function is called. */
export function repeat(clock: Clock, action: () => void, periodMs: number): () => void {
  let cancel = (): void => undefined;
  const next = (): void => {
    cancel = clock.schedule(() => {
      next();
      action();
    }, periodMs);
  };
  next();
  return () => cancel();
}
