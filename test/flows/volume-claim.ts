import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { namespace } from './virtual-machine-base.ts';
import type { VmWorld } from './virtual-machine-world.ts';

/** Volumes of VMs in flows, by claims. */

export const claim = (name: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace, name },
  spec: {
    storageClassName: vmFixture.storageClass,
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
});

/** Of `spec.volumes`. */
export const volume = (name: string, claimName: string, more: object = {}): object => ({
  name,
  persistentVolumeClaim: { claimName },
  ...more,
});

/** Of the status: those of claims. */
export const volumesOf = async (world: Pick<VmWorld, 'read'>, name: string) =>
  ((await world.read(name))?.status?.volumes ?? []).filter(({ type }) => type === 'Managed');
