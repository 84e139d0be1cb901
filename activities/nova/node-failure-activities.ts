import type { NodeFailureRegionActivities } from '../../contracts/node-failure/activities.ts';
import type { EvacuationCandidate } from '../../contracts/node-failure/fencing.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import type { PlacementClient } from '../placement/types.ts';
import { awaitEvacuation } from './await-migration.ts';
import type { NovaDependencies, Tools } from './dependencies.ts';
import { ensureForcedDown } from './ensure-service.ts';
import { createSharedRead } from './follow-migration.ts';
import { startEvacuation } from './start-evacuation.ts';
import type { InstanceDetail, ServerGroup } from './types.ts';

export interface NodeFailureRegionDependencies extends NovaDependencies {
  placement: PlacementClient;
  /** Whether servers' disks lie on the hosts. */
  localDisks: boolean;
}

/** What the run of a node failure changes in Nova, queue `nova:<region>`. */
export function createNodeFailureRegionActivities(deps: NodeFailureRegionDependencies): NodeFailureRegionActivities {
  const { clock, scope = currentScope } = deps;
  const sharedRead = createSharedRead(deps.nova, clock);
  const tools = () => ({ ...deps, sharedRead, scope: scope(clock) });
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

/**
 * The servers of a dead host, with what decides about each. Their owners' metadata stays out of the history but for the keys that are
 * asked for. Nova does not report the tags of images, so none are known here.
 *
 * @param localDisks whether the disks that are no volumes lie on the hosts; else they are on storage that outlives the host
 * @throws HostNotFound, HostAttributeMissing, and what the Nova client throws
 */
async function listEvacuationCandidates(
  { nova, scope }: Pick<Tools, 'nova' | 'scope'>,
  localDisks: boolean,
  { host, metadataKeys }: { host: string; metadataKeys: readonly string[] },
): Promise<EvacuationCandidate[]> {
  const [servers, groups] = await Promise.all([nova.servers({ host }, scope.signal), nova.serverGroups(scope.signal)]);
  return servers
    .filter(({ taskState }) => taskState !== 'deleting')
    .map((server) => toCandidate(server, groups, localDisks, metadataKeys));
}

/** Pure. */
export function toCandidate(
  server: InstanceDetail,
  groups: readonly ServerGroup[],
  localDisks: boolean,
  metadataKeys: readonly string[],
): EvacuationCandidate {
  const { id, name, vmState, memoryMiB, localDiskGiB, metadata, imageId } = server;
  return {
    id,
    name,
    vmState,
    memoryMiB,
    localDiskGiB: localDisks ? localDiskGiB : 0,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => metadataKeys.includes(key))),
    imageId,
    imageTags: [],
    serverGroups: groups.filter(({ members }) => members.includes(id)).map((group) => group.id),
  };
}
