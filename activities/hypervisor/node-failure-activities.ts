import type { NodeFailureHostActivities } from '../../contracts/node-failure/activities.ts';
import type { Clock } from '../../runtime/clock.ts';
import { nodes } from '../kubernetes/hypervisor/node-schema.ts';
import { shareReads } from '../kubernetes/lib/share-reads.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import { type NodeFailureTools, observeNodeFailure } from './observe-node-failure.ts';

/** What the composition root gives to the observation of a host that may have failed. */
export interface NodeFailureHostDependencies extends Omit<NodeFailureTools, 'scope' | 'clock' | 'signalWithStart'> {
  signalWithStart: (hypervisor: string, startedBy: string | null, cause: string) => Promise<void>;
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/**
 * Between two lists of all Nodes: where a rack has failed, hundreds of hosts are observed every half minute, and each of
 * them beside the whole fleet. What is waited for it comes on top of every step of a fencing.
 */
const nodesSpacingMs = 500;

/** The activities of a node failure on queue `hosts`. */
export function createNodeFailureHostActivities({
  signalWithStart,
  scope = currentScope,
  clock,
  ...rest
}: NodeFailureHostDependencies): NodeFailureHostActivities {
  const client = shareReads(rest.client, clock, [nodes], nodesSpacingMs);
  const byHand = (hypervisor: string, startedBy: string | null): Promise<void> =>
    signalWithStart(hypervisor, startedBy, 'started by hand');
  return {
    observeNodeFailure: (input) => {
      const tools: NodeFailureTools = { ...rest, client, signalWithStart: byHand, scope: scope(clock), clock };
      return whileBeating(
        tools,
        () => undefined,
        () => observeNodeFailure(tools, input),
      );
    },
    signalNodeFailure: ({ hypervisor, cause }) => signalWithStart(hypervisor, 'the run of the hypervisor', cause),
  };
}
