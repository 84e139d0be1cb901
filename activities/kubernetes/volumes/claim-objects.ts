import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import type { ClaimSpec, CloneOf } from '../../../contracts/data-volume/data-volume.ts';
import { volumeAnnotations, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import { apiVersionOf } from '../../../contracts/kinds/object.ts';
import { quantityText } from '../../../contracts/quantity.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { recordedSource } from './recorded-source.ts';

/** The claims that drover makes. Pure. */

export type NewClaimSpec = Pick<ClaimSpec, 'storageClass' | 'accessModes' | 'volumeMode'> & { requestBytes: number };

export const controllerOf = ({ metadata: { name, uid } }: DataVolume) => ({
  apiVersion: apiVersionOf(resources.DataVolume),
  kind: resources.DataVolume.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** What a user writes on a DataVolume for its claim, and not for drover, CDI, or the volume controllers. */
const isPassedOn = (key: string): boolean =>
  key === volumeAnnotations.selectedNode ||
  !(
    /cdi\.kuber?virt\.io\/|(?:^|\.)drover\.dev\/|^pv\.kubernetes\.io\/|^volume\.(?:beta\.)?kubernetes\.io\/|^kubectl\.kubernetes\.io\//iu.test(
      key,
    ) || (Object.values(volumeAnnotations) as string[]).includes(key)
  );

/** Labels, annotations and owner of the PVC of the DataVolume's name. */
export function targetMetadata(volume: DataVolume, volumeMode: 'Filesystem' | 'Block', cloneDepth: number) {
  const { namespace = '', name, uid, labels, annotations = {} } = volume.metadata;
  const source = recordedSource(volume);
  const { [volumeAnnotations.cloneType]: cloneType, [volumeAnnotations.cloneFallbackReason]: fallbackReason } =
    annotations;
  const passedOn = Object.fromEntries(Object.entries(annotations).filter(([key]) => isPassedOn(key)));
  return {
    namespace,
    name,
    labels: {
      ...labels,
      [volumeLabels.app]: volumeLabels.appName,
      ...(volumeMode === 'Filesystem' && { [volumeLabels.fillingUp]: 'disabled' }),
    },
    annotations: {
      ...passedOn,
      [volumeAnnotations.createdForDataVolume]: uid,
      [volumeAnnotations.contentType]: volume.spec.contentType ?? 'kubevirt',
      ...(cloneType !== undefined && { [volumeAnnotations.cloneType]: cloneType }),
      ...(fallbackReason !== undefined && { [volumeAnnotations.cloneFallbackReason]: fallbackReason }),
      ...(source !== null && { [volumeAnnotations.cloneRequest]: `${source.namespace}/${source.name}` }),
      ...(cloneDepth > 0 && { [volumeAnnotations.cloneDepth]: String(cloneDepth) }),
    },
    ownerReferences: [controllerOf(volume)],
  };
}

/** The same of a temporary claim, which can have no owner in the namespace of a source elsewhere. */
export function temporaryMetadata(volume: DataVolume, key: { namespace: string; name: string }, cloneDepth: number) {
  const { namespace: own = '', name, uid } = volume.metadata;
  return {
    ...key,
    labels: {
      [volumeLabels.app]: volumeLabels.appName,
      [volumeLabels.temporaryFor]: uid,
      'velero.io/exclude-from-backup': 'true',
    },
    annotations: {
      [volumeAnnotations.ownedByDataVolume]: `${own}/${name}`,
      [volumeAnnotations.createdForDataVolume]: uid,
      [volumeAnnotations.contentType]: volume.spec.contentType ?? 'kubevirt',
      ...(cloneDepth > 0 && { [volumeAnnotations.cloneDepth]: String(cloneDepth) }),
    },
  };
}

const dataSources = {
  pvc: { kind: 'PersistentVolumeClaim' },
  snapshot: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot' },
} as const;

export const claimSpecOf = (
  { storageClass, accessModes, volumeMode, requestBytes }: NewClaimSpec,
  from: CloneOf | null,
) => ({
  accessModes: [...accessModes],
  volumeMode,
  storageClassName: storageClass,
  resources: { requests: { storage: quantityText(requestBytes) } },
  ...(from !== null && { dataSource: { ...dataSources[from.kind], name: from.name } }),
});
