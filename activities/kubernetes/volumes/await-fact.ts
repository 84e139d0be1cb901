import type { ObjectVersion, Resource } from '../../../runtime/kubernetes/objects.ts';
import { type Poll, waitFor } from '../../lib/wait.ts';
import type { VolumeTools } from './dependencies.ts';

const firstDelayMs = 100;
/** What is watched is looked at again only for what its watch does not tell: what Events say of it. */
const firstWatchedDelayMs = 1_000;
/** Changes come in bursts, and a watch may end at once. */
const leastDelayMs = 100;
const longestDelayMs = 2_000;
const growth = 1.5;

export interface Awaiting<Fact> {
  /** From now; where they have passed, what was seen last counts. */
  patienceMs: number;
  look: () => Promise<Fact>;
  isOver: (fact: Fact) => boolean;
  /** The object whose next version may be what is awaited; null: not there yet. */
  watched?: (fact: Fact) => { resource: Resource; version: ObjectVersion } | null;
}

/**
 * Looks until it is over, and heartbeats meanwhile.
 *
 * @returns what was seen last
 */
export async function awaitFact<Fact>(
  { scope, clock, client }: Pick<VolumeTools, 'scope' | 'clock' | 'client'>,
  { patienceMs, look, isOver, watched = () => null }: Awaiting<Fact>,
): Promise<Fact> {
  const untilMs = Math.min(clock.now() + patienceMs, scope.deadlineMs);
  let delayMs = firstDelayMs;
  return await waitFor<Fact>({
    scope,
    clock,
    observe: async (): Promise<Poll<Fact>> => {
      const fact = await look();
      const leftMs = untilMs - clock.now();
      if (isOver(fact) || leftMs <= 0) return { done: fact };
      const object = watched(fact);
      if (object !== null) delayMs = Math.max(delayMs, firstWatchedDelayMs);
      const againMs = Math.min(delayMs, leftMs);
      delayMs = Math.min(delayMs * growth, longestDelayMs);
      if (object === null) return { againMs };
      const changed = async (signal: AbortSignal): Promise<void> => {
        const pause = clock.sleep(Math.min(leastDelayMs, againMs), signal);
        await Promise.all([client.changed(object.resource, object.version, signal), pause]);
      };
      return { againMs, changed };
    },
  });
}
