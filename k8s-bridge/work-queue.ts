import type { Clock } from '../runtime/clock.ts';
import { type BackOffLimits, backOffMs } from './back-off.ts';

/** A fresh change goes before whatever a resync found. */
export type Priority = 'fresh' | 'resync';

export interface WorkQueueOptions<Item> {
  /** Must end when `abort` says so. What rejects is delivered again after a back-off. */
  deliver: (item: Item, abort: AbortSignal) => Promise<void>;
  /** One item that says what both said. */
  coalesce: (earlier: Item, later: Item) => Item;
  /** How many keys may be in flight at once. */
  workers: number;
  /** Per key. */
  backOff: BackOffLimits;
  /**
   * Least time between the end of the delivery of an item and the next one of its key: what comes meanwhile is one
   * delivery. Default 0.
   */
  minIntervalMs?: (item: Item) => number;
  onFailure: (item: Item, error: unknown, retryInMs: number) => void;
  clock: Pick<Clock, 'schedule'>;
  /** 0 to 1: spreads the back-off. */
  random: () => number;
}

export interface WorkQueueStats {
  fresh: number;
  resync: number;
  inFlight: number;
  backingOff: number;
  delivered: number;
  /** Items that became part of one that was waiting already. */
  coalesced: number;
  failed: number;
}

export interface WorkQueue<Item> {
  add(key: string, item: Item, priority: Priority): void;
  /** Starts nothing more, and drops what is pending. What is in flight goes on. */
  pause(): void;
  resume(): void;
  stats(): WorkQueueStats;
  /**
   * Takes nothing more, delivers what waits, each once; after `timeoutMs` ends what is in flight. Resolves to how many
   * items were not delivered.
   */
  drain(timeoutMs: number): Promise<number>;
}

interface Waiting<Item> {
  item: Item;
  priority: Priority;
}

interface Entry<Item> {
  /** What is to be delivered next; null while in flight and nothing new came. */
  waiting: Waiting<Item> | null;
  inFlight: boolean;
  failures: number;
  /** Set while nothing may be delivered: it backs off, or was delivered just now. */
  callOff: (() => void) | null;
}

/**
 * A queue of keys, as client-go's: one delivery in flight per key; what is added while one waits or is in flight
 * becomes one delivery after it; fresh before resync, each in the order in which they came; back-off per key. Nothing
 * that was added is forgotten while the queue runs: the last item of a key, or one that contains it, is delivered after
 * it was added.
 */
