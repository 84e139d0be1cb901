import { z } from 'zod';

import { datastoreNameOf } from '../../../contracts/agent-pool/iso.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { DatastoreHttp, FileContent } from '../../vsphere/datastore-http.ts';
import { makeFolder } from '../../vsphere/mutations/submit-file-operation.ts';
import { traversal } from '../../vsphere/properties.ts';
import { endOfTask } from '../../vsphere/tasks/end-of-task.ts';
import { readFoundFiles } from '../../vsphere/tasks/found-files.ts';
import type { VcenterGateway } from '../../vsphere/types.ts';
import { isReference, type ManagedObjectReference } from '../../vsphere/wire/values.ts';

/** Files in one datastore, by paths without a slash at their ends. */
export interface IsoStore {
  /** vCenter, datacenter and datastore, for people and to be compared. */
  where: string;
  /** `[datastore] path`, as drives of VMs name it. */
  nameOf(path: string): string;
  /** Its size in bytes; null: it is not there. */
  find(path: string): Promise<number | null>;
  /**
   * Puts a file there, under its name when all of it is there.
   *
   * @param part its name until then, in the same folder: of who puts it there, as two may do so at once
   * @returns false where it was there already, or another was faster
   */
  place(file: { path: string; part: string }, content: FileContent): Promise<boolean>;
  /** One that is not there is well. */
  remove(path: string): Promise<void>;
}

export interface StoreTools {
  gateway: VcenterGateway;
  http: DatastoreHttp;
  clock: Clock;
  signal: AbortSignal;
}

const datastoreSchema = z.object({ name: z.string(), browser: z.custom<ManagedObjectReference>(isReference) });

/** @throws VsphereObjectNotFound where there is no such datacenter or datastore */
export async function openIsoStore(
  tools: StoreTools,
  place: { datacenter: string; datastore: string },
): Promise<IsoStore> {
  const { gateway, http, signal } = tools;
  const datacenter = place.datacenter.replaceAll(/^\/+|\/+$/gu, '');
  const datacenterRef = await gateway.findByPath(`/${datacenter}`, signal);
  if (datacenterRef?.type !== 'Datacenter')
    throw droverFailure('VsphereObjectNotFound', `vCenter ${gateway.vcenter} has no datacenter ${datacenter}`);
  const { name: datastore, browser } = await findDatastore(gateway, datacenterRef, place.datastore, signal);
  const nameOf = (path: string): string => `[${datastore}] ${path}`;

  const find: IsoStore['find'] = async (path) => {
    const [folder, name] = split(path);
    // A pattern, of which hexadecimal digits have nothing.
    const searchSpec = {
      matchPattern: [name],
      details: { fileType: false, fileSize: true, modification: false, fileOwner: false },
    };
    const request = { datastorePath: nameOf(folder), searchSpec };
    try {
      const taskId = await gateway.submit('SearchDatastore_Task', browser, request, signal);
      await endOfTask(tools, taskId, `search of ${nameOf(path)}`);
      return await readFoundFile(gateway, taskId, nameOf(path), signal);
    } catch (failure) {
      // There is not even the folder.
      if (failureCode(failure) === 'VsphereObjectNotFound') return null;
      throw failure;
    }
  };
  const files = (): Promise<ManagedObjectReference> => gateway.manager('fileManager', signal);
  const remove: IsoStore['remove'] = async (path) => {
    try {
      const request = { name: nameOf(path), datacenter: datacenterRef };
      const taskId = await gateway.submit('DeleteDatastoreFile_Task', await files(), request, signal);
      await endOfTask(tools, taskId, `deletion of ${nameOf(path)}`);
    } catch (failure) {
      if (failureCode(failure) !== 'VsphereObjectNotFound') throw failure;
    }
  };
  const move = async (from: string, to: string): Promise<boolean> => {
    try {
      const taskId = await gateway.submit(
        'MoveDatastoreFile_Task',
        await files(),
        {
          sourceName: nameOf(from),
          sourceDatacenter: datacenterRef,
          destinationName: nameOf(to),
          destinationDatacenter: datacenterRef,
          force: false,
        },
        signal,
      );
      await endOfTask(tools, taskId, `move of ${nameOf(from)}`);
      return true;
    } catch (failure) {
      // FileAlreadyExists.
      if (failureCode(failure) !== 'VirtualMachineNameTaken') throw failure;
      return false;
    }
  };
  const isThere = async (path: string, sizeBytes: number): Promise<boolean> => {
    const there = await find(path);
    if (there !== null && there !== sizeBytes)
      throw droverFailure(
        'IsoRefused',
        `${nameOf(path)} of vCenter ${gateway.vcenter} has ${there} bytes, and what it is named after has ${sizeBytes}: remove it`,
      );
    return there !== null;
  };

  return {
    where: `${gateway.vcenter} /${datacenter} [${datastore}]`,
    nameOf,
    find,
    remove,
    place: async ({ path, part }, content) => {
      if (await isThere(path, content.sizeBytes)) return false;
      const [folder] = split(path);
      if (folder !== '') await makeFolder({ gateway, scope: tools }, datacenterRef.value, nameOf(folder));
      await http.put({ datacenter, datastore, path: part }, content, signal);
      const arrived = await find(part);
      if (arrived !== content.sizeBytes)
        throw droverFailure(
          'VsphereFailed',
          `vCenter ${gateway.vcenter} took ${content.sizeBytes} bytes for ${nameOf(part)}, and has ${arrived ?? 'no'} bytes there`,
        );
      if (await move(part, path)) return true;
      await remove(part);
      if (!(await isThere(path, content.sizeBytes)))
        throw droverFailure(
          'VsphereFailed',
          `vCenter ${gateway.vcenter} has a file ${nameOf(path)}, and does not list it`,
        );
      return false;
    },
  };
}

/**
 * What a search for a file has found.
 *
 * @param file `[datastore] folder/name`
 * @returns its size in bytes; null: it is not there
 */
export async function readFoundFile(
  gateway: Pick<VcenterGateway, 'vcenter' | 'retrieve'>,
  taskId: string,
  file: string,
  signal: AbortSignal,
): Promise<number | null> {
  const name = file.replace(/^.*(?:\/|\] )/u, '');
  const there = (await readFoundFiles(gateway, taskId, file, signal)).find(({ path }) => path === name);
  if (there === undefined) return null;
  if (there.fileSize === undefined)
    throw droverFailure('AnswerMalformed', `vCenter ${gateway.vcenter} does not say whether ${file} is there`);
  return there.fileSize;
}

/** The datastore of that name, in whichever folder or cluster it is. */
async function findDatastore(
  gateway: VcenterGateway,
  datacenter: ManagedObjectReference,
  name: string,
  signal: AbortSignal,
): Promise<z.output<typeof datastoreSchema>> {
  const objects = await gateway.retrieve(
    {
      propSet: [{ type: 'Datastore', pathSet: ['name', 'browser'] }],
      objectSet: [{ obj: datacenter, skip: true, selectSet: [traversal('Datacenter', 'datastore')] }],
    },
    signal,
  );
  const last = datastoreNameOf(name);
  for (const { properties } of objects) {
    const read = datastoreSchema.safeParse(properties).data;
    if (read?.name === last) return read;
  }
  throw droverFailure(
    'VsphereObjectNotFound',
    `vCenter ${gateway.vcenter} has no datastore ${last} in that datacenter`,
  );
}

const split = (path: string): [folder: string, name: string] => {
  const at = path.lastIndexOf('/');
  return at < 0 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
};
