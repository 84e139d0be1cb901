import { z } from 'zod';

import type { MutationRequest, SubmittedTask } from '../../../contracts/virtual-machine/activities.ts';
import type { FileOperation, FilePlace } from '../../../contracts/virtual-machine/cached-files.ts';
import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/metadata.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { traversal } from '../properties.ts';
import { endOfTask } from '../tasks/end-of-task.ts';
import { readFoundFiles } from '../tasks/found-files.ts';
import type { VcenterGateway } from '../types.ts';
import { vim } from '../wire/kinds.ts';
import { datacenterRef, datastoreRef, isReference } from '../wire/values.ts';

type Reading = Pick<Tools, 'gateway' | 'scope'>;
type FileRequest = MutationRequest & { place: FilePlace; operation: FileOperation };

/** A copy that is not complete is called so: `disk-0.part.vmdk`. */
const partOf = (name: string): string => name.replace(/\.vmdk$/u, '.part.vmdk');

/**
 * One operation on the files of a VM that is being made; null: it is done.
 *
 * @throws VsphereNotSupported where the datastore has no folders of files
 * @see vSphere API, VirtualDiskManager and FileManager
 */
export async function submitFileOperation(tools: Tools, request: FileRequest): Promise<SubmittedTask | null> {
  const { place, operation } = request;
  if (operation.kind !== 'removeFolder') {
    const folder = await pathOf(tools, place);
    return (await isDoneIn(tools, folder, place, operation)) ? null : begin(tools, request, folder);
  }
  try {
    const { name, browser } = await readDatastore(tools.gateway, place.datastore, tools.scope.signal);
    const folder = `[${name}] ${place.folder}`;
    await checkUnused(tools, place.datastore, folder);
    await checkOnlyCopies(tools, browser, folder);
    return await begin(tools, request, folder);
  } catch (failure) {
    // Of a datastore that is gone, or never made a folder, there is nothing to remove.
    if (failureCode(failure) === 'VsphereObjectNotFound') return null;
    throw failure;
  }
}

const filesOfVm = z.object({
  name: z.string().default(''),
  'config.files.vmPathName': z.string().min(1),
  'layoutEx.file': z.array(vim('VirtualMachineFileLayoutExFileInfo')).default([]),
});

/**
 * Makes sure that no VM of the datastore has a file in a folder that is to be removed, of whichever owner.
 *
 * @throws VirtualMachineNotOwned; VirtualMachineStateRefused where vCenter does not say which files one has
 */
async function checkUnused({ gateway, scope: { signal } }: Reading, datastore: string, folder: string): Promise<void> {
  const read = await gateway.retrieve(
    {
      propSet: [{ type: 'VirtualMachine', pathSet: Object.keys(filesOfVm.shape) }],
      objectSet: [{ obj: datastoreRef(datastore), selectSet: [traversal('Datastore', 'vm')] }],
    },
    signal,
  );
  for (const { ref, properties } of read.filter((one) => one.ref.type === 'VirtualMachine')) {
    const vm = filesOfVm.safeParse(properties);
    if (!vm.success)
      throw droverFailure(
        'VirtualMachineStateRefused',
        `vCenter ${gateway.vcenter} does not say which files ${ref.value} has, so that ${folder} is not removed`,
      );
    const { name, 'config.files.vmPathName': vmx, 'layoutEx.file': files } = vm.data;
    if ([vmx, ...files.map((file) => file.name)].some((path) => path.startsWith(`${folder}/`)))
      throw droverFailure(
        'VirtualMachineNotOwned',
        `${name} (${ref.value}) has files in ${folder}, so that the folder is not removed. ${leaveFolder}`,
      );
  }
}

const leaveFolder = `Take ${virtualMachineAnnotations.copies} off the object, which leaves the folder as it is, and \`drover retry\` it`;

