import type { EvictionObjectActivities } from '../../../contracts/eviction/activities.ts';
import { describeStop } from '../../../runtime/stop.ts';
import { contextOf } from '../../lib/context.ts';
import { lookOnce } from '../../lib/wait.ts';
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
 * Waits until a Node is Ready with another boot id. The deadline counts from when the activity was asked for, by
 * Temporal's clock alone: a worker's may be ahead.
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
  const leftMs = deadlineMs - scope.waitedMs;
  return await lookOnce<boolean>({
    scope,
    clock,
    look: async () => {
      const found = await observeNode(client, node, scope.signal);
      if (found !== null && found.ready && found.bootId !== bootId) return { done: true };
      if (leftMs <= 0) return { done: false };
      return { againMs: Math.min(nodePollMs, leftMs), waitingFor: `Node ${node} to come back` };
    },
  });
}

/** A user lifts it, and need not see that at once; each move that waits for it looks. */
const stopPollMs = 10_000;

/** Waits until no `drover stop` holds for evictions here. */
async function awaitStopLifted({ scope, clock, findStop }: Tools): Promise<void> {
  await lookOnce({
    scope,
    clock,
    look: async () => {
      const stop = await findStop(scope.signal);
      if (stop === undefined) return { done: null };
      return { againMs: stopPollMs, waitingFor: `a stop to be lifted: ${describeStop(stop)}` };
    },
  });
}
