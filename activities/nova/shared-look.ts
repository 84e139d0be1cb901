import type { Migration } from '../../contracts/eviction/instance.ts';
import { withTimeout, type Clock } from '../../runtime/clock.ts';
import type { NovaClient } from './types.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** The latest record of a migration that was read before, without counters; null when Nova has it no more. */
export type SharedLook = (known: Migration, signal: AbortSignal) => Promise<Migration | null>;

/** Waits wake on a common grid, so those that are due ask within this time of each other. */
const gatherMs = 5;
const lookTimeoutMs = 10_000;

/** Nova's services need not agree on the time to the second. */
const clockMarginMs = 60_000;

/**
 * One request for all waits that are due at the same moment, instead of one each: what Nova has written since the oldest of theirs was
 * made. Whoever is not in that answer (nothing was written since, or its record is gone) asks for itself, so the answer is never a guess.
 */
export function createSharedLook(nova: NovaClient, clock: Clock): SharedLook {
  let gathering: { known: Migration[]; answer: Promise<Migration[]> } | null = null;

  function join(migration: Migration): Promise<Migration[]> {
    if (gathering !== null) {
      gathering.known.push(migration);
      return gathering.answer;
    }
    const known = [migration];
    // A time-out of its own: whoever asked first may be cancelled while others wait for the same answer.
    gathering = { known, answer: withTimeout(clock, lookTimeoutMs, (signal) => ask(known, signal)) };
    return gathering.answer;
  }

  async function ask(known: readonly Migration[], signal: AbortSignal): Promise<Migration[]> {
    await clock.sleep(gatherMs, signal);
    gathering = null;
    if (known.length === 1) return [];
    const oldestMs = Math.min(...known.map(({ createdAt }) => Date.parse(createdAt)));
    return nova.migrationsChangedSince(new Date(oldestMs - clockMarginMs).toISOString(), signal);
  }

  return async (known, signal) => {
    const changed = await unlessAborted(join(known), signal);
    return changed.find(({ id }) => id === known.id) ?? nova.migration(known.instanceId, known.id, signal);
  };
}
