import type { FileOperation } from '../../../contracts/virtual-machine/cached-files.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Tools } from '../dependencies.ts';
import { owner } from '../../../test/fixtures/activities/vsphere.ts';
import { submitFileOperation } from './submit-file-operation.ts';

const notFound = droverFailure('VsphereObjectNotFound', 'FileNotFound');

interface Vcenter {
  /** Names of disks that are there. */
  disks?: string[];
  /** The folder is there. */
  hasFolder?: boolean;
  /** The datastore is gone; or it has no folders. */
  datastore?: 'gone' | 'vsan';
  /** A VM of the datastore: the path of its configuration, and of a disk. */
  vm?: { vmx?: string; disk?: string };
  /** Names of all files in the folder; null: there is no folder. */
  files?: string[] | null;
}

const vmsOf = (vm: Vcenter['vm']): object[] =>
  vm === undefined
    ? []
    : [
        {
          ref: { type: 'VirtualMachine', value: 'vm-7' },
          properties: {
            name: 'db',
            ...(vm.vmx !== undefined && { 'config.files.vmPathName': vm.vmx }),
            ...(vm.disk !== undefined && {
              'layoutEx.file': [
                {
                  $type: 'VirtualMachineFileLayoutExFileInfo',
                  key: 1,
                  name: vm.disk,
                  type: 'diskDescriptor',
                  size: 1,
                },
              ],
            }),
          },
        },
      ];

/** What vCenter was asked to change, and what came of it. */
async function ask(
  operation: FileOperation,
  { disks = [], hasFolder = false, datastore, vm, files = [] }: Vcenter = {},
) {
  const asked: string[] = [];
  const gateway = {
    vcenter: 'lab',
    manager: (name: string) => Promise.resolve({ type: 'Manager', value: name }),
    retrieve: ({ propSet: [asks] }: { propSet: { type: string }[] }) =>
      Promise.resolve(
        asks?.type === 'VirtualMachine'
          ? vmsOf(vm)
          : asks?.type === 'Task'
            ? [{ properties: { 'info.result': { file: (files ?? []).map((path) => ({ path })) } } }]
            : datastore === 'gone'
              ? []
              : [
                  {
                    properties: {
                      name: 'fast',
                      browser: { type: 'HostDatastoreBrowser', value: 'browser-1' },
                      'capability.topLevelDirectoryCreateSupported': datastore !== 'vsan',
                    },
                  },
                ],
      ),
    readTask: () => Promise.resolve(files === null ? { state: 'error', failure: notFound } : { state: 'success' }),
    async call(method: string, _self: object, { name }: { name: string }) {
      if (method === 'QueryVirtualDiskUuid') return disks.includes(name) ? 'uuid' : Promise.reject(notFound);
      asked.push(`${method} ${name}`);
      return hasFolder ? Promise.reject(droverFailure('VirtualMachineNameTaken', 'FileAlreadyExists')) : undefined;
    },
    async submit(
      method: string,
      _self: object,
      args: Partial<Record<'sourceName' | 'destName' | 'destinationName' | 'name', string>>,
    ) {
      if (method === 'SearchDatastore_Task') return 'task-0';
      asked.push(
        [method, args.sourceName, args.destName ?? args.destinationName, args.name]
          .filter((word) => word !== undefined)
          .join(' '),
      );
      return 'task-1';
    },
  };
  const tools = {
    gateway,
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
    clock: { now: () => 0, monotonicMs: () => 0 },
    scope: { signal: new AbortController().signal, run: null },
  } as unknown as Tools;
  const place = { datacenter: 'datacenter-1', datastore: 'datastore-1', folder: 'u' };
  const result = await submitFileOperation(tools, { owner, cause: 'spec', place, operation }).then(
    (task) => task?.taskId ?? null,
    (failure: unknown) => (failure as { type: string }).type,
  );
  return { result, asked };
}

