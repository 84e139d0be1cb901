import type { EvictionObjectActivities } from '../../../contracts/eviction/activities.ts';
import { contextOf } from '../../lib/context.ts';
import { waitFor } from '../../lib/wait.ts';
import type { EvictionObjectDependencies, Tools } from './dependencies.ts';
import { observeNode, openEviction } from './open-eviction.ts';
import { publishEviction } from './publish-eviction.ts';

/** The activities on queue `kubernetes`. */
export function createEvictionObjectActivities(dependencies: EvictionObjectDependencies): EvictionObjectActivities {
  const tools = (): Tools => contextOf(dependencies);
  return {
    openEviction: (input, serving) => openEviction(tools(), input, serving),
    publishEviction: (report) => publishEviction(tools(), report),
    awaitStopLifted: () => awaitStopLifted(tools()),
    awaitNodeReturned: (node, bootId, deadlineMs) => awaitNodeReturned(tools(), node, bootId, deadlineMs),
  };
}

/** A reboot takes minutes. */
const nodePollMs = 5_000;

/**
 * Waits until a Node is Ready with another boot id. The deadline counts from when the activity was asked for, so that a
 * worker that dies does not lengthen it; a worker's clock that is ahead of Temporal's must not end it at once.
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
    observe: async () => {
      const found = await observeNode(client, node, scope.signal);
      if (found !== null && found.ready && found.bootId !== bootId) return { done: true };
      const leftMs = untilMs - clock.now();
      return leftMs <= 0 ? { done: false } : { againMs: Math.min(nodePollMs, leftMs) };
    },
  });
}

/** A user lifts it, and need not see that within a second. */
const stopPollMs = 2_000;

/** Waits until no `drover stop` holds for evictions here. */
async function awaitStopLifted({ scope, clock, findStop }: Tools): Promise<void> {
  await waitFor({
    scope,
    clock,
    observe: async () => ((await findStop(scope.signal)) === undefined ? { done: null } : { againMs: stopPollMs }),
  });
}
