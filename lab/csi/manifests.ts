import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LabContext } from '../part.ts';
import type { KubernetesHandle } from '../parts/kubernetes-handle.ts';
import { type CsiHandle, csiClasses, csiSnapshotClasses } from './handle.ts';

const KUBECTL_TIMEOUT_MS = 60_000;

/** Applies upstream's CRDs and roles, and the drivers with their classes. */
export async function applyCsiManifests(
  context: LabContext,
  kubernetes: KubernetesHandle,
  manifests: string,
  handle: Pick<CsiHandle, 'directories' | 'rbd'>,
): Promise<void> {
  const kubectl = (args: readonly string[], input?: object) =>
    context.exec({
      command: kubernetes.kubectl,
      args: ['--kubeconfig', kubernetes.kubeconfig, ...args],
      ...(input !== undefined && { input: JSON.stringify(input) }),
      timeoutMs: KUBECTL_TIMEOUT_MS,
    });
  const apply = ['apply', '--server-side', '--force-conflicts', '-f'];
  await kubectl([...apply, manifests]);
  const crds = readdirSync(manifests).filter((name) => name.includes('snapshot.storage.k8s.io_'));
  const wait = ['wait', '--for=condition=Established', '--timeout=30s'];
  await kubectl([...wait, ...crds.flatMap((name) => ['-f', join(manifests, name)])]);
  await kubectl([...apply, '-'], { apiVersion: 'v1', kind: 'List', items: csiObjects(handle) });
}

/** The drivers of the lab as Kubernetes knows them. */
export function csiObjects({ directories, rbd }: Pick<CsiHandle, 'directories' | 'rbd'>): object[] {
  const storageClass = (name: string, provisioner: string, settings: object = {}) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name,
      ...(name === csiClasses.default && {
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      }),
    },
    provisioner,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
    allowVolumeExpansion: true,
    ...settings,
  });
  const driver = (name: string, snapshotClass: string) => [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name },
      spec: { attachRequired: false, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] },
    },
    {
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotClass',
      metadata: { name: snapshotClass },
      driver: name,
      deletionPolicy: 'Delete',
    },
  ];
  return [
    ...driver(directories.name, csiSnapshotClasses.directories),
    storageClass(csiClasses.default, directories.name),
    storageClass(csiClasses.fixed, directories.name, { allowVolumeExpansion: false }),
    storageClass(csiClasses.waiting, directories.name, { volumeBindingMode: 'WaitForFirstConsumer' }),
    ...(rbd === null ? [] : [...driver(rbd.name, csiSnapshotClasses.rbd), storageClass(csiClasses.rbd, rbd.name)]),
  ];
}
