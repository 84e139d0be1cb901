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

/** So long the Pods that the run observed before it asked for the activity count as those that use the source. */
const observedForMs = 10_000;

/** Whether what the run has observed is young enough to say who uses the source. Of the first look alone. */
export const isJustObserved = ({ scope, clock }: VolumeTools): boolean =>
  scope.waitedMs === 0 && clock.now() < scope.scheduledMs + observedForMs;

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
