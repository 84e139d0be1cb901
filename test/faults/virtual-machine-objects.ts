import { govc } from '../../lab/vsphere/govc.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { listVms } from '../../lab/vsphere/list-vms.ts';
import { setVmScene, vcenterSettings } from '../../lab/vsphere/scene.ts';
import type { Ground, Vcenter } from './ground.ts';
import { vcenterOf } from './ground.ts';

/** What VMs of the matrix have in common: a namespace for each lane, and in it a VM that is nobody's of drover's. */

/** Files are named by the VM, and a datastore is everybody's. */
const strangerOf = (namespace: string): string => `stranger-${namespace}`;

/** Of the one datastore that others put disks on. */
const datastore = 'LocalDS_0';

/** Returns what drover's settings have of the vCenter. */
export async function openNamespace(ground: Ground, namespace: string): Promise<object> {
  const { handle, control, strangers } = vcenterOf(ground);
  await setVmScene(ground.lab.handles.kubernetes, handle, namespace);
  await control.reset();
  const stranger = strangerOf(namespace);
  const there = await listVms(handle, namespace);
  if (!there.some(({ name }) => name === stranger)) await makeVm(handle, namespace, stranger);
  await govc(handle, 'datastore.mkdir', '-p', '-ds', datastore, volumesOf(namespace));
  strangers.set(namespace, [await watchVm(handle, namespace, stranger)]);
  return { vsphere: vcenterSettings(handle) };
}

/** A VM that somebody else has made there. */
export async function makeVm(handle: Vcenter['handle'], namespace: string, name: string): Promise<void> {
  await govc(handle, 'vm.clone', '-vm', inventory.template, '-folder', `${inventory.vmFolder}/${namespace}`, '-pool', `${inventory.resourcePool}/${namespace}`, '-ds', inventory.datastores[0], '-on=false', name);
}

/** How a VM that is nobody's of drover's is now, to be compared with later. */
export async function watchVm(handle: Vcenter['handle'], namespace: string, name: string) {
  const read = async (): Promise<string | null> => {
    const vm = (await listVms(handle, namespace)).find((one) => one.name === name);
    return vm === undefined ? null : JSON.stringify(vm);
  };
  return { what: `VM ${namespace}/${name}`, before: (await read()) ?? '', read };
}

/** Attaches a disk that was not made with the VM, and watches over its file. */
export async function attachDisk({ handle, strangers }: Vcenter, namespace: string, name: string): Promise<void> {
  const file = `disk-${String(Date.now())}`;
  await govc(handle, 'vm.disk.create', '-vm', `${inventory.vmFolder}/${namespace}/${name}`, '-ds', datastore, '-name', `${volumesOf(namespace)}/${file}`, '-size', '1M');
  const read = async (): Promise<string | null> => ((await govc(handle, 'datastore.ls', '-ds', datastore, volumesOf(namespace))).includes(`${file}.vmdk`) ? 'there' : null);
  strangers.get(namespace)?.push({ what: `disk ${volumesOf(namespace)}/${file}.vmdk`, before: 'there', read });
}

/** As the namespace is before a scenario: the VM that is nobody's, and nothing else. */
export async function removeVms({ handle, control, strangers }: Vcenter, namespace: string): Promise<void> {
  // Whatever is on its way comes to its end first.
  await control.delayTasks({});
  for (const { name } of await listVms(handle, namespace)) if (name !== strangerOf(namespace)) await govc(handle, 'vm.destroy', `${inventory.vmFolder}/${namespace}/${name}`);
  strangers.get(namespace)?.splice(1);
}

const find = async (handle: Vcenter['handle'], ...args: string[]): Promise<string[]> => (await govc(handle, 'find', ...args)).trim().split('\n').filter((line) => line !== '');

/** Paths of the folders and resource pools below those of the namespace. */
export async function listBranches(handle: Vcenter['handle'], namespace: string): Promise<string[]> {
  const roots = [`${inventory.vmFolder}/${namespace}`, `${inventory.resourcePool}/${namespace}`];
  const [folders, pools] = await Promise.all([find(handle, roots[0] ?? '', '-type', 'f'), find(handle, roots[1] ?? '', '-type', 'p')]);
  return [...folders, ...pools].filter((path) => !roots.includes(path));
}

/** What policies have made there. */
export async function removeBranches({ handle }: Vcenter, namespace: string): Promise<void> {
  for (const path of await listBranches(handle, namespace)) await govc(handle, 'object.destroy', path);
}

export const listModules = async (handle: Vcenter['handle']): Promise<string> => await govc(handle, 'cluster.module.ls');

const volumesOf = (namespace: string): string => `volumes-${namespace}`;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/** Folders of files that are called by an object's uid, on all datastores. */
export async function listFileFolders(handle: Vcenter['handle']): Promise<{ datastore: string; folder: string; path: string }[]> {
  const found = inventory.datastores.map(async (at) => {
    const lines = (await govc(handle, 'datastore.ls', '-ds', at)).split('\n').map((line) => line.trim());
    return lines.filter((line) => uuid.test(line)).map((folder) => ({ datastore: at, folder, path: `${at}/${folder}` }));
  });
  return (await Promise.all(found)).flat();
}

/** Whatever a scenario has left. No VM may be there any more. */
export async function removeFileFolders(handle: Vcenter['handle']): Promise<void> {
  for (const { datastore: at, folder } of await listFileFolders(handle)) await govc(handle, 'datastore.rm', '-f', '-ds', at, folder);
}
