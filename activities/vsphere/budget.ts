import type { Clock } from '../../runtime/clock.ts';

/** Lets so many calls at once, and so many in a second, through to one vCenter; the others wait in their order. */
export interface CallBudget {
  /** @throws the signal's reason when it is aborted before its turn */
  run<Result>(call: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function openCallBudget(
  { calls, callsPerSecond }: { calls: number; callsPerSecond: number },
  clock: Clock,
): CallBudget {
  const waiting: (() => void)[] = [];
  let running = 0;
  // A second's worth may go at once: after that, one each time its share of a second has passed.
  const shareMs = 1_000 / callsPerSecond;
  let nextMs = -Infinity;

  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (running < calls) {
      running += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const leave = (): void => {
      waiting.splice(waiting.indexOf(turn.resolve), 1);
      turn.reject(signal.reason);
    };
    waiting.push(turn.resolve);
    signal.addEventListener('abort', leave, { once: true });
    await turn.promise.finally(() => signal.removeEventListener('abort', leave));
  };
  const exit = (): void => {
    const next = waiting.shift();
    // Who is next takes over the place.
    if (next === undefined) running -= 1;
    else next();
  };
  const pace = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs();
    nextMs = Math.max(nextMs, nowMs - 1_000) + shareMs;
    if (nextMs > nowMs) await clock.sleep(nextMs - nowMs, signal);
  };
  return {
    run: async (call, signal) => {
      await enter(signal);
      try {
        await pace(signal);
        return await call();
      } finally {
        exit();
      }
    },
  };
}
