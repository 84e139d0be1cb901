import type { EvictionObjectActivities } from '../../../contracts/eviction/activities.ts';
import { awaitNodeReturned } from './await-node-returned.ts';
import { awaitStopLifted } from './await-stop-lifted.ts';
import type { EvictionObjectDependencies, Tools } from './dependencies.ts';
import { openEviction } from './open-eviction.ts';
import { publishEviction } from './publish-eviction.ts';
import { currentScope } from '../../lib/context.ts';

/** The activities on queue `kubernetes`. */
export function createEvictionObjectActivities({
  scope = currentScope,
  ...rest
}: EvictionObjectDependencies): EvictionObjectActivities {
  const tools = (): Tools => ({ ...rest, scope: scope(rest.clock) });
  return {
    openEviction: (input, serving) => openEviction(tools(), input, serving),
    publishEviction: (report) => publishEviction(tools(), report),
    awaitStopLifted: () => awaitStopLifted(tools()),
    awaitNodeReturned: (node, bootId, deadlineMs) => awaitNodeReturned(tools(), node, bootId, deadlineMs),
  };
}
