import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import { evictingReasons, evictionConditions } from '../../contracts/eviction/conditions.ts';
import type { EvictionObject } from '../eviction/eviction-objects.ts';
import type { HypervisorObject } from '../hypervisor/hypervisor-objects.ts';
import { isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';

/** What `drover retry HOST` means. */
export interface Retry {
  /** Its Eviction: a run that waits observes at once, one that failed or was stopped starts again. */
  eviction: boolean;
  /** Its Hypervisor. `again`: what was given up begins again. `now`: what waits observes at once. */
  hypervisor: 'again' | 'now' | null;
  /** What a person might have meant as well, and why it is left; null: nothing. */
  left: string | null;
}

/**
 * Decides whether the Eviction of a host, its Hypervisor, or both are tried again. Pure.
 *
 * @param isRunning a run empties the host now
 * @param eviction of the host: the one that asks for something, else the last; null: none, or it cannot be read
 * @param hypervisor null: none, or it cannot be read
 */
export function decideRetry(
  isRunning: boolean,
  eviction: EvictionObject | null,
  hypervisor: HypervisorObject | null,
): Retry {
  const stuck = howStuck(hypervisor);
  const isOpen = isRunning || (eviction !== null && !eviction.reconciled);
  // An Eviction that is under way or failed is what the Hypervisor waits for: it goes on with that by itself.
  const waitsForEviction =
    stuck?.lifecycle.reason === 'Evicting' && (isOpen || (eviction !== null && !isOver(eviction)));
  if (stuck === null || waitsForEviction) return { eviction: true, hypervisor: null, left: null };
  // On its way, it may wait for the Eviction or for anything else: observing once more does no harm.
  if (isOpen) return { eviction: true, hypervisor: stuck.how, left: null };
  if (eviction === null || isOver(eviction)) return { eviction: false, hypervisor: stuck.how, left: null };
  if (endedAtMs(eviction) > Date.parse(stuck.lifecycle.lastTransitionTime))
    return { eviction: true, hypervisor: stuck.how, left: null };
  return {
    eviction: false,
    hypervisor: stuck.how,
    left: `Eviction ${eviction.name} had ended before that, so it is left as it is; \`drover evict\` empties the host.`,
  };
}

/** Null: it is where it should be, or drover has never driven it. */
function howStuck(hypervisor: HypervisorObject | null): { how: 'again' | 'now'; lifecycle: Condition } | null {
  const lifecycle = hypervisor === null ? undefined : lifecycleOf(hypervisor);
  if (hypervisor === null || lifecycle === undefined) return null;
  // Its lifecycle was never enabled.
  if (!hypervisor.lifecycleEnabled && lifecycle.reason === 'Initial') return null;
  if (!isCurrent(hypervisor) || lifecycle.status === 'Unknown') return { how: 'now', lifecycle };
  return lifecycle.status === 'False' ? { how: 'again', lifecycle } : null;
}

const evictingOf = ({ conditions }: EvictionObject): Condition | undefined =>
  findCondition(conditions, evictionConditions.evicting);

/** It has done what it was made for. */
const isOver = (eviction: EvictionObject): boolean =>
  eviction.reconciled && evictingOf(eviction)?.reason === evictingReasons.succeeded;

const endedAtMs = (eviction: EvictionObject): number =>
  Date.parse(evictingOf(eviction)?.lastTransitionTime ?? eviction.createdAt);
