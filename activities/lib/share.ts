import { type Clock, withTimeout } from '../../runtime/clock.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** One reading for all that ask within the same moment. Failures are not kept: who asks after one reads again. */
export interface Shared<Value> {
  /**
   * The value of a reading that began at most `trustedMs` ago; 0: that begins after the question, as one of the
   * caller's own would.
   */
  read: (trustedMs: number, signal: AbortSignal) => Promise<Value>;
  /** What was read before now is trusted no more: this process has changed it. */
  forget: () => void;
}

export interface ShareOptions {
  /** A time-out of its own: who asked first may be cancelled while others wait for the same answer. */
  timeoutMs?: number;
  /** Between the beginnings of two readings: who asks meanwhile waits for the second. */
  spacingMs?: number;
}

const defaults = { timeoutMs: 60_000, spacingMs: 100 };

/** @param clock by which the age of a reading counts, this machine's alone */
export function share<Value>(
  clock: Clock,
  read: (signal: AbortSignal) => Promise<Value>,
  { timeoutMs = defaults.timeoutMs, spacingMs = defaults.spacingMs }: ShareOptions = {},
): Shared<Value> {
  let last: { beganMs: number; value: Value } | null = null;
  let reading: { beganMs: number; answer: Promise<Value> } | null = null;
  let next: Promise<Value> | null = null;
  let lastBeganMs = -Infinity;
  let forgottenMs = -Infinity;

  function begin(): Promise<Value> {
    const beganMs = clock.monotonicMs();
    lastBeganMs = beganMs;
    const answer = withTimeout(clock, timeoutMs, read).then((value) => {
      if (last === null || beganMs >= last.beganMs) last = { beganMs, value };
      return value;
    });
    const own = { beganMs, answer };
    reading = own;
    const end = (): void => {
      if (reading === own) reading = null;
    };
    answer.then(end, end);
    return answer;
  }

  async function afterSpacing(waitMs: number): Promise<Value> {
    await clock.sleep(waitMs);
    next = null;
    return begin();
  }

  return {
    async read(trustedMs, signal) {
      signal.throwIfAborted();
      const nowMs = clock.monotonicMs();
      const sinceMs = Math.max(nowMs - trustedMs, forgottenMs);
      if (last !== null && last.beganMs >= sinceMs) return last.value;
      if (reading !== null && reading.beganMs >= sinceMs) return unlessAborted(reading.answer, signal);
      const waitMs = lastBeganMs + spacingMs - nowMs;
      if (next === null && waitMs <= 0) return unlessAborted(begin(), signal);
      next ??= afterSpacing(waitMs);
      return unlessAborted(next, signal);
    },
    forget() {
      // What began at this very moment may have been answered before the change.
      forgottenMs = clock.monotonicMs() + 1;
    },
  };
}

/** The same for many questions. A question that was not asked for a while is dropped. */
export interface SharedByKey<Value> {
  read: (key: string, trustedMs: number, signal: AbortSignal) => Promise<Value>;
}

const unusedMs = 60_000;

export function shareByKey<Value>(
  clock: Clock,
  read: (key: string, signal: AbortSignal) => Promise<Value>,
  options: ShareOptions = {},
): SharedByKey<Value> {
  const known = new Map<string, { shared: Shared<Value>; usedMs: number }>();
  return {
    read(key, trustedMs, signal) {
      const nowMs = clock.monotonicMs();
      // In the order of their last use.
      for (const [old, { usedMs }] of known) {
        if (nowMs - usedMs < unusedMs) break;
        known.delete(old);
      }
      const shared = known.get(key)?.shared ?? share(clock, (bound) => read(key, bound), options);
      known.delete(key);
      known.set(key, { shared, usedMs: nowMs });
      return shared.read(trustedMs, signal);
    },
  };
}
