import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { labClock } from '../clock.ts';
import { applyDefinition, applyObject, mergeStatus } from '../kubernetes-objects.ts';
import { inventory } from './handle.ts';
import { makeImage, vmFixture } from './vm-fixture.ts';
import type { VcenterWitness } from './witness.ts';

/** What caches images for fast deploy, in the place of vm-operator's own controller: kind, files, and status. */

const namespace = 'drover-system';
const diskGiB = 1;

/** A kind of vm-operator's that drover does not bring along. May be asked for again. */
export async function installKind(kubernetes: Kubernetes, kind: string, plural: string): Promise<void> {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = {
    name: 'v1alpha6',
    served: true,
    storage: true,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
  };
  await applyDefinition(kubernetes, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.vmoperator.vmware.com` },
    spec: {
      group: 'vmoperator.vmware.com',
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [version],
    },
  });
}

/** Before drover is started with fast deploy: its bridge follows them. */
export const installImageCaches = (kubernetes: Kubernetes): Promise<void> =>
  installKind(kubernetes, 'VirtualMachineImageCache', 'virtualmachineimagecaches');

/** Where the files of an image are on one datastore. */
export interface CachedLocation {
  datacenterID: string;
  datastoreID: string;
  profileID: string;
  files: { id: string; type: 'Disk' | 'Other'; diskType?: 'Classic' }[];
}

/** As many disks and an NVRAM, on each datastore, in a folder of that name. May be asked for again. */
export async function makeCachedFiles(
  witness: VcenterWitness,
  folder: string,
  disks: number,
): Promise<CachedLocation[]> {
  const datacenterID = await witness.idOf(`/${inventory.datacenter}`);
  const locations: CachedLocation[] = [];
  for (const path of inventory.datastores) {
    const datastore = path.slice(path.lastIndexOf('/') + 1);
    await witness.makeDirectory({ datastore, path: folder });
    const there = await witness.listFiles({ datastore, path: folder });
    const names = Array.from({ length: disks }, (_, index) => `cached-${index}.vmdk`);
    for (const name of names.filter((one) => !there.includes(one)))
      await witness.createDisk({ datastore, path: `${folder}/${name}`, sizeMiB: diskGiB * 1_024 });
    // No test reads its content.
    await witness.copyFile({ datastore, path: `${folder}/${names[0] ?? ''}` }, `${folder}/image.nvram`);
    const fileId = (name: string): string => `[${datastore}] ${folder}/${name}`;
    const files = [
      ...names.map((name) => ({ id: fileId(name), type: 'Disk' as const, diskType: 'Classic' as const })),
      { id: fileId('image.nvram'), type: 'Other' as const },
    ];
    locations.push({ datacenterID, datastoreID: await witness.idOf(path), profileID: vmFixture.profileId, files });
  }
  return locations;
}

/** An OVF image with as many disks, which is ready. */
export async function makeCachedImage(
  kubernetes: Kubernetes,
  image: { namespace: string; name: string; providerItemID: string },
  disks: number,
): Promise<void> {
  await makeImage(kubernetes, { ...image, type: 'OVF' });
  const diskChains = Array.from({ length: disks }, (_, index) => ({
    name: `disk-${index}`,
    limit: `${diskGiB}Gi`,
    controllerType: 'SCSI',
    controllerBusNumber: 0,
    unitNumber: index,
  }));
  await patchStatus(kubernetes, 'VirtualMachineImage', image.namespace, image.name, {
    disks: diskChains,
    firmware: 'efi',
    osInfo: { type: 'otherGuest64' },
  });
}

/** Says that the files are there, in the cache of that name, which is made if there is none. */
export async function fillImageCache(
  kubernetes: Kubernetes,
  { name, providerID }: { name: string; providerID: string },
  locations: readonly CachedLocation[],
): Promise<void> {
  await applyObject(kubernetes, {
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineImageCache',
    metadata: { namespace, name },
    spec: { providerID },
  });
  const condition = (type: string): object => ({
    type,
    status: 'True',
    reason: 'True',
    message: '',
    lastTransitionTime: new Date(labClock().now()).toISOString(),
  });
  await patchStatus(kubernetes, 'VirtualMachineImageCache', namespace, name, {
    conditions: [condition('VirtualMachineImageCacheHardwareReady')],
    locations: locations.map((location) => ({ ...location, conditions: [condition('Ready')] })),
  });
}

const patchStatus = (kubernetes: Kubernetes, kind: string, of: string, name: string, status: object): Promise<void> =>
  mergeStatus(kubernetes, {
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind,
    metadata: { namespace: of, name },
    status,
  });
