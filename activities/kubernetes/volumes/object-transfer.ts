import { z } from 'zod';

import type { ObjectTransfer } from '../../../contracts/crds/object-transfer.ts';
import type { TransferFacts } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { type Claim, type Volume, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { OfVolume, VolumeTools } from './dependencies.ts';
import { createObject, versionOf } from './write-object.ts';

/**
 * The record of a volume on its way to another namespace: written before anything is done, and deleted when nothing is
 * left to be undone.
 */

/** `status.data`: what was there before the first step. */
const dataSchema = z.object({
  pvName: z.string(),
  pvUid: z.string(),
  /** Of the temporary claim. */
  sourceUid: z.string(),
  reclaimPolicy: z.enum(['Retain', 'Delete', 'Recycle']),
  accessModes: z.string(),
  volumeMode: z.enum(['Filesystem', 'Block']),
  storageClassName: z.string(),
  storage: z.string(),
  cloneDepth: z.string(),
});
export type TransferData = z.output<typeof dataSchema>;

/** Null: nothing is recorded yet, so nothing was done. */
export const transferData = ({ status }: ObjectTransfer): TransferData | null =>
  dataSchema.safeParse(status?.data).data ?? null;

export const findTransfer = ({ client, scope }: VolumeTools, { uid }: Pick<OfVolume, 'uid'>) =>
  client.get(resources.ObjectTransfer, { name: temporaryNames.transfer(uid) }, scope.signal);

export const isTransferOf = ({ metadata: { labels } }: ObjectTransfer, volumeUid: string): boolean =>
  labels?.[volumeLabels.temporaryFor] === volumeUid;

export async function createTransfer(
  tools: VolumeTools,
  { namespace, name, uid }: OfVolume,
  from: { namespace: string; name: string },
): Promise<void> {
  await createObject(
    tools,
    resources.ObjectTransfer,
    {
      metadata: {
        name: temporaryNames.transfer(uid),
        labels: { [volumeLabels.app]: volumeLabels.appName, [volumeLabels.temporaryFor]: uid },
        annotations: { [volumeAnnotations.ownedByDataVolume]: `${namespace}/${name}` },
      },
      spec: { source: { kind: storageResources.PersistentVolumeClaim.kind, ...from }, target: { namespace, name } },
    },
    'the volume goes to the namespace of its DataVolume',
  );
}

/** @throws ObjectConflict where it was recorded meanwhile: what is recorded first counts */
export const recordTransfer = (
  tools: VolumeTools,
  transfer: ObjectTransfer,
  claim: Claim,
  volume: Volume,
): Promise<ObjectTransfer> => {
  const data: TransferData = {
    pvName: volume.metadata.name,
    pvUid: volume.metadata.uid,
    sourceUid: claim.metadata.uid,
    reclaimPolicy: volume.spec.persistentVolumeReclaimPolicy ?? 'Delete',
    accessModes: (claim.spec.accessModes ?? []).join(','),
    volumeMode: claim.spec.volumeMode ?? 'Filesystem',
    storageClassName: claim.spec.storageClassName ?? '',
    storage: claim.spec.resources?.requests?.storage ?? '',
    cloneDepth: claim.metadata.annotations?.[volumeAnnotations.cloneDepth] ?? '0',
  };
  return sayTransfer(tools, transfer, { phase: 'Running', message: 'Running' }, data);
};

/** Nothing is written where it says so already. @throws ObjectConflict */
export async function sayTransfer(
  { client, scope, clock }: VolumeTools,
  transfer: ObjectTransfer,
  { phase, message }: TransferFacts,
  data?: TransferData,
): Promise<ObjectTransfer> {
  const before = transfer.status?.conditions?.find(({ type }) => type === 'Complete');
  const status = phase === 'Complete' ? 'True' : 'False';
  if (transfer.status?.phase === phase && before?.message === message) return transfer;
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const lastTransitionTime = (before?.status === status ? before.lastTransitionTime : undefined) ?? now;
  const condition = { type: 'Complete', status, reason: phase, message, lastHeartbeatTime: now, lastTransitionTime };
  return await client.patchStatus(
    resources.ObjectTransfer,
    versionOf(transfer.metadata),
    { phase, conditions: [condition], ...(data !== undefined && { data }) } as NonNullable<ObjectTransfer['status']>,
    scope.signal,
  );
}