/** What `planCopies` puts there, and the extents of the disks. */
const copiedFile = /^(?:disk-\d+(?:\.part)?(?:-(?:flat|delta|sesparse))?\.vmdk|.+\.nvram)$/u;

/**
 * Makes sure that there is nothing but copies for a VM that was not made: a VM that no vCenter has registered, or another
 * one has, is known by its files only.
 *
 * @throws VirtualMachineNotOwned; VsphereObjectNotFound where there is no folder
 */
async function checkOnlyCopies(tools: Tools, browser: unknown, folder: string): Promise<void> {
  const {
    gateway,
    clock,
    scope: { signal },
  } = tools;
  if (!isReference(browser))
    throw droverFailure(
      'AnswerMalformed',
      `vCenter ${gateway.vcenter} has no browser of the datastore, so that ${folder} is not removed`,
    );
  const searchSpec = {
    matchPattern: ['*'],
    details: { fileType: false, fileSize: false, modification: false, fileOwner: false },
  };
  const taskId = await gateway.submit('SearchDatastore_Task', browser, { datastorePath: folder, searchSpec }, signal);
  await endOfTask({ gateway, clock, signal }, taskId, `search of ${folder}`);
  const others = (await readFoundFiles(gateway, taskId, folder, signal))
    .map(({ path }) => path)
    .filter((path) => !copiedFile.test(path));
  if (others.length > 0)
    throw droverFailure(
      'VirtualMachineNotOwned',
      `${folder} has files that were not copied for the object, such as ${others[0]}: they may be of a VM that is not registered, so that the folder is not removed. ${leaveFolder}`,
    );
}

async function begin(tools: Tools, request: FileRequest, folder: string): Promise<SubmittedTask> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  const { place, operation } = request;
  const datacenter = datacenterRef(place.datacenter);
  const [files, disks] = await Promise.all([
    gateway.manager('fileManager', signal),
    gateway.manager('virtualDiskManager', signal),
  ]);
  const path = (name: string): string => `${folder}/${name}`;
  const submit = async (): Promise<string> => {
    switch (operation.kind) {
      case 'copyDisk': {
        await makeFolder(tools, place.datacenter, folder);
        const { provisioning = 'thin' } = operation;
        const destSpec = {
          $type: 'VirtualDiskSpec',
          diskType: diskTypes[provisioning],
          adapterType: 'lsiLogic',
        } as const;
        // Over what an attempt before has left; while that still copies, the file is locked.
        return gateway.submit(
          'CopyVirtualDisk_Task',
          disks,
          {
            sourceName: operation.from,
            sourceDatacenter: datacenter,
            destName: path(partOf(operation.to)),
            destDatacenter: datacenter,
            destSpec,
            force: true,
          },
          signal,
        );
      }
      case 'keepDisk':
        return gateway.submit(
          'MoveVirtualDisk_Task',
          disks,
          {
            sourceName: path(partOf(operation.to)),
            sourceDatacenter: datacenter,
            destName: path(operation.to),
            destDatacenter: datacenter,
            force: false,
          },
          signal,
        );
      case 'copyOther':
        await makeFolder(tools, place.datacenter, folder);
        return gateway.submit(
          'CopyDatastoreFile_Task',
          files,
          {
            sourceName: operation.from,
            sourceDatacenter: datacenter,
            destinationName: path(operation.to),
            destinationDatacenter: datacenter,
            force: true,
          },
          signal,
        );
      case 'removeFolder':
        return gateway.submit('DeleteDatastoreFile_Task', files, { name: folder, datacenter }, signal);
    }
  };
  const taskId = await mutateVmByTask(tools, {
    action: 'submitFileOperation',
    request,
    before: null,
    after: { vcenter: gateway.vcenter, folder, ...operation },
    submit,
  });
  return { taskId, purpose: { kind: 'files', place, operation } };
}

/**
 * Whether it has been done: a disk has its own name when all of it is there. Of files that are overwritten or removed
 * it cannot be known.
 */
