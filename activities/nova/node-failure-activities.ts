import type { NodeFailureRegionActivities } from '../../contracts/node-failure/activities.ts';
import { errors } from '../../contracts/errors.ts';
import type { EvacuationCandidate } from '../../contracts/node-failure/fencing.ts';
import { withTimeout } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import type { ImageCalls } from '../glance/images.ts';
import { currentScope, type Execution } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import type { PlacementClient } from '../placement/types.ts';
import { awaitEvacuation } from './await-migration.ts';
import type { NovaDependencies } from './dependencies.ts';
import { ensureForcedDown } from './ensure-service.ts';
import { createSharedRead } from './follow-migration.ts';
import { startEvacuation } from './start-evacuation.ts';
import type { InstanceDetail, ServerGroup } from './types.ts';

export interface NodeFailureRegionDependencies extends NovaDependencies {
  placement: PlacementClient;
  images: ImageCalls;
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
    listEvacuationCandidates: (request) => beating((now) => listEvacuationCandidates(now, request)),
    ensureForcedDown: (request) => beating((now) => ensureForcedDown(now, request)),
    // It heartbeats by itself, with what the next attempt has to know.
    startEvacuation: (request) => startEvacuation(tools(), request),
    awaitEvacuation: (request) => awaitEvacuation(tools(), request),
  };
}

/**
 * The servers of a dead host, with what decides about each. Their owners' metadata stays out of the history but for the
 * keys that are asked for. Disks that are no volumes lie on the hosts (`localDisks`), or on storage that outlives them.
 * Nova does not report the tags of images, so Glance is asked; where that has no answer the servers are listed all the
 * same: an evacuation waits for their disks, not for Glance.
 *
 * @throws HostNotFound, HostAttributeMissing, and what the Nova client throws
 */
async function listEvacuationCandidates(
  tools: ImageTools & Pick<NodeFailureRegionDependencies, 'nova' | 'localDisks'>,
  { host, metadataKeys }: { host: string; metadataKeys: readonly string[] },
): Promise<EvacuationCandidate[]> {
  const { nova, localDisks, scope } = tools;
  const [all, groups] = await Promise.all([nova.servers({ host }, scope.signal), nova.serverGroups(scope.signal)]);
  const servers = all.filter(({ taskState }) => taskState !== 'deleting');
  const tags = await readTags(tools, servers);
  return servers.map((server) => ({
    ...toCandidate(server, groups, localDisks, metadataKeys),
    imageTags: tagsOf(server, tags),
  }));
}

type ImageTools = Pick<NodeFailureRegionDependencies, 'images' | 'clock'> & Execution;

/** A Glance that answers something else for a moment is asked again; one that hangs delays no evacuation. */
const imageAttempts = 3;
const imageRetryMs = 2_000;
const imagesWithinMs = 12_000;

/** Null: Glance has not answered. @throws only the signal's reason */
async function readTags(
  { images, scope, clock }: ImageTools,
  servers: readonly InstanceDetail[],
): Promise<ReadonlyMap<string, readonly string[]> | null> {
  const ids = servers.flatMap(({ imageId }) => (imageId === null ? [] : [imageId]));
  const ask = async (overdue: AbortSignal) => {
    const signal = AbortSignal.any([scope.signal, overdue]);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await images.tagsOf(ids, signal);
      } catch (error) {
        const code = failureCode(error);
        if (attempt === imageAttempts || code === null || !errors[code].retryable) throw error;
        await clock.sleep(imageRetryMs, signal);
      }
    }
  };
  try {
    return await withTimeout(clock, imagesWithinMs, ask);
  } catch (error) {
    scope.signal.throwIfAborted();
    scope.warn(
      `The tags of images could not be read: ${redactedStart(isError(error) ? error.message : String(error), 600)}`,
    );
    return null;
  }
}

/** Pure. */
export function tagsOf(
  { imageId }: Pick<InstanceDetail, 'imageId'>,
  known: ReadonlyMap<string, readonly string[]> | null,
): string[] | null {
  if (imageId === null) return [];
  return known === null ? null : [...(known.get(imageId) ?? [])];
}

/** Pure. */
export function toCandidate(
  server: InstanceDetail,
  groups: readonly ServerGroup[],
  localDisks: boolean,
  metadataKeys: readonly string[],
): Omit<EvacuationCandidate, 'imageTags'> {
  const { id, name, vmState, memoryMiB, localDiskGiB, metadata, imageId } = server;
  return {
    id,
    name,
    vmState,
    memoryMiB,
    localDiskGiB: localDisks ? localDiskGiB : 0,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => metadataKeys.includes(key))),
    imageId,
    serverGroups: groups.filter(({ members }) => members.includes(id)).map((group) => group.id),
  };
}
