import { waitFor } from '../../lib/wait.ts';
import type { Tools } from './dependencies.ts';

/** A reboot takes minutes. */
const pollMs = 5_000;

/**
 * Waits until a Node is Ready with another boot id. The deadline counts from when the activity was asked for, so that a worker that dies
 * does not lengthen it; a worker's clock that is ahead of Temporal's must not end it at once.
 *
 * @param bootId     null: any will do
 * @param deadlineMs how long to wait
 * @returns false when the Node was not back by then
 */
export async function awaitNodeReturned(
  { client, scope, clock }: Tools,
  node: string,
  bootId: string | null,
  deadlineMs: number,
): Promise<boolean> {
  const untilMs = clock.now() + deadlineMs - scope.waitedMs;
  return await waitFor<boolean>({
    scope,
    clock,
    look: async () => {
      const found = await client.getNode(node, scope.signal);
      if (found !== null && found.ready && found.bootId !== bootId) return { done: true };
      const leftMs = untilMs - clock.now();
      return leftMs <= 0 ? { done: false } : { againMs: Math.min(pollMs, leftMs) };
    },
  });
}
