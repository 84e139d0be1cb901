import type { Clock } from '../../runtime/clock.ts';
import { currentProcess, runIn } from './process.ts';

/** Something that happens at a moment of virtual time. */
export interface Entry {
  atMs: number;
  order: number;
  action: () => unknown;
  isCancelled: boolean;
}

/** Virtual time: it passes only when {@link VirtualClock.step} takes the next entry. */
export interface VirtualClock extends Clock {
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /**
   * `action` happens at `atMs`, or now if that has passed. It happens to the process that asked for it: not at all if
   * that one has been killed by then.
   */
  at(atMs: number, action: () => unknown): Entry;
  after(delayMs: number, action: () => unknown): Entry;
  /** After a random latency of at most `mostMs`. */
  soon(mostMs: number, action: () => unknown): Entry;
  cancel(entry: Entry | null | undefined): void;
  /**
   * What processes of that name read as the time of day is off by so much, from now on; timers run as
   * ever. 0: right again.
   */
  skew(process: string, byMs: number): void;
  /**
   * The machine that all of this runs on was suspended for so long: what was due in the meantime happens now,
   * in its order.
   */
  leap(ms: number): void;
  /** Nothing of what is due happens any more. */
  stop(): void;
  /** Takes the next entry up to `untilMs`; false: there is none. */
  step(untilMs: number): Promise<boolean>;
}

/** @param random decides the order of what happens at one moment, and latencies */
export function createVirtualClock(startMs: number, random: () => number): VirtualClock {
  const heap: Entry[] = [];
  const skews = new Map<string, number>();
  let nowMs = startMs;

  const isBefore = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

  function push(entry: Entry): void {
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  function pop(): Entry | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && isBefore(heap[right] as Entry, heap[left] as Entry) ? right : left;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[index] = heap[child] as Entry;
      index = child;
    }
    heap[index] = last;
    return first;
  }

  const clock: VirtualClock = {
    get nowMs() {
      return nowMs;
    },
    now: () => Math.floor(nowMs + (skews.size === 0 ? 0 : (skews.get(currentProcess().name) ?? 0))),
    monotonicMs: () => nowMs - startMs,
    at(atMs, action) {
      const process = currentProcess();
      const entry: Entry = {
        atMs: Math.max(atMs, nowMs),
        order: random(),
        action: () => (process.isAlive ? runIn(process, action) : undefined),
        isCancelled: false,
      };
      push(entry);
      return entry;
    },
    after: (delayMs, action) => clock.at(nowMs + delayMs, action),
    soon: (mostMs, action) => clock.at(nowMs + random() * mostMs, action),
    cancel(entry) {
      if (entry) entry.isCancelled = true;
    },
    schedule(action, delayMs) {
      const entry = clock.after(delayMs, action);
      return () => clock.cancel(entry);
    },
    sleep(ms, signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = (): void => {
        clock.cancel(entry);
        reject(signal?.reason as Error);
      };
      const entry = clock.after(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      signal?.addEventListener('abort', abort, { once: true });
      return promise;
    },
    skew: (process, byMs) => void (byMs === 0 ? skews.delete(process) : skews.set(process, byMs)),
    leap: (ms) => void (nowMs += ms),
    stop: () => void heap.splice(0),
    async step(untilMs) {
      for (;;) {
        const first = heap[0];
        if (first === undefined || (first.atMs > untilMs && !first.isCancelled)) return false;
        pop();
        if (first.isCancelled) continue;
        nowMs = Math.max(nowMs, first.atMs);
        await first.action();
        return true;
      }
    },
  };
  return clock;
}
