import { nameOf, type Owner, type VmChange } from './known-vms.ts';
import type { RecentObservations } from './recent-observations.ts';

/** One signal to one run. */
export interface PendingSignal {
  owner: Owner;
  vmIds: string[];
  /** In words. */
  causes: string[];
  /** When the first of its changes arrived; milliseconds. */
  sinceMs: number;
  /** The run has observed all of it meanwhile: no signal is needed. */
  isObserved: boolean;
}

/**
 * Signals that are pending, by run: due at once where no run works on the VM; where one does, when that has observed it,
 * as it most likely is its own change; never more than one signal a second to a run, and never more than a budget to
 * all runs together.
 */
export interface SignalQueue {
  add(change: VmChange, nowMs: number): void;
  /** What may have changed while no watch ran: signalled slowly, when nothing fresh is due. */
  addLater(change: VmChange, nowMs: number): void;
  /** Removes and returns the next signal that is due; else when to ask again, null: after the next change. */
  take(nowMs: number): { next: PendingSignal } | { againMs: number | null };
  /** The signal failed: it is due again at that time, together with what arrives until then. */
  putBack(pending: PendingSignal, dueMs: number): void;
  /** Resolves when something is added. */
  changed(): Promise<void>;
  size(): number;
}

export interface QueueLimits {
  /** To one run. */
  distanceMs: number;
  /** How often it is seen whether a run that is at work has observed it. */
  atWorkMs: number;
  perSecond: number;
  laterPerSecond: number;
}

export const queueLimits: QueueLimits = { distanceMs: 1_000, atWorkMs: 500, perSecond: 20, laterPerSecond: 5 };

interface Waiting extends Omit<PendingSignal, 'isObserved'> {
  dueMs: number;
  /** When the last of its changes arrived. */
  latestMs: number;
}

