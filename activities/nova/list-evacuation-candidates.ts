import type { EvacuationCandidate } from '../../contracts/node-failure/fencing.ts';
import type { Tools } from './dependencies.ts';
import type { InstanceDetail, ServerGroup } from './types.ts';

/**
 * The servers of a dead host, with what decides about each. Their owners' metadata stays out of the history but for the keys that are
 * asked for. Nova does not tell the tags of images, so none are known here.
 *
 * @param localDisks whether the disks that are no volumes lie on the hosts; else they are on storage that outlives the host
 * @throws HostNotFound, HostAttributeMissing, and what the Nova client throws
 */
export async function listEvacuationCandidates(
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
