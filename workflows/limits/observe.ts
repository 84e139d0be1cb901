import type { AllowanceObservation } from '../../contracts/allowance.ts';
import { adapt } from './adapt.ts';
import { isOutnumbered, placeAmongAll, tiersOf } from './divide.ts';
import { type HostWindow, observeWindow } from './host-window.ts';
import type { Holder, Ledger } from './ledger.ts';
import {
  accountedFor,
  claimOf,
  holdOf,
  isActive,
  muteAfterMs,
  openSlots,
  soonMs,
  usedElsewhere,
  withHolders,
} from './ledger.ts';

/** Where the world could not be read and nothing says how often to observe it. */
const retryMs = 15_000;

/** An observation takes time: what holders account for while it lasts may be in it or not, so the most of it counts. */
export const beginObservation = (ledger: Ledger): Ledger => ({ ...ledger, covering: accountedFor(ledger.holders) });

/**
 * Applies an observation.
 *
 * @param world        null: it could not be read, and the last observation still counts
 * @param closedRunIds runs that are closed
 */
export function endObservation(
  ledger: Ledger,
  world: AllowanceObservation | null,
  closedRunIds: readonly string[],
  nowMs: number,
): Ledger {
  const observed = world === null ? ledger : applyWorld(ledger, world, nowMs);
  const closed = observed.holders
    .map((holder) => (closedRunIds.includes(holder.runId) ? { ...holder, closed: true } : holder))
    .filter((holder) => !(holder.closed && holdOf(holder) === 0))
    .map((holder) => (isMute(holder, observed.world, nowMs) ? { ...holder, mute: true } : holder));
  const counted = withHolders({ ...observed, covering: null, round: observed.round + 1 }, closed, nowMs);
  if (world === null) return { ...counted, nextObservationMs: nowMs + (counted.world?.checkMs ?? retryMs) };
  const windows = observeWindows(counted);
  const yielding = rotate({ ...counted, windows }, world, nowMs);
  // What is tried is looked at soon: while it waits in vain, it holds slots for nothing.
  const isTried = Object.entries(windows).some(([host, { most }]) => most > (ledger.windows?.[host]?.most ?? Infinity));
  return { ...yielding, nextObservationMs: nowMs + (isTried ? soonMs(world) : world.checkMs) };
}

/**
 * It has not reported for so long that it knows itself that nothing is granted to it any more. Its run may be stuck, or
 * its workers away.
 */
function isMute({ mute, lastRequestMs }: Holder, world: AllowanceObservation | null, nowMs: number): boolean {
  const afterMs = world === null ? null : muteAfterMs(world);
  return mute || (afterMs !== null && lastRequestMs + afterMs <= nowMs);
}

/** What each host of an active holder takes at once, where Nova keeps migrations waiting. */
function observeWindows(ledger: Ledger): Record<string, HostWindow> {
  const { holders, world, windows = {} } = ledger;
  const elsewhere = usedElsewhere(ledger);
  const active = holders.filter(isActive);
  const found = [...new Set(active.map(({ host }) => host))].map((host) => {
    const others = elsewhere[host] ?? 0;
    const window = observeWindow(windows[host] ?? null, {
      queue: world?.queues?.[host],
      inProgress: Math.max(0, (world?.inProgress[host] ?? 0) - others),
      others,
      want: Math.max(...active.filter((holder) => holder.host === host).map(({ want }) => want)),
    });
    return [host, window] as const;
  });
  return Object.fromEntries(found.flatMap(([host, window]) => (window === null ? [] : [[host, window]])));
}

function applyWorld(ledger: Ledger, world: AllowanceObservation, nowMs: number): Ledger {
  if (world.tasks !== undefined) return applyTasks(ledger, world, world.tasks);
  const inProgress = isYoung(ledger, world, nowMs)
    ? { ...world.inProgress, ...lingering(ledger, world) }
    : world.inProgress;
  const close = (holder: Holder): Holder => setObserved(holder, Math.min(holdOf(holder), inProgress[holder.host] ?? 0));
  return {
    ...ledger,
    world: { ...world, inProgress },
    adaptation: adapt(ledger.adaptation ?? null, world),
    covered: ledger.covering ?? ledger.covered,
    holders: ledger.holders.map((holder) => (isActive(holder) ? holder : close(holder))),
  };
}

