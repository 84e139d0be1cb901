import type { Observed } from './read-world.ts';
import { readWorld } from './read-world.ts';
import { violations } from './violations.ts';

/**
 * Checks docs/invariants.md against the world, at the end of a test that changed it.
 *
 * @param hosts the source hosts of this test, where others run beside it; default: all
 * @throws with every violation, its object and its evidence
 */
export async function checkInvariants(world: Observed, hosts: readonly string[] | null = null): Promise<void> {
  const found = violations(await readWorld(world, hosts));
  if (found.length > 0) throw new Error(`${found.length} violated:\n${found.join('\n')}`);
}
