import { AbsentError } from '../absent-error.ts';
import { govc, govcJson } from './govc.ts';
import type { VsphereHandle } from './handle.ts';
import { inventory } from './handle.ts';
import { type InventoryLife, readInventoryJournal } from './journal.ts';
import { type Library, makeLibrary } from './library.ts';
import { type ListedVm, listVms } from './list-vms.ts';
import { readTasks, type WitnessedTask } from './read-tasks.ts';

/** A VM in vCenter's own terms, as far as tests read it: names and units of vim25. */
export interface DescribedVm {
  /** `vm-61`. */
  id: string;
  name: string;
  runtime: { powerState: string; host?: { value: string } };
  guest: { hostName?: string; ipAddress?: string };
  config: {
    instanceUuid: string;
    uuid: string;
    changeVersion: string;
    annotation: string;
    guestId: string;
    firmware: string;
    managedBy?: object;
    files: { vmPathName: string };
    /** Keys of devices, first first. */
    bootOptions?: { bootOrder?: { deviceKey?: number }[] };
    hardware: { numCPU: number; memoryMB: number; device: DescribedDevice[] };
    extraConfig: { key: string; value: string }[];
    vAppConfig?: { property?: { id: string; label?: string; type?: string; value?: string }[] };
    tools?: { pendingCustomization?: string };
  };
}

export interface DescribedDevice {
  key: number;
  controllerKey?: number;
  unitNumber?: number;
  /** Of a disk only. */
  capacityInKB?: number;
  macAddress?: string;
  /** Of a controller only. */
  busNumber?: number;
  /** Of a SCSI controller only. */
  sharedBus?: string;
  backing?: { fileName?: string; uuid?: string; parent?: { fileName: string } };
}

/** A datastore by its name, and a path in it without a leading slash. */
export interface DatastorePath {
  /** `LocalDS_0`. */
  datastore: string;
  /** `cache/disk-0.vmdk`; empty: the root. */
  path: string;
}

/**
 * Another client of the same vCenter: what users and judges do and read there, past drover. The lab's is `govc`; the
 * simulator has one that works on the model, at once and without faults. Objects are named by inventory paths:
 * `/DC0/vm/team-a/web`.
 *
 * Every change has taken effect when its promise resolves. What vCenter refuses is thrown with its message.
 */
export interface VcenterWitness {
  /** Id of the vCenter itself: `about.instanceUuid`. */
  managerId(): Promise<string>;
  /** @throws AbsentError where there is no such object */
  idOf(path: string): Promise<string>;

  /** VMs in a folder and below it. @param folder a child of the datacenter's VM folder; default: all VMs */
  listVms(folder?: string): Promise<ListedVm[]>;
  /** Paths of VMs, folders or resource pools below a path, the object at the path itself included. */
  find(kind: 'vm' | 'folder' | 'pool', below: string): Promise<string[]>;
  /** Null: there is none. */
  describeVm(path: string): Promise<DescribedVm | null>;
  /** An empty VM, powered off. Returns its id. */
  createVm(path: string): Promise<string>;
  /** Powered off, on the first datastore. Returns its id. */
  cloneVm(clone: { from: string; to: string; pool?: string }): Promise<string>;
  changeVm(path: string, change: { memoryMiB?: number; extraConfig?: Readonly<Record<string, string>> }): Promise<void>;
  setPower(path: string, state: 'on' | 'off'): Promise<void>;
  /** A new disk in a folder that exists. */
  attachNewDisk(path: string, disk: DatastorePath & { sizeMiB: number }): Promise<void>;
  /**
   * A disk that is there, as the storage of persistent volumes does. Returns its UUID.
   * @param disk.controllerKey default: the first SCSI controller
   */
  attachDisk(path: string, disk: DatastorePath & AttachedHow): Promise<string>;
  /** Its file stays; well where it is not attached. */
  detachDisk(path: string, disk: DatastorePath): Promise<void>;
  /** Custom attributes by their names; an empty value clears one. */
  setAttributes(path: string, attributes: Readonly<Record<string, string>>): Promise<void>;
  createSnapshot(path: string, name: string): Promise<void>;
  removeSnapshots(path: string): Promise<void>;
  /** Powers it off first, and deletes its files. */
  destroyVm(path: string): Promise<void>;

  createFolder(path: string): Promise<void>;
  createPool(path: string): Promise<void>;
  describePool(path: string): Promise<{ cpuAllocation: Allocation; memoryAllocation: Allocation }>;
  /** A folder or a resource pool. */
  destroy(path: string): Promise<void>;
  rename(path: string, name: string): Promise<void>;
  move(path: string, folder: string): Promise<void>;

