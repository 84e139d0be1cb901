import type { NodeFailureRegionActivities } from '../../contracts/node-failure/activities.ts';
import type { PlacementClient } from '../placement/types.ts';
import { awaitEvacuation } from './await-evacuation.ts';
import type { NovaDependencies } from './dependencies.ts';
import { ensureForcedDown } from './ensure-forced-down.ts';
import { listEvacuationCandidates } from './list-evacuation-candidates.ts';
import { currentScope } from '../lib/context.ts';
import { createSharedLook } from './shared-look.ts';
import { startEvacuation } from './start-evacuation.ts';
import { whileBeating } from '../lib/wait.ts';

export interface NodeFailureRegionDependencies extends NovaDependencies {
  placement: PlacementClient;
  /** Whether servers' disks lie on the hosts. */
  localDisks: boolean;
}

/** What the run of a node failure changes in Nova, queue `nova:<region>`. */
export function createNodeFailureRegionActivities(deps: NodeFailureRegionDependencies): NodeFailureRegionActivities {
  const { clock, scope = currentScope } = deps;
  const sharedLook = createSharedLook(deps.nova, clock);
  const tools = () => ({ ...deps, sharedLook, scope: scope(clock) });
  const beating = <Result>(work: (now: ReturnType<typeof tools>) => Promise<Result>): Promise<Result> => {
    const now = tools();
    return whileBeating(
      now,
      () => undefined,
      () => work(now),
    );
  };
  return {
    listEvacuationCandidates: (request) => beating((now) => listEvacuationCandidates(now, deps.localDisks, request)),
    ensureForcedDown: (request) => beating((now) => ensureForcedDown(now, request)),
    // It heartbeats by itself, with what the next attempt has to know.
    startEvacuation: (request) => startEvacuation(tools(), request),
    awaitEvacuation: (request) => awaitEvacuation(tools(), request),
  };
}
