import { labClock } from '../../lab/clock.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { setUpVmNamespace } from '../../lab/vsphere/vm-fixture.ts';
import type { VcenterWitness } from '../../lab/vsphere/witness.ts';
import type { Environment, Vcenter } from './environment.ts';
import { vcenterOf } from './environment.ts';

/** What VMs of the matrix have in common: a namespace for each fixture, and in it a VM that is not drover's. */

/** Files are named by the VM, and all namespaces share a datastore. */
const strangerOf = (namespace: string): string => `stranger-${namespace}`;

/** Of the one datastore that others put disks on. */
const datastore = 'LocalDS_0';

/** Returns what drover's settings have of the vCenter. */
export async function openNamespace(environment: Environment, namespace: string): Promise<object> {
  const { settings, witness, control, strangers } = vcenterOf(environment);
  await setUpVmNamespace(environment.api, witness, namespace);
  await control.reset();
  const stranger = strangerOf(namespace);
  const there = await witness.listVms(namespace);
  if (!there.some(({ name }) => name === stranger)) await makeVm(witness, namespace, stranger);
  await witness.makeDirectory({ datastore, path: volumesOf(namespace) });
  strangers.set(namespace, [await watchVm(witness, namespace, stranger)]);
  return { vsphere: settings };
}

/** A VM that another client has made there. */
export async function makeVm(witness: VcenterWitness, namespace: string, name: string): Promise<void> {
  const pool = `${inventory.resourcePool}/${namespace}`;
  await witness.cloneVm({ from: inventory.template, to: `${inventory.vmFolder}/${namespace}/${name}`, pool });
}

/** How a VM that is not drover's is now, to be compared with later. */
export async function watchVm(witness: VcenterWitness, namespace: string, name: string) {
  const read = async (): Promise<string | null> => {
    const vm = (await witness.listVms(namespace)).find((one) => one.name === name);
    return vm === undefined ? null : JSON.stringify(vm);
  };
  return { what: `VM ${namespace}/${name}`, before: (await read()) ?? '', read };
}

/** Attaches a disk that was not made with the VM, and watches over its file. */
export async function attachDisk({ witness, strangers }: Vcenter, namespace: string, name: string): Promise<void> {
  const file = `disk-${String(labClock().now())}`;
  const folder = volumesOf(namespace);
  await witness.attachNewDisk(`${inventory.vmFolder}/${namespace}/${name}`, {
    datastore,
    path: `${folder}/${file}`,
    sizeMiB: 1,
  });
  const read = async (): Promise<string | null> =>
    (await witness.listFiles({ datastore, path: folder })).includes(`${file}.vmdk`) ? 'there' : null;
  strangers.get(namespace)?.push({ what: `disk ${folder}/${file}.vmdk`, before: 'there', read });
}

/** As the namespace is before a scenario: the VM that is not drover's, and nothing else. */
export async function removeVms({ witness, control, strangers }: Vcenter, namespace: string): Promise<void> {
  // Whatever is on its way comes to its end first.
  await control.delayTasks({});
  for (const { name } of await witness.listVms(namespace))
    if (name !== strangerOf(namespace)) await witness.destroyVm(`${inventory.vmFolder}/${namespace}/${name}`);
  strangers.get(namespace)?.splice(1);
}

/** Paths of the folders and resource pools below those of the namespace. */
export async function listBranches(witness: VcenterWitness, namespace: string): Promise<string[]> {
  const roots = [`${inventory.vmFolder}/${namespace}`, `${inventory.resourcePool}/${namespace}`] as const;
  const [folders, pools] = await Promise.all([witness.find('folder', roots[0]), witness.find('pool', roots[1])]);
  return [...folders, ...pools].filter((path) => path !== roots[0] && path !== roots[1]);
}

/** What policies have made there. */
export async function removeBranches({ witness }: Vcenter, namespace: string): Promise<void> {
  for (const path of await listBranches(witness, namespace)) await witness.destroy(path);
}

const volumesOf = (namespace: string): string => `volumes-${namespace}`;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

const datastores = inventory.datastores.map((path) => ({ path, name: path.slice(path.lastIndexOf('/') + 1) }));

/** Folders of files that are called by an object's uid, on all datastores. */
export async function listFileFolders(
  witness: VcenterWitness,
): Promise<{ datastore: string; folder: string; path: string }[]> {
  const found = datastores.map(async ({ path, name }) => {
    const names = await witness.listFiles({ datastore: name, path: '' });
    return names
      .filter((one) => uuid.test(one))
      .map((folder) => ({ datastore: name, folder, path: `${path}/${folder}` }));
  });
  return (await Promise.all(found)).flat();
}

/** Whatever a scenario has left. No VM may be there any more. */
export async function removeFileFolders(witness: VcenterWitness): Promise<void> {
  for (const { datastore: at, folder } of await listFileFolders(witness))
    await witness.removeFiles({ datastore: at, path: folder });
}