export function openSignalQueue(
  recent: Pick<RecentObservations, 'isAtWork' | 'hasObserved' | 'hasObservedSince' | 'forget'>,
  digestOf: (vmId: string) => string | null,
  limits: QueueLimits = queueLimits,
): SignalQueue {
  const fresh = new Map<string, Waiting>();
  const later = new Map<string, Waiting>();
  const signalledMs = new Map<string, number>();
  const paces = { fresh: openPace(limits.perSecond), later: openPace(limits.laterPerSecond) };

  let added = Promise.withResolvers<void>();
  const wake = (): void => {
    added.resolve();
    added = Promise.withResolvers();
  };

  const due = (all: ReadonlyMap<string, Waiting>, nowMs: number): Waiting | null => {
    let first: Waiting | null = null;
    for (const one of all.values()) if (first === null || one.dueMs < first.dueMs) first = one;
    return first === null || first.dueMs > nowMs ? null : first;
  };
  const earliest = (all: ReadonlyMap<string, Waiting>): number =>
    Math.min(...[...all.values()].map(({ dueMs }) => dueMs), Infinity);
  const isAtWork = ({ owner }: Pick<Waiting, 'owner'>, nowMs: number): boolean =>
    recent.isAtWork(`${owner.namespace}/${owner.name}`, nowMs);
  const isObserved = (vmId: string, nowMs: number): boolean => recent.hasObserved(vmId, digestOf(vmId), nowMs);
  /** Its run works on the VM, and has not observed it since. */
  const isAwaited = (one: Waiting, nowMs: number): boolean =>
    isAtWork(one, nowMs) &&
    nowMs - one.sinceMs <= longestAtWorkMs &&
    !one.vmIds.every((vmId) => isObserved(vmId, nowMs) || recent.hasObservedSince(vmId, one.latestMs));
  const takeOut = (
    all: Map<string, Waiting>,
    { owner, vmIds, causes, sinceMs }: Waiting,
    isKnown: boolean,
    nowMs: number,
  ): { next: PendingSignal } => {
    all.delete(nameOf(owner));
    if (!isKnown) {
      signalledMs.set(nameOf(owner), nowMs);
      for (const vmId of vmIds) recent.forget(vmId);
    }
    return { next: { owner, vmIds, causes, sinceMs, isObserved: isKnown } };
  };

  return {
    add: ({ owner, vmId, causes }, nowMs) => {
      const key = nameOf(owner);
      const before = fresh.get(key) ?? later.get(key);
      later.delete(key);
      const all = [...new Set([...(before?.causes ?? []), ...causes])];
      const wanted = nowMs + (isAtWork({ owner }, nowMs) || isUnhurried(all) ? limits.atWorkMs : 0);
      const dueMs = Math.max(
        Math.min(before?.dueMs ?? Infinity, wanted),
        (signalledMs.get(key) ?? -Infinity) + limits.distanceMs,
      );
      fresh.set(key, {
        owner,
        vmIds: [...new Set([...(before?.vmIds ?? []), vmId])],
        causes: all,
        sinceMs: before?.sinceMs ?? nowMs,
        latestMs: nowMs,
        dueMs,
      });
      wake();
    },
    addLater: ({ owner, vmId, causes }, nowMs) => {
      const key = nameOf(owner);
      if (!fresh.has(key))
        later.set(key, {
          owner,
          vmIds: [...new Set([...(later.get(key)?.vmIds ?? []), vmId])],
          causes,
          sinceMs: nowMs,
          latestMs: nowMs,
          dueMs: nowMs,
        });
      wake();
    },
    take: (nowMs) => {
      forgetOld(signalledMs, nowMs - limits.distanceMs);
      let now = due(fresh, nowMs);
      for (; now !== null && isAwaited(now, nowMs); now = due(fresh, nowMs)) now.dueMs = nowMs + limits.atWorkMs;
      if (now !== null) {
        const isKnown = now.vmIds.every((vmId) => isObserved(vmId, nowMs));
        const waitMs = isKnown ? 0 : paces.fresh.take(nowMs);
        return waitMs > 0 ? { againMs: waitMs } : takeOut(fresh, now, isKnown, nowMs);
      }
      const old = due(later, nowMs);
      const waitMs = old === null ? Infinity : paces.later.take(nowMs);
      if (old !== null && waitMs === 0) return takeOut(later, old, false, nowMs);
      const againMs = Math.min(earliest(fresh) - nowMs, old === null ? earliest(later) - nowMs : waitMs);
      return { againMs: againMs === Infinity ? null : againMs };
    },
    putBack: ({ owner, vmIds, causes, sinceMs }, dueMs) => {
      const key = nameOf(owner);
      const since = fresh.get(key);
      fresh.set(key, {
        owner,
        vmIds: [...new Set([...vmIds, ...(since?.vmIds ?? [])])],
        causes: [...new Set([...causes, ...(since?.causes ?? [])])],
        sinceMs,
        latestMs: since?.latestMs ?? sinceMs,
        dueMs,
      });
      wake();
    },
    changed: () => added.promise,
    size: () => fresh.size + later.size,
  };
}

/** However much its run has to do. */
const longestAtWorkMs = 10_000;

/** A VM that appears is nearly always being made by its own run. */
const isUnhurried = (causes: readonly string[]): boolean => causes.includes('appeared');

function forgetOld(times: Map<string, number>, untilMs: number): void {
  for (const [key, atMs] of times) if (atMs <= untilMs) times.delete(key);
}

/** A second's worth at once; after that, one each time its share of a second has passed. */
function openPace(perSecond: number): { take(nowMs: number): number } {
  const shareMs = 1_000 / perSecond;
  let nextMs = -Infinity;
  return {
    /** 0: now; else after so many milliseconds. */
    take: (nowMs) => {
      const atMs = Math.max(nextMs, nowMs - 1_000) + shareMs;
      if (atMs > nowMs) return Math.ceil(atMs - nowMs);
      nextMs = atMs;
      return 0;
    },
  };
}
