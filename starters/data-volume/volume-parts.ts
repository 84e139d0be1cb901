import { temporaryNames, volumeAnnotations, volumeLabels } from '../../contracts/data-volume/metadata.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import { type KubernetesObjects, openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import {
  type Claim,
  type CoreEvent,
  type Job,
  type Snapshot,
  storageResources,
} from '../../runtime/kubernetes/storage-resources.ts';
import { explainError } from '../command/explain-error.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import type { ShownClaim, ShownEvent, TemporaryObject, VolumeObject, VolumeParts } from './volume-object.ts';

/** What there is besides a DataVolume, each part without the others: a user who may not see one sees the rest. */
export async function readParts(
  kubernetes: Pick<KubernetesAccess, 'open'>,
  volume: VolumeObject,
  abort: AbortSignal,
): Promise<{ parts: VolumeParts; problems: string[] }> {
  const problems: string[] = [];
  const read = async <Part>(what: string, part: (client: KubernetesObjects) => Promise<Part>): Promise<Part | null> => {
    try {
      return await part(openObjects(await kubernetes.open()));
    } catch (error) {
      abort.throwIfAborted();
      problems.push(`${what}: ${explainError(error).message}`);
      return null;
    }
  };
  const [claim, snapshots, claims, transfer, job, events] = await Promise.all([
    read('Its PersistentVolumeClaim', (client) => readClaim(client, volume, abort)),
    read('Its VolumeSnapshot', (client) => readSnapshots(client, volume, abort)),
    read('Its temporary PersistentVolumeClaim', (client) => readTemporaryClaim(client, volume, abort)),
    read('Its ObjectTransfer', (client) => readTransfer(client, volume, abort)),
    read('Its Job', (client) => readJob(client, volume, abort)),
    read('Its Events', (client) => readEvents(client, volume, abort)),
  ]);
  const known = [snapshots, claims, transfer, job].filter((part) => part !== null);
  return { parts: { claim, temporary: known.length === 0 ? null : known.flat(), events }, problems };
}

const bytesOf = (quantity: string | number | null | undefined): number | null =>
  quantity === null || quantity === undefined ? null : quantityOf(quantity);

async function readClaim(
  client: KubernetesObjects,
  { namespace, name }: VolumeObject,
  abort: AbortSignal,
): Promise<ShownClaim | 'none'> {
  const claim = await client.get(storageResources.PersistentVolumeClaim, { namespace, name }, abort);
  return claim === null ? 'none' : describeClaim(claim);
}

/** Pure. */
export const describeClaim = ({ spec, status }: Claim): ShownClaim => ({
  phase: status?.phase ?? 'Pending',
  volume: spec.volumeName || null,
  storageClass: spec.storageClassName || null,
  requestBytes: bytesOf(spec.resources?.requests?.storage) ?? 0,
  capacityBytes: bytesOf(status?.capacity?.storage),
});

/** Where its source is, which is where what is temporary is. */
const sourceNamespace = ({ from, namespace }: VolumeObject): string => from?.namespace ?? namespace;

async function readSnapshots(
  client: KubernetesObjects,
  volume: VolumeObject,
  abort: AbortSignal,
): Promise<TemporaryObject[]> {
  const query = { namespace: sourceNamespace(volume), labelSelector: volumeLabels.snapshotOf };
  const snapshots = await client.listValid(storageResources.VolumeSnapshot, query, abort);
  return snapshots.flatMap((snapshot) => describeSnapshot(snapshot, volume.uid));
}

/** Pure. @returns none where the DataVolume does not need it */
export function describeSnapshot({ metadata, status }: Snapshot, volumeUid: string): TemporaryObject[] {
  const users = Object.entries(metadata.annotations ?? {}).flatMap(([key, name]) =>
    key.startsWith(volumeAnnotations.snapshotUser)
      ? [{ uid: key.slice(volumeAnnotations.snapshotUser.length), name }]
      : [],
  );
  if (!users.some(({ uid }) => uid === volumeUid)) return [];
  const state =
    status?.readyToUse === true
      ? 'ready to use'
      : (status?.error?.message ?? (status?.creationTime ? 'cut, not ready yet' : 'not cut yet'));
  return [
    {
      kind: 'VolumeSnapshot',
      ...identityOf(metadata),
      state: going(metadata, state),
      sharedWith: users.flatMap(({ uid, name }) => (uid === volumeUid ? [] : [name])).sort(),
    },
  ];
}

type Metadata = Pick<Snapshot['metadata'], 'namespace' | 'name' | 'creationTimestamp' | 'deletionTimestamp'>;

const identityOf = ({ namespace = '', name, creationTimestamp }: Metadata) => ({
  namespace: namespace === '' ? null : namespace,
  name,
  createdAt: creationTimestamp,
});

const going = ({ deletionTimestamp }: Metadata, state: string): string =>
  deletionTimestamp === undefined ? state : 'is being deleted';

async function readTemporaryClaim(
  client: KubernetesObjects,
  volume: VolumeObject,
  abort: AbortSignal,
): Promise<TemporaryObject[]> {
  const key = { namespace: sourceNamespace(volume), name: temporaryNames.claim(volume.uid) };
  const claim = await client.get(storageResources.PersistentVolumeClaim, key, abort);
  if (claim === null) return [];
  const { phase } = describeClaim(claim);
  const state = going(claim.metadata, phase);
  return [{ kind: 'PersistentVolumeClaim', ...identityOf(claim.metadata), state, sharedWith: [] }];
}

async function readTransfer(
  client: KubernetesObjects,
  { uid }: VolumeObject,
  abort: AbortSignal,
): Promise<TemporaryObject[]> {
  const transfer = await client.get(resources.ObjectTransfer, { name: temporaryNames.transfer(uid) }, abort);
  if (transfer === null) return [];
  const state = transfer.status?.phase || 'Pending';
  return [{ kind: 'ObjectTransfer', ...identityOf({ ...transfer.metadata, namespace: '' }), state, sharedWith: [] }];
}

async function readJob(
  client: KubernetesObjects,
  volume: VolumeObject,
  abort: AbortSignal,
): Promise<TemporaryObject[]> {
  if (volume.strategy !== 'copy') return [];
  const key = { namespace: sourceNamespace(volume), name: temporaryNames.job(volume.uid) };
  const job = await client.get(storageResources.Job, key, abort);
  return job === null
    ? []
    : [{ kind: 'Job', ...identityOf(job.metadata), state: going(job.metadata, stateOf(job)), sharedWith: [] }];
}

const stateOf = ({ status }: Job): string => {
  const ending = status?.conditions?.find(
    ({ type, status: said }) => said === 'True' && (type === 'Failed' || type === 'Complete'),
  );
  if (ending === undefined) return 'copies';
  return ending.type === 'Complete' ? 'has copied' : `failed: ${ending.message ?? ''}`;
};

const mostEvents = 12;

async function readEvents(
  client: KubernetesObjects,
  { namespace, uid }: VolumeObject,
  abort: AbortSignal,
): Promise<ShownEvent[]> {
  const query = { namespace, fieldSelector: `involvedObject.uid=${uid}` };
  const events = await client.listValid(storageResources.Event, query, abort);
  return events
    .map(describeEvent)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(-mostEvents);
}

const describeEvent = (event: CoreEvent): ShownEvent => ({
  at:
    event.series?.lastObservedTime ??
    event.lastTimestamp ??
    event.eventTime ??
    event.firstTimestamp ??
    event.metadata.creationTimestamp,
  type: event.type ?? '',
  reason: event.reason ?? '',
  message: event.message ?? '',
});