  /** Returns the id of the module. @param cluster the path of a cluster */
  createModule(cluster: string): Promise<string>;
  /** Ids of the modules of all clusters. */
  listModules(): Promise<string[]>;
  /** Ids of VMs. */
  listModuleMembers(module: string): Promise<string[]>;

  /** Returns its id. */
  createTag(name: string): Promise<string>;
  /** Names of those that are attached to a VM. */
  listTags(path: string): Promise<string[]>;

  /** Storage DRS of the lab’s datastore cluster. */
  setStorageDrs(isOn: boolean): Promise<void>;
  /** Those in no datastore cluster, with the most free space first. */
  listDatastores(): Promise<{ id: string; name: string; freeBytes: number }[]>;
  /** With its parents; may exist. */
  makeDirectory(at: DatastorePath): Promise<void>;
  /** Names of files and folders in a folder; empty where there is none. */
  listFiles(at: DatastorePath): Promise<string[]>;
  createDisk(at: DatastorePath & { sizeMiB: number }): Promise<void>;
  /** Within one datastore; replaces what is there. */
  copyFile(from: DatastorePath, to: string): Promise<void>;
  /** A file, or a folder with all that is in it; may be missing. */
  removeFiles(at: DatastorePath): Promise<void>;

  makeLibrary(name: string): Promise<Library>;
  /** @param item its name */
  removeLibraryItem(library: string, item: string): Promise<void>;

  /** The recent ones: at most 200. */
  readTasks(): Promise<WitnessedTask[]>;
  /** What there was, gone or not, since the vCenter was started, in order. */
  readJournal(): Promise<InventoryLife[]>;
}

/** By vim25's names. */
export interface AttachedHow {
  controllerKey?: number;
  /** Of govc's choice: the first that is free. */
  unitNumber?: number;
  diskMode?: string;
  sharing?: string;
}

export interface Allocation {
  reservation?: number;
  expandableReservation?: boolean;
  /** -1: none. */
  limit?: number;
}

const kinds = { vm: 'm', folder: 'f', pool: 'p' } as const;

