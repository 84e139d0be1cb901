import type { NodeFailureHostActivities } from '../../contracts/node-failure/activities.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import { type NodeFailureTools, observeNodeFailure } from './observe-node-failure.ts';

/** What the composition root gives to the observation of a host that may have failed. */
export interface NodeFailureHostDependencies extends Omit<NodeFailureTools, 'scope' | 'clock' | 'signalWithStart'> {
  signalWithStart: (hypervisor: string, startedBy: string | null, cause: string) => Promise<void>;
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The activities of a node failure on queue `hosts`. */
export function createNodeFailureHostActivities({
  signalWithStart,
  scope = currentScope,
  clock,
  ...rest
}: NodeFailureHostDependencies): NodeFailureHostActivities {
  const byHand = (hypervisor: string, startedBy: string | null): Promise<void> =>
    signalWithStart(hypervisor, startedBy, 'started by hand');
  return {
    observeNodeFailure: (input) => {
      const tools: NodeFailureTools = { ...rest, signalWithStart: byHand, scope: scope(clock), clock };
      return whileBeating(
        tools,
        () => undefined,
        () => observeNodeFailure(tools, input),
      );
    },
    signalNodeFailure: ({ hypervisor, cause }) => signalWithStart(hypervisor, 'the run of the hypervisor', cause),
  };
}
