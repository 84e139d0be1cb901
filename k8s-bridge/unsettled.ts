import type { Facts } from './facts.ts';

/** Since when objects have not been settled. */
export interface UnsettledClock {
  /** Takes in what there is now. Returns for each object that is not settled since when, in milliseconds since the epoch. */
  look(objects: Iterable<Pick<Facts, 'uid' | 'settled' | 'changedMs'>>, nowMs: number): Map<string, number>;
}

/**
 * An object that is found unsettled at the first look has been so since it last changed as far as it says itself; later ones since the look
 * that found them so.
 */
export function createUnsettledClock(): UnsettledClock {
  /** By uid; null: settled. */
  let known = new Map<string, number | null>();
  return {
    look(objects, nowMs) {
      const now = new Map<string, number | null>();
      for (const { uid, settled, changedMs } of objects) {
        const before = known.get(uid);
        now.set(uid, settled ? null : (before ?? (before === undefined ? Math.min(changedMs, nowMs) : nowMs)));
      }
      known = now;
      return new Map([...now].filter((entry): entry is [string, number] => entry[1] !== null));
    },
  };
}
