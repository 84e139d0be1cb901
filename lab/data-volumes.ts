import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { applyObject } from './kubernetes-objects.ts';

/** Volumes and DataVolumes in the lab, as users write them. */

export const volumeFixture = {
  /** Where DataVolumes are. */
  namespace: 'vms',
  /** Where the images are that volumes elsewhere are clones of. */
  golden: 'golden',
} as const;

export interface ClaimWish {
  readonly namespace?: string;
  readonly name: string;
  /** Default: 64Mi. */
  readonly size?: string;
  /** Default: that of the lab. */
  readonly storageClass?: string;
  readonly block?: boolean;
}

export interface DataVolumeWish extends Omit<ClaimWish, 'size'> {
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of the spec: a source, or a reference to a DataSource. */
  readonly from:
    | { readonly pvc: { readonly namespace?: string; readonly name: string } }
    | { readonly snapshot: { readonly namespace?: string; readonly name: string } }
    | { readonly dataSource: { readonly namespace?: string; readonly name: string } }
    | 'blank';
  /** As the guest is to see it; null: that of its source. */
  readonly size?: string | null;
  /** With `spec.pvc`, which is as large as it says, in the place of `spec.storage`. */
  readonly exact?: boolean;
}

const usualSize = '64Mi';

const claimSpec = ({ size = usualSize, storageClass, block }: Omit<DataVolumeWish, 'name' | 'from'>) => ({
  accessModes: ['ReadWriteOnce'],
  ...(block !== undefined && { volumeMode: block ? 'Block' : 'Filesystem' }),
  ...(storageClass !== undefined && { storageClassName: storageClass }),
  ...(size !== null && { resources: { requests: { storage: size } } }),
});

export const claimObject = ({ namespace = volumeFixture.namespace, name, ...wish }: ClaimWish) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name },
  spec: claimSpec(wish),
});

export function dataVolumeObject({
  namespace = volumeFixture.namespace,
  name,
  annotations = {},
  from,
  exact = false,
  ...wish
}: DataVolumeWish) {
  const named = <Name extends object>(one: Name) => ({ namespace, ...one });
  const source =
    from === 'blank'
      ? { source: { blank: {} } }
      : 'dataSource' in from
        ? { sourceRef: { kind: 'DataSource', ...named(from.dataSource) } }
        : { source: 'pvc' in from ? { pvc: named(from.pvc) } : { snapshot: named(from.snapshot) } };
  return {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { namespace, name, annotations },
    spec: { ...source, [exact ? 'pvc' : 'storage']: claimSpec(wish) },
  };
}

export async function setUpVolumes(api: Kubernetes): Promise<void> {
  for (const name of [volumeFixture.namespace, volumeFixture.golden])
    await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
