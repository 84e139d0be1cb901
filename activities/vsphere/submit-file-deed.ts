import type { FileDeed, FilePlace } from '../../contracts/cached-files.ts';
import type { OwnerOfVm, SubmittedTask } from '../../contracts/virtual-machine-activities.ts';
import { failureCode } from '../../runtime/failure.ts';
import { topFolderPath } from './datastore-name.ts';
import { mutateByTask, type Tools } from './dependencies.ts';
import { datacenterRef } from './references.ts';

type Reading = Pick<Tools, 'gateway' | 'scope'>;

/** A copy that is not complete is called so: `disk-0.part.vmdk`. */
const partOf = (name: string): string => name.replace(/\.vmdk$/u, '.part.vmdk');

/**
 * One deed on the files of a VM that is being made.
 *
 * @throws VsphereNotSupported where the datastore has no folders of its own
 * @see vSphere API, VirtualDiskManager and FileManager
 */
export async function submitFileDeed(tools: Tools, request: OwnerOfVm & { place: FilePlace; deed: FileDeed }): Promise<SubmittedTask | null> {
  const { gateway, scope: { signal } } = tools;
  const { place, deed } = request;
  if (await isFileDone(tools, place, deed)) return null;
  const folder = await topFolderPath(gateway, place.datastore, place.folder, signal);
  const datacenter = datacenterRef(place.datacenter);
  const [files, disks] = await Promise.all([gateway.manager('fileManager', signal), gateway.manager('virtualDiskManager', signal)]);
  const path = (name: string): string => `${folder}/${name}`;
  const submit = async (): Promise<string> => {
    switch (deed.file) {
      case 'copyDisk': {
        await makeFolder(tools, place);
        const destSpec = { $type: 'VirtualDiskSpec', diskType: 'thin', adapterType: 'lsiLogic' } as const;
        // Over what an attempt before has left; while that still copies, the file is locked.
        return gateway.submit('CopyVirtualDisk_Task', disks, { sourceName: deed.from, sourceDatacenter: datacenter, destName: path(partOf(deed.to)), destDatacenter: datacenter, destSpec, force: true }, signal);
      }
      case 'keepDisk':
        return gateway.submit('MoveVirtualDisk_Task', disks, { sourceName: path(partOf(deed.to)), sourceDatacenter: datacenter, destName: path(deed.to), destDatacenter: datacenter, force: false }, signal);
      case 'copyOther':
        await makeFolder(tools, place);
        return gateway.submit('CopyDatastoreFile_Task', files, { sourceName: deed.from, sourceDatacenter: datacenter, destinationName: path(deed.to), destinationDatacenter: datacenter, force: true }, signal);
      case 'removeFolder':
        return gateway.submit('DeleteDatastoreFile_Task', files, { name: folder, datacenter }, signal);
    }
  };
  const taskId = await mutateByTask(tools, { action: 'submitFileDeed', owner: request, before: null, after: { vcenter: gateway.vcenter, folder, ...deed }, submit });
  return { taskId, purpose: { kind: 'files', place, deed } };
}

/** Whether it has been done: a disk has its own name when all of it is there. Of what is overwritten, nobody knows. */
export async function isFileDone(tools: Reading, place: FilePlace, deed: FileDeed): Promise<boolean> {
  if (deed.file !== 'copyDisk' && deed.file !== 'keepDisk') return false;
  const { gateway, scope: { signal } } = tools;
  const name = `${await topFolderPath(gateway, place.datastore, place.folder, signal)}/${deed.to}`;
  try {
    await gateway.call('QueryVirtualDiskUuid', await gateway.manager('virtualDiskManager', signal), { name, datacenter: datacenterRef(place.datacenter) }, signal);
    return true;
  } catch (failure) {
    if (failureCode(failure) === 'VsphereObjectNotFound') return false;
    throw failure;
  }
}

/** Makes the folder, if it is not there. */
export async function makeFolder({ gateway, scope: { signal } }: Reading, { datacenter, datastore, folder }: FilePlace): Promise<void> {
  const name = await topFolderPath(gateway, datastore, folder, signal);
  try {
    await gateway.call('MakeDirectory', await gateway.manager('fileManager', signal), { name, datacenter: datacenterRef(datacenter), createParentDirectories: true }, signal);
  } catch (failure) {
    // FileAlreadyExists.
    if (failureCode(failure) !== 'VirtualMachineNameTaken') throw failure;
  }
}
