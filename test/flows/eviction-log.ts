import type { Eviction } from '../../contracts/crds/eviction.ts';
import { eventsOf } from '../invariants/objects.ts';
import type { ObjectLog } from './object-log.ts';

/** The Evictions of an {@link ObjectLog}. */
export interface EvictionLog {
  /** By name, as last received; null when deleted or never received. */
  latest(name: string): Eviction | null;
  /**
   * The watch events of the Eviction of that name, in order; of the newest, where there were several one
   * after the other.
   */
  of(name: string): Eviction[];
  /** How many there were, by their uids. */
  count(): number;
}

/** @param log is read at each question: a simulation makes its list anew */
export function evictionsIn(log: Pick<ObjectLog, 'events'>): EvictionLog {
  const all = () => eventsOf({ watchEvents: log.events }, 'Eviction');
  return {
    latest(name) {
      const last = log.events.findLast(({ object }) => object.kind === 'Eviction' && object.metadata.name === name);
      return last === undefined || last.type === 'DELETED' ? null : (last.object as Eviction);
    },
    of(name) {
      const named = all()
        .map(({ object }) => object)
        .filter(({ metadata }) => metadata.name === name);
      const newest = named.at(-1)?.metadata.uid;
      return named.filter(({ metadata }) => metadata.uid === newest);
    },
    count: () => new Set(all().map(({ object }) => object.metadata.uid)).size,
  };
}
