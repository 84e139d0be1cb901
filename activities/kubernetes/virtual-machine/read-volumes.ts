import type { CnsNodeVmAttachment, CnsNodeVmBatchAttachment } from '../../../contracts/crds/cns-attachments.ts';
import type { ObjectMeta } from '../../../contracts/crds/schema.ts';
import type { VirtualMachine } from '../../../contracts/crds/virtual-machine.ts';
import type { DesiredVirtualMachine } from '../../../contracts/virtual-machine/lifecycle.ts';
import {
  attachmentName,
  type BatchAttachment,
  type BatchSpec,
  claimAnnotations,
  placementFailed,
  type ObservedClaim,
  type ObservedInstanceClaim,
  type ObservedVolumes,
  type SingleAttachment,
  volumeOf,
} from '../../../contracts/virtual-machine/volumes.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { fetchObject } from '../lib/fetch-object.ts';
import { unlessUnknown } from '../lib/unless-unknown.ts';
import { claimResource, storageClasses, type Claim } from './schemas.ts';

interface ReadTools {
  client: KubernetesObjects;
  signal: AbortSignal;
}

/** The VirtualMachine. */
interface Owner {
  namespace: string;
  name: string;
  uid: string;
}

/**
 * The claims of a VM's volumes and what attaches them, each by its name: no list of a namespace, whatever is in it. A
 * volume that is no longer in the spec is known by its row of the status. Null: there are none, and were none.
 */
export async function readVolumes(
  tools: ReadTools,
  { metadata: { namespace = '', name, uid }, status }: VirtualMachine,
  { volumes }: Pick<DesiredVirtualMachine, 'volumes'>,
): Promise<ObservedVolumes | null> {
  const shown = (status?.volumes ?? []).filter(({ type }) => type !== 'Classic').map((row) => volumeOf(row.name));
  const names = [...new Set([...volumes.map((volume) => volume.name), ...shown])];
  if (names.length === 0) return null;
  const [claims, attachments] = await Promise.all([
    Promise.all(
      [...new Set(volumes.map(({ claim }) => claim))].map(async (claim) => {
        const isInstance = volumes.some((volume) => volume.claim === claim && volume.instance !== undefined);
        return [claim, await readClaim(tools, namespace, claim, isInstance ? uid : null)] as const;
      }),
    ),
    readAttachments(tools, { namespace, name, uid }, names),
  ]);
  return { claims: Object.fromEntries(claims), ...attachments };
}

/** What may not be read, or is not as documented, is said, and holds up nothing but the volumes. */
async function readAttachments(
  tools: ReadTools,
  owner: Owner,
  volumes: readonly string[],
): Promise<Omit<ObservedVolumes, 'claims'>> {
  const { namespace, name } = owner;
  try {
    const [singles, batch] = await Promise.all([
      Promise.all(volumes.map((volume) => readSingle(tools, owner, volume))),
      unlessUnknown(() =>
        tools.client.get(neighbourResources.CnsNodeVMBatchAttachment, { namespace, name }, tools.signal),
      ),
    ]);
    return {
      served: { single: singles.every((found) => found !== 'unknown'), batch: batch !== 'unknown' },
      problem: null,
      attachments: singles.filter((found) => found !== 'unknown' && found !== null),
      batch: batch === 'unknown' || batch === null ? null : toBatch(batch, owner),
    };
  } catch (error) {
    if (!isFailure(error, 'KubernetesForbidden') && !isFailure(error, 'AnswerMalformed')) throw error;
    const problem = `What attaches the volumes cannot be read: ${failureDetail(error)}`;
    return { served: { single: false, batch: false }, problem, attachments: [], batch: null };
  }
}

async function readClaim(
  { client, signal }: ReadTools,
  namespace: string,
  name: string,
  instanceOf: string | null,
): Promise<ObservedVolumes['claims'][string]> {
  const read = await fetchObject<{ claim: Claim; waits: boolean }, ObservedClaim>(
    `PersistentVolumeClaim ${name}`,
    signal,
    async () => {
      const claim = await client.get(claimResource, { namespace, name }, signal);
      return claim === null ? null : { claim, waits: await waitsForConsumer({ client, signal }, claim) };
    },
    ({ claim: { metadata, spec, status }, waits }) => ({
      kind: 'found',
      value: {
        phase: status?.phase ?? 'Pending',
        selectedNode: metadata.annotations?.[claimAnnotations.selectedNode] ?? null,
        waitsForConsumer: waits,
        requested: spec?.resources?.requests?.storage ?? null,
        limit: spec?.resources?.limits?.storage ?? null,
        ...(instanceOf !== null && { instance: toInstanceClaim(metadata, instanceOf) }),
      },
    }),
  );
  if (read.kind === 'found') return read;
  return { kind: 'unread', message: read.message, ...(read.kind === 'notFound' && { isMissing: true }) };
}

