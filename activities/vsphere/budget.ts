import pLimit from 'p-limit';

import type { Clock } from '../../runtime/clock.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** Lets so many calls at once, and so many in a second, through to one vCenter; the others wait in their order. */
export interface CallBudget {
  /** @throws the signal's reason when it is aborted before its turn */
  run<Result>(call: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

export function openCallBudget(
  { calls, callsPerSecond }: { calls: number; callsPerSecond: number },
  clock: Clock,
): CallBudget {
  const limit = pLimit(calls);
  // A second's worth may go at once: after that, one each time its share of a second has passed.
  const shareMs = 1_000 / callsPerSecond;
  let nextMs = -Infinity;

  const pace = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs();
    nextMs = Math.max(nextMs, nowMs - 1_000) + shareMs;
    if (nextMs > nowMs) await clock.sleep(nextMs - nowMs, signal);
  };
  return {
    run: async (call, signal) => {
      signal.throwIfAborted();
      const called = limit(async () => {
        // Given up before its turn: it takes no part of the second.
        signal.throwIfAborted();
        await pace(signal);
        return await call();
      });
      return await unlessAborted(called, signal);
    },
  };
}