const copy: FileOperation = { kind: 'copyDisk', from: '[fast] cache/a.vmdk', to: 'disk-0.vmdk' };
const keep: FileOperation = { kind: 'keepDisk', to: 'disk-0.vmdk' };
const remove: FileOperation = { kind: 'removeFolder' };
const copied = ['MakeDirectory [fast] u', 'CopyVirtualDisk_Task [fast] cache/a.vmdk [fast] u/disk-0.part.vmdk'];

test.each<[string, FileOperation, Vcenter | undefined, string | null, string[]]>([
  ['a disk is copied under another name, into a folder that is made', copy, undefined, 'task-1', copied],
  ['or is there', copy, { hasFolder: true }, 'task-1', copied],
  ['half a copy does not count', copy, { disks: ['[fast] u/disk-0.part.vmdk'] }, 'task-1', copied],
  ['a whole one does', copy, { disks: ['[fast] u/disk-0.vmdk'] }, null, []],
  [
    'a whole copy gets its name',
    keep,
    undefined,
    'task-1',
    ['MoveVirtualDisk_Task [fast] u/disk-0.part.vmdk [fast] u/disk-0.vmdk'],
  ],
  ['once', keep, { disks: ['[fast] u/disk-0.vmdk'] }, null, []],
  [
    'any other file is copied as it is',
    { kind: 'copyOther', from: '[fast] cache/a.nvram', to: 'web.nvram' },
    undefined,
    'task-1',
    ['MakeDirectory [fast] u', 'CopyDatastoreFile_Task [fast] cache/a.nvram [fast] u/web.nvram'],
  ],
  [
    'a datastore without folders is refused before anything is asked of it',
    copy,
    { datastore: 'vsan' },
    'VsphereNotSupported',
    [],
  ],
  ['one that is gone, too', copy, { datastore: 'gone' }, 'VsphereObjectNotFound', []],
  ['the folder is removed', remove, undefined, 'task-1', ['DeleteDatastoreFile_Task [fast] u']],
  [
    'also where none can have been made: a deletion does not hang there',
    remove,
    { datastore: 'vsan' },
    'task-1',
    ['DeleteDatastoreFile_Task [fast] u'],
  ],
  [
    'with all that was copied',
    remove,
    { files: ['web.nvram', 'disk-0.vmdk', 'disk-0-flat.vmdk', 'disk-1.part.vmdk', 'disk-1.part-flat.vmdk'] },
    'task-1',
    ['DeleteDatastoreFile_Task [fast] u'],
  ],
  [
    'with the child of a linked disk',
    remove,
    { files: ['disk-0.vmdk', 'disk-0-sesparse.vmdk', 'disk-1-delta.vmdk'] },
    'task-1',
    ['DeleteDatastoreFile_Task [fast] u'],
  ],
  ['not with a VM that is not registered', remove, { files: ['disk-0.vmdk', 'web.vmx'] }, 'VirtualMachineNotOwned', []],
  ['nor with a disk that was not copied', remove, { files: ['web.vmdk'] }, 'VirtualMachineNotOwned', []],
  ['one that is not there is well', remove, { files: null }, null, []],
  ['of a datastore that is gone nothing is left', remove, { datastore: 'gone' }, null, []],
])('%s', async (_, operation, vcenter, result, asked) => {
  expect(await ask(operation, vcenter)).toEqual({ result, asked });
});

test.each<[what: string, vm: NonNullable<Vcenter['vm']>, result: string]>([
  ['no VM has files in it', { vmx: '[fast] db/db.vmx', disk: '[fast] u-2/db.vmdk' }, 'task-1'],
  ['a VM lies in it', { vmx: '[fast] u/web.vmx' }, 'VirtualMachineNotOwned'],
  ['a VM has a disk in it', { vmx: '[fast] db/db.vmx', disk: '[fast] u/disk-0.vmdk' }, 'VirtualMachineNotOwned'],
  ['it is not known which files a VM has', {}, 'VirtualMachineStateRefused'],
])('a folder is removed where %s', async (_, vm, result) => {
  const is = await ask(remove, { vm });
  expect(is).toEqual({ result, asked: result === 'task-1' ? ['DeleteDatastoreFile_Task [fast] u'] : [] });
});
