import type { DataVolumeActivities } from '../../../contracts/data-volume/data-volume.ts';
import { volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { awaitFact } from './await-fact.ts';
import { beginWork } from './begin-work.ts';
import type { VolumeTools } from './dependencies.ts';

const ended = ['Succeeded', 'Failed'];

/** Names of Pods that use the claim; those of drover's that copy it only read. */
export async function readSourceUsers(
  { client, scope }: VolumeTools,
  { namespace, name }: { namespace: string; name: string },
): Promise<readonly string[]> {
  const pods = await client.listValid(storageResources.Pod, { namespace }, scope.signal);
  return pods
    .filter(
      ({ metadata: { labels }, spec: { volumes = [] }, status }) =>
        !ended.includes(status?.phase ?? '') &&
        labels?.[volumeLabels.temporaryFor] === undefined &&
        volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
    )
    .map(({ metadata }) => metadata.name)
    .toSorted();
}

/**
 * What is made of a PVC names it by its name alone, and may have waited since the source was observed.
 *
 * @throws ObjectNotFound where another one has the name by now, or it is being deleted
 */
export async function checkSource(
  { client, scope }: VolumeTools,
  { namespace, name, uid }: { namespace: string; name: string; uid: string },
): Promise<void> {
  const { metadata } =
    (await client.get(storageResources.PersistentVolumeClaim, { namespace, name }, scope.signal)) ?? {};
  if (metadata?.uid === uid && metadata.deletionTimestamp === undefined) return;
  throw droverFailure('ObjectNotFound', `PersistentVolumeClaim ${namespace}/${name}, which is to be cloned, is gone`);
}

export async function awaitFreeSource(
  tools: VolumeTools,
  request: Parameters<DataVolumeActivities['awaitFreeSource']>[0],
): Promise<{ usedBy: readonly string[] }> {
  const { namespace, name, uid, begin, source, patienceMs, isPatient = false } = request;
  await beginWork(tools, { namespace, name, uid, begin });
  const usedBy = await awaitFact(tools, {
    patienceMs,
    patientFor: isPatient ? `PVC ${source.namespace}/${source.name} to be free` : undefined,
    look: () => readSourceUsers(tools, source),
    isOver: (users) => users.length === 0,
  });
  return { usedBy };
}