function toInstanceClaim(
  { uid, annotations = {}, creationTimestamp = '', deletionTimestamp, ownerReferences = [] }: Claim['metadata'],
  owner: string,
): ObservedInstanceClaim {
  const said = annotations[claimAnnotations.storagePool] ?? '';
  return {
    uid,
    own: isControlledBy(ownerReferences, owner),
    deleting: deletionTimestamp !== undefined,
    createdMs: Date.parse(creationTimestamp) || 0,
    failure: said.startsWith(placementFailed) ? said : null,
  };
}

const isControlledBy = (
  references: readonly { uid: string; controller?: boolean | undefined }[] | undefined,
  owner: string,
): boolean => references?.some(({ uid, controller }) => uid === owner && controller === true) ?? false;

async function waitsForConsumer({ client, signal }: ReadTools, { spec, status }: Claim): Promise<boolean> {
  const name = spec?.storageClassName ?? '';
  if (status?.phase === 'Bound' || name === '') return false;
  return (await client.get(storageClasses, { name }, signal))?.volumeBindingMode === 'WaitForFirstConsumer';
}

async function readSingle(
  { client, signal }: ReadTools,
  owner: Owner,
  volume: string,
): Promise<SingleAttachment | null | 'unknown'> {
  const key = { namespace: owner.namespace, name: attachmentName(owner.name, volume) };
  const found = await unlessUnknown(() => client.get(neighbourResources.CnsNodeVmAttachment, key, signal));
  return found === 'unknown' || found === null ? found : toSingle(found, owner, volume);
}

const objectOf = ({ name, uid, ...metadata }: ObjectMeta, owner: Owner) => ({
  name,
  uid,
  own: isControlledBy(metadata.ownerReferences, owner.uid),
  ...(isOfPredecessor(metadata, owner) && { ofPredecessor: true as const }),
  deletingSinceMs: metadata.deletionTimestamp === undefined ? null : Date.parse(metadata.deletionTimestamp),
});

/** Owned by one of the same name that was there before: `kubectl replace --force` is that quick. */
const isOfPredecessor = (
  { ownerReferences = [] }: Pick<ObjectMeta, 'ownerReferences'>,
  { name, uid }: Owner,
): boolean =>
  ownerReferences.length > 0 &&
  ownerReferences.every((one) => one.kind === 'VirtualMachine' && one.name === name && one.uid !== uid);

const toSingle = ({ metadata, spec, status = {} }: CnsNodeVmAttachment, owner: Owner, volume: string) => ({
  ...objectOf(metadata, owner),
  volume,
  claim: spec.volumename,
  biosUuid: spec.nodeuuid,
  attached: status.attached ?? false,
  diskUuid: status.metadata?.['diskUUID'] || null,
  error: sentenceOf(status.error),
});

export const batchSpecOf = ({
  instanceUUID,
  volumes = [],
}: CnsNodeVmBatchAttachment['spec']): Omit<BatchSpec, 'uid'> => ({
  instanceUuid: instanceUUID,
  volumes: volumes.map(({ name, persistentVolumeClaim: { claimName, ...place } }) => ({
    name,
    claim: claimName,
    ...place,
  })),
});

const toBatch = ({ metadata, spec, status }: CnsNodeVmBatchAttachment, owner: Owner): BatchAttachment => ({
  ...objectOf(metadata, owner),
  ...batchSpecOf(spec),
  status: (status?.volumes ?? []).map(({ name, persistentVolumeClaim: shown = {} }) => {
    const { claimName = '', attached = false, diskUUID, error, conditions = [] } = shown;
    const [done, failed] = [
      conditions.find(({ type }) => type === 'VolumeAttached'),
      conditions.find(({ reason }) => reason === 'AttachFailed' || reason === 'DetachFailed'),
    ];
    return {
      name,
      claim: claimName,
      attached: done === undefined ? attached : done.status === 'True',
      diskUuid: diskUUID || null,
      error: sentenceOf(error) ?? sentenceOf(failed?.message),
    };
  }),
});

/**
 * The CSI driver repeats what SOAP said, with ids and addresses that are others at each try: a status with them would
 * be written anew each time. The object has all of it.
 */
function sentenceOf(error: string | undefined): string | null {
  if (error === undefined || error === '') return null;
  return error.includes('opId:') ? error.slice(0, error.indexOf(':')) : error;
}