export const isFileDone = async (tools: Reading, place: FilePlace, operation: FileOperation): Promise<boolean> =>
  isOfDisk(operation) && isDoneIn(tools, await pathOf(tools, place), place, operation);

/** vim25’s names. */
const diskTypes = { thin: 'thin', thick: 'preallocated', eagerZeroedThick: 'eagerZeroedThick' } as const;

const isOfDisk = (operation: FileOperation): operation is Extract<FileOperation, { kind: 'copyDisk' | 'keepDisk' }> =>
  operation.kind === 'copyDisk' || operation.kind === 'keepDisk';

async function isDoneIn(
  { gateway, scope: { signal } }: Reading,
  folder: string,
  { datacenter }: FilePlace,
  operation: FileOperation,
): Promise<boolean> {
  if (!isOfDisk(operation)) return false;
  try {
    await gateway.call(
      'QueryVirtualDiskUuid',
      await gateway.manager('virtualDiskManager', signal),
      { name: `${folder}/${operation.to}`, datacenter: datacenterRef(datacenter) },
      signal,
    );
    return true;
  } catch (failure) {
    if (failureCode(failure) === 'VsphereObjectNotFound') return false;
    throw failure;
  }
}

/**
 * Makes the folder, if it is not there.
 *
 * @param path `[datastore] folder`
 */
export async function makeFolder(
  { gateway, scope: { signal } }: { gateway: VcenterGateway; scope: { signal: AbortSignal } },
  datacenter: string,
  path: string,
): Promise<void> {
  try {
    await gateway.call(
      'MakeDirectory',
      await gateway.manager('fileManager', signal),
      { name: path, datacenter: datacenterRef(datacenter), createParentDirectories: true },
      signal,
    );
  } catch (failure) {
    // FileAlreadyExists.
    if (failureCode(failure) !== 'VirtualMachineNameTaken') throw failure;
  }
}

const pathOf = ({ gateway, scope: { signal } }: Reading, { datastore, folder }: FilePlace): Promise<string> =>
  topFolderPath(gateway, datastore, folder, signal);

const datastorePaths = {
  name: 'name',
  browser: 'browser',
  hasFolders: 'capability.topLevelDirectoryCreateSupported',
} as const;

type DatastoreGateway = Pick<VcenterGateway, 'vcenter' | 'retrieve'>;

async function readDatastore(
  gateway: DatastoreGateway,
  id: string,
  signal: AbortSignal,
): Promise<{ name: string; browser: unknown; hasFolders: boolean }> {
  const [object] = await gateway.retrieve(
    {
      propSet: [{ type: 'Datastore', pathSet: Object.values(datastorePaths) }],
      objectSet: [{ obj: datastoreRef(id) }],
    },
    signal,
  );
  const name = z.string().safeParse(object?.properties[datastorePaths.name]);
  if (!name.success) throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no datastore ${id}`);
  return {
    name: name.data,
    browser: object?.properties[datastorePaths.browser],
    hasFolders: object?.properties[datastorePaths.hasFolders] !== false,
  };
}

/** What paths of files begin with. @throws VsphereObjectNotFound */
export const readDatastoreName = async (gateway: DatastoreGateway, id: string, signal: AbortSignal): Promise<string> =>
  (await readDatastore(gateway, id, signal)).name;

/**
 * Path of a folder at the top of a datastore, such as `[fast] web`.
 *
 * @throws VsphereObjectNotFound; VsphereNotSupported where the datastore (vSAN) makes no folders there
 */
export async function topFolderPath(
  gateway: DatastoreGateway,
  id: string,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const { name, hasFolders } = await readDatastore(gateway, id, signal);
  if (!hasFolders)
    throw droverFailure(
      'VsphereNotSupported',
      `Datastore ${name} of vCenter ${gateway.vcenter} has no folders of files, as vSAN: a VM there cannot be made from cached files`,
    );
  return `[${name}] ${folder}`;
}