/**
 * Tasks do not name their run: what is in progress while no run has a slot is foreign, and stays so; anything later may
 * be a holder's.
 */
function applyTasks(ledger: Ledger, world: AllowanceObservation, tasks: readonly string[]): Ledger {
  const covered = ledger.covering ?? ledger.covered;
  const mayBeOurs = Object.values(covered).some((count) => count > 0);
  const foreign = mayBeOurs ? (ledger.foreign ?? []).filter((task) => tasks.includes(task)) : [...tasks];
  const close = (holder: Holder): Holder => {
    // Those that begin later cannot be its own: it counts until all that were in progress have ended.
    const outlivedBy = (holder.outlivedBy ?? tasks).filter((task) => tasks.includes(task) && !foreign.includes(task));
    return { ...setObserved(holder, Math.min(holdOf(holder), outlivedBy.length)), outlivedBy };
  };
  return {
    ...ledger,
    world,
    covered,
    foreign,
    holders: ledger.holders.map((holder) => (holder.closed ? close(holder) : holder)),
  };
}

/**
 * It was known to be closed, or mute, before the observation began, so what that shows of it is the most that
 * can be left.
 */
const setObserved = (holder: Holder, using: number): Holder => ({
  ...holder,
  isObserved: true,
  answers: holder.answers.slice(-1).map(({ sequence }) => ({ sequence, allowance: 0 })),
  allowance: 0,
  using,
});

const isYoung = ({ beganMs }: Ledger, { silentMs }: AllowanceObservation, nowMs: number): boolean =>
  nowMs < beganMs + silentMs;

/**
 * While some consumers of an earlier ledger may not have reported yet, a slot that a stranger's host released may be
 * taken again by it at once: it stays counted.
 */
function lingering({ world: before, holders }: Ledger, world: AllowanceObservation): Record<string, number> {
  const ours = new Set(holders.map(({ host }) => host));
  const strangers = Object.entries(before?.inProgress ?? {}).filter(
    ([host, count]) => !ours.has(host) && count > (world.inProgress[host] ?? 0),
  );
  return Object.fromEntries(strangers);
}

/**
 * Where the consumers of a class outnumber its slots, as many of those that have had a slot yield as wait for one and
 * cannot expect it from one that yielded before. A holder that yields finishes what it has begun.
 */
function rotate(ledger: Ledger, world: AllowanceObservation, nowMs: number): Ledger {
  // A task that has begun goes on to its end, and then its holder leaves: none can yield.
  if (world.tasks !== undefined) return ledger;
  const open = ledger.holders.filter(isActive);
  const claims = open.map((holder) => claimOf(ledger, holder, nowMs));
  const place = (holder: Holder): number => placeAmongAll(claims[open.indexOf(holder)]!);
  const yielding = new Set<Holder>();
  for (const tier of tiersOf(openSlots(ledger), claims).filter(isOutnumbered)) {
    const members = tier.indexes.map((index) => open[index]!);
    const waiting = members.filter((holder) => holder.allowance === 0 && holdOf(holder) === 0);
    const draining = members.filter((holder) => holder.allowance === 0 && holdOf(holder) > 0);
    const served = members
      .filter((holder) => hasHadSlot(holder, world, nowMs))
      .toSorted((a, b) => place(a) - place(b) || a.sinceMs - b.sinceMs);
    for (const holder of served.slice(0, Math.max(0, waiting.length - draining.length))) yielding.add(holder);
  }
  return {
    ...ledger,
    holders: ledger.holders.map((holder) => (yielding.has(holder) ? { ...holder, place: ledger.round } : holder)),
  };
}

/** It has begun something, or had the time for it: an answer that is still on its way is no slot. */
function hasHadSlot(
  { allowance, sinceMs, host }: Holder,
  { checkMs, silentMs, inProgress }: AllowanceObservation,
  nowMs: number,
): boolean {
  return allowance > 0 && sinceMs + ((inProgress[host] ?? 0) > 0 ? checkMs : silentMs) <= nowMs;
}
