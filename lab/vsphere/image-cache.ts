import { kubectl } from '../kubectl.ts';
import type { KubernetesHandle } from '../parts/kubernetes-handle.ts';
import { govc } from './govc.ts';
import type { VsphereHandle } from './handle.ts';
import { inventory } from './handle.ts';
import { makeImage, vmScene } from './scene.ts';

/** What caches images for fast deploy, in the place of vm-operator's own controller: kind, files, and status. */

const namespace = 'drover-system';
const diskGiB = 1;

/** A kind of vm-operator's that drover does not bring along. May be asked for again. */
export async function installKind(kubernetes: KubernetesHandle, kind: string, plural: string): Promise<void> {
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1alpha6', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } } };
  const crd = `${plural}.vmoperator.vmware.com`;
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: crd }, spec: { group: 'vmoperator.vmware.com', names: { kind, plural, singular: kind.toLowerCase() }, scope: 'Namespaced', versions: [version] } };
  await kubectl(kubernetes, ['apply', '-f', '-'], JSON.stringify(definition));
  await kubectl(kubernetes, ['wait', '--for=condition=Established', '--timeout=30s', 'crd', crd]);
}

/** Before drover is started with fast deploy: its bridge follows them. */
export const installImageCaches = (kubernetes: KubernetesHandle): Promise<void> => installKind(kubernetes, 'VirtualMachineImageCache', 'virtualmachineimagecaches');

/** Where the files of an image are on one datastore. */
export interface CachedLocation {
  datacenterID: string;
  datastoreID: string;
  profileID: string;
  files: { id: string; type: 'Disk' | 'Other'; diskType?: 'Classic' }[];
}

/** As many disks and an NVRAM, on each datastore, in a folder of that name. May be asked for again. */
export async function makeCachedFiles(vsphere: VsphereHandle, folder: string, disks: number): Promise<CachedLocation[]> {
  const datacenterID = await idOf(vsphere, `/${inventory.datacenter}`);
  const locations: CachedLocation[] = [];
  for (const datastore of inventory.datastores) {
    const name = datastore.slice(datastore.lastIndexOf('/') + 1);
    await govc(vsphere, 'datastore.mkdir', '-p', '-ds', datastore, folder);
    const there = (await govc(vsphere, 'datastore.ls', '-ds', datastore, folder)).split('\n').map((line) => line.trim());
    const paths = Array.from({ length: disks }, (_, index) => `${folder}/cached-${index}.vmdk`);
    for (const path of paths.filter((one) => !there.includes(one.slice(folder.length + 1)))) await govc(vsphere, 'datastore.disk.create', '-ds', datastore, '-size', `${diskGiB}G`, path);
    // Its content is nobody's concern here.
    await govc(vsphere, 'datastore.cp', '-f', '-t=false', '-ds', datastore, paths[0] ?? '', `${folder}/image.nvram`);
    const files = [...paths.map((path) => ({ id: `[${name}] ${path}`, type: 'Disk' as const, diskType: 'Classic' as const })), { id: `[${name}] ${folder}/image.nvram`, type: 'Other' as const }];
    locations.push({ datacenterID, datastoreID: await idOf(vsphere, datastore), profileID: vmScene.profileId, files });
  }
  return locations;
}

/** An OVF image with as many disks, which is ready. */
export async function makeCachedImage(kubernetes: KubernetesHandle, image: { namespace: string; name: string; providerItemID: string }, disks: number): Promise<void> {
  await makeImage(kubernetes, { ...image, type: 'OVF' });
  const told = Array.from({ length: disks }, (_, index) => ({ name: `disk-${index}`, limit: `${diskGiB}Gi`, controllerType: 'SCSI', controllerBusNumber: 0, unitNumber: index }));
  await patchStatus(kubernetes, 'virtualmachineimage', image.namespace, image.name, { disks: told, firmware: 'efi', osInfo: { type: 'otherGuest64' } });
}

/** Says that the files are there, in the cache of that name, which is made if there is none. */
export async function fillImageCache(kubernetes: KubernetesHandle, { name, providerID }: { name: string; providerID: string }, locations: readonly CachedLocation[]): Promise<void> {
  await kubectl(kubernetes, ['apply', '-f', '-'], JSON.stringify({ apiVersion: 'vmoperator.vmware.com/v1alpha6', kind: 'VirtualMachineImageCache', metadata: { namespace, name }, spec: { providerID } }));
  const condition = (type: string): object => ({ type, status: 'True', reason: 'True', message: '', lastTransitionTime: new Date().toISOString() });
  await patchStatus(kubernetes, 'virtualmachineimagecache', namespace, name, {
    conditions: [condition('VirtualMachineImageCacheHardwareReady')],
    locations: locations.map((location) => ({ ...location, conditions: [condition('Ready')] })),
  });
}

const patchStatus = (kubernetes: KubernetesHandle, kind: string, of: string, name: string, status: object): Promise<string> =>
  kubectl(kubernetes, ['patch', kind, name, '-n', of, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);

async function idOf(vsphere: VsphereHandle, path: string): Promise<string> {
  const id = (await govc(vsphere, 'find', '-i', path, '-maxdepth', '0')).trim().split(':').at(-1) ?? '';
  if (id === '') throw new Error(`vCenter has no ${path}`);
  return id;
}
