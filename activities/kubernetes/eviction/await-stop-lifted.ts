import { waitFor } from '../../lib/wait.ts';
import type { Tools } from './dependencies.ts';

/** A person lifts it; nobody needs drover to notice within a second. */
const pollMs = 2_000;

/** Waits until no `drover stop` holds for evictions here. */
export async function awaitStopLifted({ scope, clock, findStop }: Tools): Promise<void> {
  await waitFor({
    scope,
    clock,
    look: async () => ((await findStop(scope.signal)) === undefined ? { done: null } : { againMs: pollMs }),
  });
}
