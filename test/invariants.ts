import { labClock } from '../lab/clock.ts';
import { violations } from './invariants/violations.ts';
import type { Observed } from './read-world.ts';
import { readWorld } from './read-world.ts';
import { violationError } from './violation-error.ts';

/** What drover is given to report the last changes. */
const restMs = 60_000;
const pauseMs = 1_000;

/**
 * Checks docs/invariants.md against the world, at the end of a test that changed it. A generation that is not reported
 * yet is waited for.
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
    const isLate = found.some((violation) => !violation.startsWith('invariant 17: '));
    if (isLate || clock.now() > endMs) throw violationError(found);
    await clock.sleep(pauseMs);
  }
}
