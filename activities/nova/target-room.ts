import type { Migration } from '../../contracts/eviction/instance.ts';
import type { ComputeServiceRecord } from './types.ts';

/** Compute hosts the scheduler may choose when a server leaves `sourceHost`: enabled and up. */
export const eligibleTargets = (services: readonly ComputeServiceRecord[], sourceHost: string): string[] =>
  services
    .filter(({ host, status, state }) => status === 'enabled' && state === 'up' && host !== sourceHost)
    .map(({ host }) => host);

/**
 * Whether another migration may start. The scheduler chooses the target, so this is a plan, not a lock: there is room while at least one
 * target has fewer than `perTarget` migrations coming in, and all targets together have fewer than `perTarget` times their number. If the
 * scheduler then puts one more on a full target, that drains; nothing is aborted for it (design section 5, "Limits across runs").
 *
 * Without any target the answer is `noTargets`, and the caller asks Nova all the same: it refuses in words that help a person.
 *
 * @param inProgress every migration of the region that is not over; who waits for confirmation (`finished`) copies nothing any more
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
