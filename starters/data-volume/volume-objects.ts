import type { Condition } from '../../contracts/conditions.ts';
import { type DataVolume, dataVolumeSchema } from '../../contracts/crds/data-volume.ts';
import type { DesiredVolume } from '../../contracts/data-volume/data-volume.ts';
import { readClaimedVolume, readDataVolume, readRecordedVolume } from '../../contracts/data-volume/read-data-volume.ts';
import { annotations } from '../../contracts/ids.ts';
import { dataVolume } from '../../contracts/kinds/resources.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import { typed } from '../../runtime/kubernetes/resources.ts';
import type { VolumeObject } from './volume-object.ts';

/** DataVolumes as people are shown them. */
export const shownVolumes = typed(dataVolume, dataVolumeSchema.transform(describeVolume));

function describeVolume(object: DataVolume): VolumeObject {
  const { metadata, spec, status = {} } = object;
  const { desired } = readDataVolume(object);
  const { phase, sinceMs } = readRecordedVolume(object);
  const claimed = readClaimedVolume(object);
  const { source } = desired;
  const claim = spec.storage ?? spec.pvc ?? {};
  const size = claim.resources?.requests?.['storage'];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp,
    deleting: desired.deleting,
    observed: metadata.annotations?.[annotations.mode] === 'observe',
    conditions: (status.conditions ?? []).map((condition) => describeCondition(condition, metadata.creationTimestamp)),
    phase,
    source: describeSource(desired),
    from: claimed?.source ?? (source === null || source.kind === 'blank' ? null : source),
    isLeft: desired.isLeft || desired.foreignSource !== '',
    strategy: claimed?.strategy ?? null,
    fallbackReason: claimed?.fallbackReason ?? null,
    sizeBytes: size === undefined ? null : quantityOf(size),
    storageClass: claim.storageClassName ?? null,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
  };
}

const words = { pvc: 'pvc', snapshot: 'snapshot', dataSource: 'DataSource' } as const;

function describeSource({ source, foreignSource }: DesiredVolume): string {
  if (source === null) return foreignSource === '' ? 'none' : foreignSource;
  return source.kind === 'blank' ? 'blank' : `${words[source.kind]} ${source.namespace}/${source.name}`;
}

/** Its last change of any kind: a message that is another one is another wait. */
const describeCondition = (
  { type, status, reason = '', message = '', lastHeartbeatTime, lastTransitionTime }: WrittenCondition,
  createdAt: string,
): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: lastHeartbeatTime ?? lastTransitionTime ?? createdAt,
});

type WrittenCondition = NonNullable<NonNullable<DataVolume['status']>['conditions']>[number];
