import { labClock } from '../lab/clock.ts';
import { violations } from './invariants/violations.ts';
import type { Observed } from './read-world.ts';
import { readWorld } from './read-world.ts';
import { violationError } from './violation-error.ts';

/** What drover is given to report the last changes. */
const restMs = 60_000;
const pauseMs = 1_000;

/**
 * What a run writes last: that a generation is reported; after the status that says Reconciled, that a VM is being made
 * no more; and after the result of an Eviction, that drover holds it no more.
 */
const isWrittenLast = (violation: string): boolean =>
  /^invariant 17: |^invariant 13: .* still notes that |^invariant 6: .* still carries /u.test(violation);

/**
 * Checks docs/invariants.md against the world, at the end of a test that changed it. What a run
 * writes last is waited for.
 *
 * @param hosts the source hosts of this test, where others run beside it; default: all
 * @throws with every violation, its object and its evidence
 */
export async function checkInvariants(world: Observed, hosts: readonly string[] | null = null): Promise<void> {
  const clock = labClock();
  const endMs = clock.now() + restMs;
  for (;;) {
    const found = violations((await world.readSnapshot?.(hosts)) ?? (await readWorld(world, hosts)));
    if (found.length === 0) return;
    if (!found.every(isWrittenLast) || clock.now() > endMs) throw violationError(found);
    await clock.sleep(pauseMs);
  }
}
