import type { Tools } from './dependencies.ts';
import type { RegionView } from './region-view.ts';
import { settlingDelayMs, waitFor } from '../lib/wait.ts';

/** Each look is a dozen requests, and migrations take seconds at least. */
const leastDelayMs = 1_000;

/**
 * Waits until some target that the scheduler could choose has room; false when none had before the deadline.
 *
 * @param request.deadlineMs from now
 */
export function awaitTargetRoom(
  { scope, clock, region }: Tools & { region: RegionView },
  { sourceHost, perTarget, deadlineMs }: { sourceHost: string; perTarget: number; deadlineMs: number },
): Promise<boolean> {
  const sinceMs = clock.now();
  return waitFor<boolean>({
    scope,
    clock,
    async look() {
      if ((await region.room(sourceHost, perTarget, scope.signal)) !== 'busy') return { done: true };
      const leftMs = Math.min(sinceMs + deadlineMs, scope.deadlineMs) - clock.now();
      return leftMs <= 0
        ? { done: false }
        : { againMs: Math.min(Math.max(leastDelayMs, settlingDelayMs(clock.now() - sinceMs)), leftMs) };
    },
  });
}
