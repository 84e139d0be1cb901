import type { Execution } from '../../lib/context.ts';
import { type Poll, waitFor } from '../../lib/wait.ts';

const firstDelayMs = 100;
const longestDelayMs = 2_000;
const growth = 1.5;

/**
 * Looks until it is over, or `patienceMs` have passed, and heartbeats meanwhile.
 *
 * @returns what was seen last
 */
export async function awaitFact<Fact>(
  { scope, clock }: Execution,
  patienceMs: number,
  look: () => Promise<Fact>,
  isOver: (fact: Fact) => boolean,
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
      const againMs = Math.min(delayMs, leftMs);
      delayMs = Math.min(delayMs * growth, longestDelayMs);
      return { againMs };
    },
  });
}
