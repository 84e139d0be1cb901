import { volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import {
  type Snapshot,
  type SnapshotContent,
  storageResources,
} from '../../../runtime/kubernetes/storage-resources.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { timeMs } from './volume-facts.ts';
import { deleteObject, identityOf, patchObject, versionOf } from './write-object.ts';

/**
 * Who needs a snapshot that drover made is written on it, and the last one deletes it: one that joins meanwhile makes
 * the delete conflict.
 */

export const userKey = (volumeUid: string): string => `${volumeAnnotations.snapshotUser}${volumeUid}`;

/** DataVolumes by uid. */
export const usersOf = ({ metadata: { annotations = {} } }: Pick<Snapshot, 'metadata'>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(annotations)
      .filter(([key]) => key.startsWith(volumeAnnotations.snapshotUser))
      .map(([key, name]) => [key.slice(volumeAnnotations.snapshotUser.length), name]),
  );

export const isDeleting = ({ metadata }: Snapshot): boolean => metadata.deletionTimestamp !== undefined;
export const cutOf = ({ status }: Snapshot): number | null => timeMs(status?.creationTime);

/** Pods may have used its source when it was cut. */
export const isCrashConsistent = ({ metadata: { annotations } }: Snapshot): boolean =>
  annotations?.[volumeAnnotations.crashConsistent] === 'true';

/** DataVolumes that were there when the snapshot was asked for: whatever the clocks say, it was cut after they were. */
const askedBefore = ({ metadata: { annotations } }: Snapshot): readonly string[] =>
  annotations?.[volumeAnnotations.askedBefore]?.split(',') ?? [];

/** It holds the source as it was after the DataVolume was asked for. Both times are whole seconds, rounded down. */
export function isRecentEnough(snapshot: Snapshot, { uid, createdMs }: { uid: string; createdMs: number }): boolean {
  const cutMs = cutOf(snapshot);
  return cutMs === null || cutMs > createdMs || askedBefore(snapshot).includes(uid);
}

/** Those that drover made. @param sourceUid left out: of any source */
export const listSnapshots = (
  { client, scope }: VolumeTools,
  { namespace, sourceUid }: { namespace?: string; sourceUid?: string },
): Promise<Snapshot[]> =>
  client.listValid(
    storageResources.VolumeSnapshot,
    {
      namespace,
      labelSelector: sourceUid === undefined ? volumeLabels.snapshotOf : `${volumeLabels.snapshotOf}=${sourceUid}`,
    },
    scope.signal,
  );

/** The one that the DataVolume is to be made from. */
export async function findSnapshotFor(
  tools: VolumeTools,
  of: OfVolume & { createdMs: number },
  { namespace, sourceUid }: { namespace: string; sourceUid: string | null },
): Promise<Snapshot | null> {
  const shared = await listSnapshots(tools, { namespace, ...(sourceUid !== null && { sourceUid }) });
  const mine = shared.filter((one) => usersOf(one).has(of.uid) && isRecentEnough(one, of));
  return mine.find((one) => !isDeleting(one)) ?? mine[0] ?? null;
}

/**
 * With so few others it is seen of all whether they are still there: each that leaves asks about all that stay. Of more
 * one after the other is asked about until one is there: it leaves later.
 */
const fewUsers = 5;

async function isGone({ client, scope }: VolumeTools, uid: string, fullName: string): Promise<boolean> {
  const [namespace = '', name = ''] = fullName.split('/');
  if (namespace === '' || name === '') return true;
  const found = await client.get(resources.DataVolume, { namespace, name }, scope.signal);
  return found?.metadata.uid !== uid;
}

/** Users other than `volumeUid` that are gone: all, where all are. */
async function goneUsers(tools: VolumeTools, snapshot: Snapshot, volumeUid: string): Promise<string[]> {
  const others = [...usersOf(snapshot)].filter(([uid]) => uid !== volumeUid);
  const last = others.splice(-fewUsers);
  for (const [index, [uid, name]] of others.entries())
    if (!(await isGone(tools, uid, name))) return others.slice(0, index).map(([before]) => before);
  const gone = await Promise.all(last.map(([uid, name]) => isGone(tools, uid, name)));
  return [...others, ...last.filter((_, index) => gone[index])].map(([uid]) => uid);
}

/** A snapshot that is going, with what the driver holds of it; null: nothing, or nothing yet. */
export interface GoingSnapshot {
  snapshot: Snapshot;
  content: SnapshotContent | null;
}

/**
 * Takes the DataVolume off every snapshot, and deletes those that none needs any more.
 *
 * @param namespace undefined: in all
 */
export async function leaveSnapshots(
  tools: VolumeTools,
  of: OfVolume,
  namespace: string | undefined,
): Promise<GoingSnapshot[]> {
  const all = await listSnapshots(tools, { ...(namespace !== undefined && { namespace }) });
  // One that none needs was left by an activity that died before it could delete it.
  const concerned = all.filter((one) => usersOf(one).has(of.uid) || (usersOf(one).size === 0 && !isDeleting(one)));
  const going: GoingSnapshot[] = [];
  for (const one of concerned) {
    const left = await leaveSnapshot(tools, of, one);
    if (left !== null) going.push(left);
  }
  return going;
}

/** Takes the DataVolume off one; the last stays on it until it is gone. @returns null: others need it, or it is gone */
export const leaveSnapshot = (tools: VolumeTools, of: OfVolume, snapshot: Snapshot): Promise<GoingSnapshot | null> => {
  const { metadata } = snapshot;
  let known: Snapshot | null = snapshot;
  return retryConflicts(async () => {
    known ??= await tools.client.get(storageResources.VolumeSnapshot, metadata, tools.scope.signal);
    if (known?.metadata.uid !== metadata.uid) return null;
    const gone = await goneUsers(tools, known, of.uid);
    const isLast = [...usersOf(known).keys()].every((uid) => uid === of.uid || gone.includes(uid));
    const now: Snapshot | null = isLast ? known : await takeOff(tools, of, known, gone);
    known = null;
    if (now === null || (!isLast && usersOf(now).size > 0)) return null;
    const content = await letContentGo(tools, now);
    if (!isDeleting(now) && !mayBeLost(content, tools.clock.now()))
      await deleteObject(tools, storageResources.VolumeSnapshot, now, 'no clone needs it any more');
    return { snapshot: now, content };
  });
};

const contentFinalizer = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
/** snapshot-controller gives its finalizer to a content a moment after it has made it. */
const unprotectedMs = 60_000;

/** Until then it goes from Kubernetes without going from the driver, which may have cut the snapshot already. */
const mayBeLost = (content: SnapshotContent | null, nowMs: number): boolean =>
  content !== null &&
  !content.metadata.finalizers?.includes(contentFinalizer) &&
  nowMs - Date.parse(content.metadata.creationTimestamp) < unprotectedMs;

/** A class may keep the snapshots of its users at the driver; those of drover's go. */
async function letContentGo(tools: VolumeTools, { metadata, status }: Snapshot): Promise<SnapshotContent | null> {
  const name = status?.boundVolumeSnapshotContentName || `snapcontent-${metadata.uid}`;
  const contents = storageResources.VolumeSnapshotContent;
  const content = await tools.client.get(contents, { name }, tools.scope.signal);
  if (content?.spec.volumeSnapshotRef.uid !== metadata.uid) return null;
  const { deletionPolicy } = content.spec;
  if (deletionPolicy === 'Delete') return content;
  return await patchObject(tools, contents, versionOf(content.metadata), {
    change: { spec: { deletionPolicy: 'Delete' } },
    before: deletionPolicy,
    cause: 'no clone needs it any more',
  });
}

/** @returns the snapshot then; null: it is gone */
async function takeOff(
  tools: VolumeTools,
  of: OfVolume,
  snapshot: Snapshot,
  gone: readonly string[],
): Promise<Snapshot | null> {
  const off = [...(usersOf(snapshot).has(of.uid) ? [of.uid] : []), ...gone];
  if (off.length === 0) return snapshot;
  try {
    // Whatever its version: the answer says who is left, and so the last DataVolume sees that it is the last.
    return await patchObject(tools, storageResources.VolumeSnapshot, identityOf(snapshot.metadata), {
      change: { metadata: { annotations: Object.fromEntries(off.map((uid) => [userKey(uid), null])) } },
      cause: 'the clone does not need it any more',
    });
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
    return null;
  }
}
