import type { Migration } from '../../contracts/eviction/instance.ts';
import { type Clock, withTimeout } from '../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';
import { growingDelayMs, waitFor } from '../lib/wait.ts';
import type { Tools } from './dependencies.ts';
import type { ComputeServiceRecord, NovaClient } from './types.ts';

/**
 * The region's hosts and migrations, for planning where there is room. One per worker process, shared
 * by its activities.
 */
export interface RegionView {
  /**
   * {@link targetRoom}, from an observation at most {@link trustedMs} old: it is a plan, and reading the region anew
   * for each start would slow down the very migrations that it is for. That there is none is only returned after a
   * fresh observation, as it makes servers wait.
   */
  room(sourceHost: string, perTarget: number, signal: AbortSignal): Promise<ReturnType<typeof targetRoom>>;
  /** Observes again where the last observation is getting old. For waits, which have time that starts have not. */
  refresh(signal: AbortSignal): Promise<void>;
  /**
   * Holds a place for a migration that is about to be asked for, so that starts at the same moment do not all take the
   * last one. Null: there is none any more. The place is given back by the function returned, when {@link started} has
   * said what came of it.
   */
  claim(sourceHost: string, perTarget: number): (() => void) | null;
  /** A migration that this process has just started: the next start counts it before any observation has it. */
  started(migration: Migration): void;
}

interface Observation {
  /** When it began. */
  atMs: number;
  services: ComputeServiceRecord[];
  inProgress: Migration[];
}

const trustedMs = 15_000;
const agingMs = 8_000;
/** A dozen requests, one after the other: who has less time leaves, and finds the answer when it asks again. */
const readTimeoutMs = 60_000;

/** An observation is a dozen requests and starts come in bursts, so they share what is known. */
export function createRegionView(nova: NovaClient, clock: Clock): RegionView {
  let last: Observation | null = null;
  let coming: Promise<Observation> | null = null;
  let begun: { migration: Migration; atMs: number }[] = [];
  const claims = new Set<symbol>();

  async function observe(signal: AbortSignal): Promise<Observation> {
    const atMs = clock.now();
    const [services, inProgress] = await Promise.all([nova.computeServices(signal), nova.migrationsCopying(signal)]);
    begun = begun.filter((start) => start.atMs >= atMs);
    last = { atMs, services, inProgress };
    return last;
  }

  // A time-out of its own: the activity that asked first may be cancelled while others wait for the same answer.
  const freshObservation = (): Promise<Observation> =>
    (coming ??= withTimeout(clock, readTimeoutMs, observe)
      .catch((error: unknown) => {
        if (failureCode(error) !== null) throw error;
        const within = `${readTimeoutMs / 1_000} s`;
        throw droverFailure('NovaUnavailable', `Nova has not listed the migrations of the region within ${within}`);
      })
      .finally(() => (coming = null)));

  function verdict(
    { services, inProgress }: Observation,
    sourceHost: string,
    perTarget: number,
  ): ReturnType<typeof targetRoom> {
    const listed = new Set(inProgress.map(({ id }) => id));
    const unlisted = begun.map(({ migration }) => migration).filter(({ id }) => !listed.has(id));
    const claimed = Array.from(claims, () => ({ status: 'accepted', targetHost: null }));
    return targetRoom(eligibleTargets(services, sourceHost), [...inProgress, ...unlisted, ...claimed], perTarget);
  }

  return {
    async room(sourceHost, perTarget, signal) {
      if (last !== null && clock.now() - last.atMs < trustedMs && verdict(last, sourceHost, perTarget) === 'room')
        return 'room';
      return verdict(await unlessAborted(freshObservation(), signal), sourceHost, perTarget);
    },
    async refresh(signal) {
      if (last === null || clock.now() - last.atMs >= agingMs) await unlessAborted(freshObservation(), signal);
    },
    claim(sourceHost, perTarget) {
      if (last !== null && verdict(last, sourceHost, perTarget) === 'busy') return null;
      const place = Symbol(sourceHost);
      claims.add(place);
      return () => void claims.delete(place);
    },
    started: (migration) => void begun.push({ migration, atMs: clock.now() }),
  };
}

/** Each observation is a dozen requests, and migrations take seconds at least. */
const leastDelayMs = 1_000;

/**
 * Waits until some target that the scheduler could choose has room; false when none had before the deadline.
 *
 * @param request.deadlineMs from now
 */
export function awaitTargetRoom(
  { scope, clock, region }: Tools & { region: RegionView },
  { sourceHost, perTarget, deadlineMs }: { sourceHost: string; perTarget: number; deadlineMs: number },
): Promise<boolean> {
  const sinceMs = clock.now();
  return waitFor<boolean>({
    scope,
    clock,
    async observe() {
      if ((await region.room(sourceHost, perTarget, scope.signal)) !== 'busy') return { done: true };
      const leftMs = Math.min(sinceMs + deadlineMs, scope.deadlineMs) - clock.now();
      return leftMs <= 0
        ? { done: false }
        : { againMs: Math.min(Math.max(leastDelayMs, growingDelayMs(clock.now() - sinceMs)), leftMs) };
    },
  });
}

/** Compute hosts the scheduler may choose when a server leaves `sourceHost`: enabled and up. */
export const eligibleTargets = (services: readonly ComputeServiceRecord[], sourceHost: string): string[] =>
  services
    .filter(({ host, status, state }) => status === 'enabled' && state === 'up' && host !== sourceHost)
    .map(({ host }) => host);

/**
 * Whether another migration may start. The scheduler chooses the target, so this is a plan, not a lock: there is room
 * while at least one target has fewer than `perTarget` migrations coming in, and all targets together have fewer than
 * `perTarget` times their number. If the scheduler then puts one more on a full target, that drains; nothing is aborted
 * for it (docs/rules.md#allowances).
 *
 * Without any target the answer is `noTargets`, and the caller asks Nova all the same: it refuses in words that
 * help a person.
 *
 * @param inProgress every migration of the region that is not over; who waits for confirmation (`finished`) copies
 * nothing any more
 */
export function targetRoom(
  targets: readonly string[],
  inProgress: readonly Pick<Migration, 'status' | 'targetHost'>[],
  perTarget: number,
): 'room' | 'busy' | 'noTargets' {
  if (targets.length === 0) return 'noTargets';
  const copying = inProgress.filter(({ status }) => status !== 'finished');
  const inbound = new Map(targets.map((target) => [target, 0]));
  // What the scheduler has not placed yet will come in somewhere.
  let unplaced = 0;
  for (const { targetHost } of copying) {
    if (targetHost === null) unplaced += 1;
    else if (inbound.has(targetHost)) inbound.set(targetHost, (inbound.get(targetHost) ?? 0) + 1);
  }
  const counts = [...inbound.values()];
  const total = counts.reduce((sum, count) => sum + count, unplaced);
  return counts.some((count) => count < perTarget) && total < perTarget * targets.length ? 'room' : 'busy';
}
