import type { ClaimFacts, JobFacts, SnapshotFacts, TransferFacts } from '../../../contracts/data-volume/data-volume.ts';
import type { ObjectTransfer } from '../../../contracts/crds/object-transfer.ts';
import { volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { quantityOf } from '../../../contracts/quantity.ts';
import type { Claim, Job, Pod, Snapshot, SnapshotContent } from '../../../runtime/kubernetes/storage-resources.ts';

/** What decisions are made on, of the objects as they are read. Pure. */

const bytesOf = (quantity: string | number | null | undefined): number | null =>
  quantity === null || quantity === undefined ? null : quantityOf(quantity);

export const requestBytesOf = (claim: Claim): number => bytesOf(claim.spec.resources?.requests?.storage) ?? 0;

/** Null: it is not bound. */
export const capacityBytesOf = ({ status }: Claim): number | null =>
  status?.phase === 'Bound' ? bytesOf(status.capacity?.storage) : null;

const isTrue = ({ status }: Claim, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status === 'True') ?? false;

/** Its DataVolume made it, for itself or on the way to itself. */
export const isMadeFor = ({ metadata: { annotations, labels } }: Pick<Claim, 'metadata'>, volumeUid: string): boolean =>
  annotations?.[volumeAnnotations.createdForDataVolume] === volumeUid ||
  labels?.[volumeLabels.temporaryFor] === volumeUid;

export function ownerOf({ metadata }: Pick<Claim, 'metadata'>, volumeUid: string): ClaimFacts['owner'] {
  const { ownerReferences: owners = [] } = metadata;
  const controller = owners.find((one) => one.controller === true);
  if (controller?.uid === volumeUid) return 'volume';
  // A claim has its DataVolume's name, and two objects of a name are never there at once. Another owner may still be.
  const isOfItsName = controller?.kind === 'DataVolume' && controller.name === metadata.name;
  if (isOfItsName && owners.length === 1) return 'predecessor';
  if (controller !== undefined) return 'other';
  return isMadeFor({ metadata }, volumeUid) ? 'volume' : 'none';
}

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false };

/** @param problem of its provisioner or resizer */
export function claimFacts(claim: Claim, volumeUid: string, problem: string | null): ClaimFacts {
  const { metadata, spec, status } = claim;
  const { annotations = {} } = metadata;
  const depth = Number(annotations[volumeAnnotations.cloneDepth] ?? 0);
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    deleting: metadata.deletionTimestamp !== undefined,
    phase: status?.phase ?? 'Pending',
    volume: spec.volumeName || null,
    storageClass: spec.storageClassName || null,
    requestBytes: requestBytesOf(claim),
    capacityBytes: capacityBytesOf(claim),
    volumeMode: spec.volumeMode ?? 'Filesystem',
    accessModes: spec.accessModes ?? [],
    contentType: annotations[volumeAnnotations.contentType] || 'kubevirt',
    owner: ownerOf(claim, volumeUid),
    populatedFor: annotations[volumeAnnotations.populatedFor] ?? null,
    allowsAdoption: booleans[annotations[volumeAnnotations.allowClaimAdoption] ?? ''] ?? null,
    isCloned: annotations[volumeAnnotations.cloneOf] === 'true',
    hasNode: Boolean(annotations[volumeAnnotations.selectedNode]),
    waitsForFileSystem: isTrue(claim, 'FileSystemResizePending'),
    problem,
    cloneDepth: Number.isSafeInteger(depth) && depth > 0 ? depth : 0,
  };
}

export const timeMs = (time: string | null | undefined): number | null => {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? null : ms;
};

/** @param content null: not read, or not there yet */
export function snapshotFacts(
  { metadata, status }: Snapshot,
  content: Pick<SnapshotContent, 'spec'> | null,
): SnapshotFacts {
  const isReady = status?.readyToUse === true;
  const message = status?.error === null || status?.error === undefined ? null : status.error.message || 'no message';
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    deleting: metadata.deletionTimestamp !== undefined,
    isReady,
    // What was said before it became ready is over.
    error: isReady ? null : message,
    cutMs: timeMs(status?.creationTime),
    restoreSizeBytes: bytesOf(status?.restoreSize),
    driver: content?.spec.driver ?? null,
    sourceVolumeMode: content?.spec.sourceVolumeMode ?? null,
  };
}

export function jobFacts({ metadata, status }: Job): JobFacts {
  const { ready, succeeded, failed: failures, terminating } = status ?? {};
  const claimUid = metadata.annotations?.[volumeAnnotations.copiesInto];
  const known = {
    ...(claimUid !== undefined && { claimUid }),
    hasBegun: [ready, succeeded, failures, terminating].some((count) => (count ?? 0) > 0),
  };
  const holds = (...types: string[]) =>
    status?.conditions?.find((one) => types.includes(one.type) && one.status === 'True');
  const failed = holds('Failed', 'FailureTarget');
  if (failed !== undefined)
    return { state: 'failed', ...known, message: failed.message || failed.reason || 'no message' };
  return { state: holds('Complete') === undefined ? 'active' : 'complete', ...known, message: '' };
}

/** Of a container that is about to work. */
const isBeginning = ['ContainerCreating', 'PodInitializing'];

/** Why a Pod does not work, as the scheduler or the kubelet says; null: neither does. */
export function podProblem({ status }: Pick<Pod, 'status'>): string | null {
  const placed = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (placed?.status === 'False') return placed.message || placed.reason || 'it is not scheduled';
  for (const { state } of status?.containerStatuses ?? []) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (reason !== '' && !isBeginning.includes(reason)) return message === '' ? reason : `${reason}: ${message}`;
  }
  return null;
}

export const transferFacts = ({ status }: ObjectTransfer): TransferFacts => ({
  phase: status?.phase ?? '',
  message: status?.conditions?.find(({ type }) => type === 'Complete')?.message ?? '',
});
