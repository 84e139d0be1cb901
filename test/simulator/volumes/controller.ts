import type { VirtualClock } from '../clock.ts';

/**
 * A controller's queue, as client-go has it: a key is worked on once at a time, and again where it was added meanwhile
 * or failed.
 */
export interface Controller {
  add(key: string): void;
  /** What is under way goes on; nothing else is begun. */
  pause(): void;
  resume(): void;
}

export interface ControllerOptions {
  clock: VirtualClock;
  random: () => number;
  /**
   * What is thrown is tried again, later each time.
   * @returns after how long the key is looked at again; null: when something changes
   */
  sync: (key: string) => Promise<number | null>;
  /** Of the first failure; doubled with each, up to {@link mostRetryMs}. */
  retryMs: number;
  mostRetryMs: number;
  /** The longest that a watch takes to tell. */
  noticeMs: number;
}

export function createController(options: ControllerOptions): Controller {
  const { clock, random, sync, retryMs, mostRetryMs, noticeMs } = options;
  /** Keys that are to be worked on. */
  const waiting = new Set<string>();
  const busy = new Set<string>();
  const failures = new Map<string, number>();
  let isPaused = false;

  async function work(key: string): Promise<void> {
    if (isPaused || busy.has(key) || !waiting.has(key)) return;
    waiting.delete(key);
    busy.add(key);
    let againMs: number | null;
    try {
      againMs = await sync(key);
      failures.delete(key);
    } catch {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      againMs = Math.min(retryMs * 2 ** count, mostRetryMs);
    }
    busy.delete(key);
    if (waiting.has(key)) soon(key, noticeMs * random());
    if (againMs !== null) soon(key, againMs);
  }

  const soon = (key: string, ms: number): void =>
    void clock.after(ms, () => {
      waiting.add(key);
      // Code that drives the clock does not wait for what takes time itself.
      void work(key);
    });

  return {
    add(key) {
      if (waiting.has(key)) return;
      waiting.add(key);
      if (!busy.has(key)) clock.after(noticeMs * random(), () => void work(key));
    },
    pause: () => void (isPaused = true),
    resume() {
      isPaused = false;
      for (const key of waiting) clock.after(noticeMs * random(), () => void work(key));
    },
  };
}