export function createWorkQueue<Item>({
  deliver,
  coalesce,
  workers,
  backOff,
  minIntervalMs = () => 0,
  onFailure,
  clock,
  random,
}: WorkQueueOptions<Item>): WorkQueue<Item> {
  const entries = new Map<string, Entry<Item>>();
  const ready: Record<Priority, Set<string>> = { fresh: new Set(), resync: new Set() };
  const stopping = new AbortController();
  const count = { inFlight: 0, backingOff: 0, delivered: 0, coalesced: 0, failed: 0 };
  let state: 'running' | 'paused' | 'draining' = 'running';
  let onIdle: (() => void) | null = null;
  let undelivered = 0;

  const makeReady = (key: string, { priority }: Waiting<Item>): void => {
    ready.resync.delete(key);
    ready.fresh.delete(key);
    ready[priority].add(key);
  };

  const merge = (earlier: Waiting<Item>, later: Waiting<Item>): Waiting<Item> => ({
    item: coalesce(earlier.item, later.item),
    priority: earlier.priority === 'fresh' ? 'fresh' : later.priority,
  });

  /** Holds a key back for a while. */
  const hold = (key: string, entry: Entry<Item>, forMs: number): void => {
    if (entry.failures > 0) count.backingOff += 1;
    entry.callOff = clock.schedule(() => {
      letGo(entry);
      if (entry.waiting === null) entries.delete(key);
      else makeReady(key, entry.waiting);
      startReady();
    }, forMs);
  };

  const letGo = (entry: Entry<Item>): void => {
    if (entry.callOff === null) return;
    entry.callOff();
    entry.callOff = null;
    if (entry.failures > 0) count.backingOff -= 1;
  };

  const add = (key: string, item: Item, priority: Priority): void => {
    if (state !== 'running') return;
    const added: Waiting<Item> = { item, priority };
    const entry = entries.get(key) ?? { waiting: null, inFlight: false, failures: 0, callOff: null };
    entries.set(key, entry);
    if (entry.waiting !== null) count.coalesced += 1;
    const isPromoted = entry.waiting?.priority !== 'fresh' && priority === 'fresh';
    const isNew = entry.waiting === null;
    entry.waiting = entry.waiting === null ? added : merge(entry.waiting, added);
    // What is in flight or held back is made ready when that is over.
    if (!entry.inFlight && entry.callOff === null && (isNew || isPromoted)) makeReady(key, entry.waiting);
    startReady();
  };

  const startReady = (): void => {
    if (state === 'paused') return;
    while (count.inFlight < workers) {
      const key = first(ready.fresh) ?? first(ready.resync);
      if (key === undefined) break;
      ready.fresh.delete(key);
      ready.resync.delete(key);
      const entry = entries.get(key);
      if (entry?.waiting) void run(key, entry, entry.waiting);
    }
    if (count.inFlight === 0 && ready.fresh.size + ready.resync.size === 0) onIdle?.();
  };

  const run = async (key: string, entry: Entry<Item>, started: Waiting<Item>): Promise<void> => {
    entry.waiting = null;
    entry.inFlight = true;
    count.inFlight += 1;
    try {
      await deliver(started.item, stopping.signal);
      count.delivered += 1;
      entry.failures = 0;
      const restMs = minIntervalMs(started.item);
      if (restMs > 0 && state === 'running') hold(key, entry, restMs);
    } catch (error) {
      count.failed += 1;
      failed(key, entry, started, error);
    }
    count.inFlight -= 1;
    entry.inFlight = false;
    if (entry.callOff === null) {
      if (entry.waiting === null) entries.delete(key);
      else makeReady(key, entry.waiting);
    }
    startReady();
  };

  const failed = (key: string, entry: Entry<Item>, started: Waiting<Item>, error: unknown): void => {
    if (state === 'draining') {
      undelivered += 1;
      return;
    }
    // Paused: resuming begins anew.
    if (state === 'paused') return;
    const retryInMs = backOffMs(backOff, entry.failures, random());
    entry.failures += 1;
    entry.waiting = entry.waiting === null ? started : merge(started, entry.waiting);
    hold(key, entry, retryInMs);
    onFailure(started.item, error, retryInMs);
  };

  return {
    add,
    pause() {
      if (state !== 'running') return;
      state = 'paused';
      for (const [key, entry] of entries) {
        letGo(entry);
        entry.waiting = null;
        if (!entry.inFlight) entries.delete(key);
      }
      ready.fresh.clear();
      ready.resync.clear();
    },
    resume() {
      if (state !== 'paused') return;
      state = 'running';
      startReady();
    },
    stats: () => ({ fresh: ready.fresh.size, resync: ready.resync.size, ...count }),
    async drain(timeoutMs) {
      const wasPaused = state === 'paused';
      state = 'draining';
      if (wasPaused && count.inFlight === 0) return 0;
      for (const [key, entry] of entries) {
        if (entry.callOff === null) continue;
        letGo(entry);
        if (entry.waiting === null) entries.delete(key);
        else makeReady(key, entry.waiting);
      }
      const { promise: idle, resolve } = Promise.withResolvers<void>();
      onIdle = resolve;
      const callOff = clock.schedule(() => {
        for (const key of [...ready.fresh, ...ready.resync]) if (entries.delete(key)) undelivered += 1;
        ready.fresh.clear();
        ready.resync.clear();
        stopping.abort();
      }, timeoutMs);
      startReady();
      await idle;
      callOff();
      return undelivered;
    },
  };
}

const first = (keys: ReadonlySet<string>): string | undefined => keys.values().next().value;