/** The witness of the lab's vCenter. */
export function openGovcWitness(vsphere: VsphereHandle): VcenterWitness {
  const run = (...args: string[]): Promise<string> => govc(vsphere, ...args);
  const linesOf = (text: string): string[] =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  const idOf = async (path: string): Promise<string> => {
    const id = (await run('find', '-i', path, '-maxdepth', '0')).trim().split(':').at(-1) ?? '';
    if (id === '') throw new AbsentError(`vCenter has no ${path}`);
    return id;
  };
  const partsOf = (path: string): { parent: string; name: string } => {
    const at = path.lastIndexOf('/');
    return { parent: path.slice(0, at), name: path.slice(at + 1) };
  };
  const listFiles = async ({ datastore, path }: DatastorePath): Promise<string[]> => {
    try {
      return linesOf(await run('datastore.ls', '-ds', datastore, path));
    } catch (error) {
      if (/was not found|FileNotFound/u.test((error as Error).message)) return [];
      throw error;
    }
  };
  const describe = async (path: string): Promise<DescribedVm | null> => {
    const { virtualMachines } = await govcJson<{
      virtualMachines: null | (Omit<DescribedVm, 'id'> & { self: { value: string } })[];
    }>(vsphere, 'vm.info', '-e', path);
    const [vm] = virtualMachines ?? [];
    return vm === undefined ? null : { ...vm, id: vm.self.value };
  };
  const diskAt = async (path: string, { datastore, path: file }: DatastorePath): Promise<DescribedDevice | null> => {
    const fileName = `[${datastore}] ${file}`;
    const devices = (await describe(path))?.config.hardware.device ?? [];
    return devices.find(({ backing }) => backing?.fileName === fileName) ?? null;
  };
  return {
    async managerId() {
      const { about } = await govcJson<{ about: { instanceUuid: string } }>(vsphere, 'about');
      return about.instanceUuid;
    },
    idOf,
    listVms: (folder) => listVms(vsphere, folder),
    find: async (kind, below) => linesOf(await run('find', below, '-type', kinds[kind])),
    describeVm: describe,
    async createVm(path) {
      const { parent, name } = partsOf(path);
      const datastore = inventory.datastores[0];
      await run('vm.create', '-on=false', '-m', '64', '-ds', datastore, '-net', 'VM Network', '-folder', parent, name);
      return await idOf(path);
    },
    async cloneVm({ from, to, pool = inventory.resourcePool }) {
      const { parent, name } = partsOf(to);
      const place = ['-folder', parent, '-pool', pool, '-ds', inventory.datastores[0]];
      await run('vm.clone', '-vm', from, ...place, '-on=false', name);
      return await idOf(to);
    },
    async changeVm(path, { memoryMiB, extraConfig = {} }) {
      const options = Object.entries(extraConfig).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
      await run('vm.change', '-vm', path, ...(memoryMiB === undefined ? [] : ['-m', String(memoryMiB)]), ...options);
    },
    setPower: async (path, state) => void (await run('vm.power', `-${state}`, path)),
    async attachNewDisk(path, { datastore, path: file, sizeMiB }) {
      await run('vm.disk.create', '-vm', path, '-ds', datastore, '-name', file, '-size', `${sizeMiB}M`);
    },
    async attachDisk(path, { controllerKey, diskMode, sharing, ...disk }) {
      const names = linesOf(await run('device.ls', '-vm', path)).map((line) => line.split(/\s/u)[0] ?? '');
      const controller = names.find((name) => controllerKey !== undefined && name.endsWith(`-${controllerKey}`));
      await run(
        'vm.disk.attach',
        '-link=false',
        '-vm',
        path,
        '-ds',
        disk.datastore,
        '-disk',
        disk.path,
        ...(controller === undefined ? [] : ['-controller', controller]),
        ...(diskMode === undefined ? [] : ['-mode', diskMode]),
        ...(sharing === undefined ? [] : ['-sharing', sharing]),
      );
      return (await diskAt(path, disk))?.backing?.uuid ?? '';
    },
    async detachDisk(path, disk) {
      const found = await diskAt(path, disk);
      if (found === null) return;
      await run('device.remove', '-vm', path, '-keep', `disk-${found.controllerKey ?? 0}-${found.unitNumber ?? 0}`);
    },
    async setAttributes(path, attributes) {
      for (const [name, value] of Object.entries(attributes))
        await run('fields.set', '-add', '-type', 'VirtualMachine', name, value, path);
    },
    createSnapshot: async (path, name) => void (await run('snapshot.create', '-vm', path, name)),
    removeSnapshots: async (path) => void (await run('snapshot.remove', '-vm', path, '*')),
    destroyVm: async (path) => void (await run('vm.destroy', path)),

    createFolder: async (path) => void (await run('folder.create', path)),
    createPool: async (path) => void (await run('pool.create', path)),
    async describePool(path) {
      type Info = { resourcePools: { config: { cpuAllocation: Allocation; memoryAllocation: Allocation } }[] };
      const [pool] = (await govcJson<Info>(vsphere, 'pool.info', path)).resourcePools;
      if (pool === undefined) throw new AbsentError(`vCenter has no ${path}`);
      return pool.config;
    },
    destroy: async (path) => void (await run('object.destroy', path)),
    rename: async (path, name) => void (await run('object.rename', path, name)),
    move: async (path, folder) => void (await run('object.mv', path, folder)),

    createModule: async (cluster) => (await run('cluster.module.create', '-cluster', cluster)).trim(),
    async listModules() {
      return ((await govcJson<{ module: string }[] | null>(vsphere, 'cluster.module.ls')) ?? []).map(
        ({ module }) => module,
      );
    },
    async listModuleMembers(module) {
      const members = await govcJson<{ value: string }[] | null>(vsphere, 'cluster.module.ls', '-id', module);
      return (members ?? []).map(({ value }) => value);
    },

    async createTag(name) {
      await run('tags.category.create', name);
      return (await run('tags.create', '-c', name, name)).trim();
    },
    async listTags(path) {
      return (await govcJson<string[] | null>(vsphere, 'tags.attached.ls', '-r', path)) ?? [];
    },

    setStorageDrs: async (isOn) =>
      void (await run('datastore.cluster.change', `-drs-enabled=${String(isOn)}`, inventory.storagePod)),
    async listDatastores() {
      type Info = { datastores: { self: { value: string }; name: string; summary: { freeSpace: number } }[] };
      const { datastores } = await govcJson<Info>(vsphere, 'datastore.info', ...inventory.datastores);
      const listed = datastores.map(({ self, name, summary }) => ({
        id: self.value,
        name,
        freeBytes: summary.freeSpace,
      }));
      return listed.toSorted((one, other) => other.freeBytes - one.freeBytes);
    },
    makeDirectory: async ({ datastore, path }) => void (await run('datastore.mkdir', '-p', '-ds', datastore, path)),
    listFiles,
    async createDisk({ datastore, path, sizeMiB }) {
      await run('datastore.disk.create', '-ds', datastore, '-size', `${sizeMiB}M`, path);
    },
    copyFile: async ({ datastore, path }, to) =>
      void (await run('datastore.cp', '-f', '-t=false', '-ds', datastore, path, to)),
    removeFiles: async ({ datastore, path }) => void (await run('datastore.rm', '-f', '-ds', datastore, path)),

    makeLibrary: (name) => makeLibrary(vsphere, name),
    removeLibraryItem: async (library, item) => void (await run('library.rm', `/${library}/${item}`)),

    readTasks: () => readTasks(vsphere),
    readJournal: () => readInventoryJournal(vsphere),
  };
}
