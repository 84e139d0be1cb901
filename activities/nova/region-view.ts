import type { Migration } from '../../contracts/eviction/instance.ts';
import { withTimeout, type Clock } from '../../runtime/clock.ts';
import { eligibleTargets, targetRoom } from './target-room.ts';
import type { ComputeServiceRecord, NovaClient } from './types.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** The region's hosts and migrations, for planning where there is room. One per worker process, shared by its activities. */
export interface RegionView {
  /**
   * {@link targetRoom}, from a look at most {@link trustedMs} old: it is a plan, and reading the region anew for each start would slow down
   * the very migrations that it is for. That there is none is only said after a fresh look, as it makes people wait.
   */
  room(sourceHost: string, perTarget: number, signal: AbortSignal): Promise<ReturnType<typeof targetRoom>>;
  /** Looks again where the last look is getting old. For waits, which have time that starts have not. */
  refresh(signal: AbortSignal): Promise<void>;
  /**
   * Holds a place for a migration that is about to be asked for, so that starts at the same moment do not all take the last one. Null: there
   * is none any more. The place is given back by the function returned, when {@link started} has said what came of it.
   */
  claim(sourceHost: string, perTarget: number): (() => void) | null;
  /** A migration that this process has just started: the next start counts it before any look has shown it. */
  started(migration: Migration): void;
}

interface Look {
  /** When it began. */
  atMs: number;
  services: ComputeServiceRecord[];
  inProgress: Migration[];
}

const trustedMs = 15_000;
const agingMs = 8_000;
const lookTimeoutMs = 10_000;

/** A look is a dozen requests and starts come in bursts, so they share what is known. */
export function createRegionView(nova: NovaClient, clock: Clock): RegionView {
  let last: Look | null = null;
  let coming: Promise<Look> | null = null;
  let begun: { migration: Migration; atMs: number }[] = [];
  const claims = new Set<symbol>();

  async function look(signal: AbortSignal): Promise<Look> {
    const atMs = clock.now();
    const [services, inProgress] = await Promise.all([nova.computeServices(signal), nova.migrationsCopying(signal)]);
    begun = begun.filter((start) => start.atMs >= atMs);
    last = { atMs, services, inProgress };
    return last;
  }

  // A time-out of its own: whoever asked first may be cancelled while others wait for the same answer.
  const freshLook = (): Promise<Look> =>
    (coming ??= withTimeout(clock, lookTimeoutMs, look).finally(() => (coming = null)));

  function verdict(
    { services, inProgress }: Look,
    sourceHost: string,
    perTarget: number,
  ): ReturnType<typeof targetRoom> {
    const seen = new Set(inProgress.map(({ id }) => id));
    const unseen = begun.map(({ migration }) => migration).filter(({ id }) => !seen.has(id));
    const claimed = Array.from(claims, () => ({ status: 'accepted', targetHost: null }));
    return targetRoom(eligibleTargets(services, sourceHost), [...inProgress, ...unseen, ...claimed], perTarget);
  }

  return {
    async room(sourceHost, perTarget, signal) {
      if (last !== null && clock.now() - last.atMs < trustedMs && verdict(last, sourceHost, perTarget) === 'room')
        return 'room';
      return verdict(await unlessAborted(freshLook(), signal), sourceHost, perTarget);
    },
    async refresh(signal) {
      if (last === null || clock.now() - last.atMs >= agingMs) await unlessAborted(freshLook(), signal);
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
