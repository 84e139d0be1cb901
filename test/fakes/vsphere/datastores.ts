import { VsphereFault } from './fault.ts';
import type { EntityState, Managed, Model, Ref } from './model.ts';

/** What lies in a datastore. */
export type StoredFile = { kind: 'folder' } | { kind: 'file'; bytes: number } | StoredDisk;

export interface StoredDisk {
  kind: 'disk';
  capacityKiB: number;
  uuid: string;
  /** Path of the disk that it is linked to. */
  parent: string | undefined;
  /** A copy that is under way: vCenter has it locked. */
  isPartial?: boolean;
}

export interface DatastoreState extends EntityState {
  readonly summary: { accessible: boolean; freeSpace: number; maintenanceMode: string; url: string; capacity: number };
  capability: { topLevelDirectoryCreateSupported: boolean };
  browser: Ref;
  /** VMs that have files in it. */
  readonly vm: Ref[];
  host: object[];
  /** By path without a leading slash. */
  files: Map<string, StoredFile>;
}

const capacityBytes = 2 ** 50;
const kib = 1_024;

export function addDatastore(
  model: Model,
  {
    name,
    parent,
    hosts,
    own,
  }: { name: string; parent: Ref; hosts: readonly Ref[]; /** Its id. Default: the next. */ own?: string },
): Managed<DatastoreState> {
  const url = `ds:///vmfs/volumes/${own ?? model.uuid()}/`;
  const files: DatastoreState['files'] = new Map();
  const state: DatastoreState = {
    name,
    parent,
    get summary() {
      const used = [...files.values()].reduce(
        (sum, file) => sum + (file.kind === 'disk' ? file.capacityKiB * kib : file.kind === 'file' ? file.bytes : 0),
        0,
      );
      return {
        accessible: true,
        freeSpace: capacityBytes - used,
        maintenanceMode: 'normal',
        url,
        capacity: capacityBytes,
      };
    },
    capability: { topLevelDirectoryCreateSupported: true },
    get vm() {
      const isHere = (file: object): boolean => 'name' in file && String(file.name).startsWith(`[${name}] `);
      return model.vms().flatMap((vm) => (vm.state.layoutEx.file.some(isHere) ? [vm.ref] : []));
    },
    browser: { type: 'HostDatastoreBrowser', value: `datastoreBrowser-${name}` },
    host: hosts.map((key) => ({
      $type: 'DatastoreHostMount',
      key,
      mountInfo: { $type: 'HostMountInfo', accessMode: 'readWrite', mounted: true, accessible: true },
    })),
    files,
  };
  if (own === undefined) return model.add('Datastore', 'datastore-', state);
  const ref: Ref = { type: 'Datastore', value: `datastore-${own}` };
  model.addOnce(ref, state);
  return { ref, state };
}

/** `[LocalDS_0] web/disk.vmdk`. */
export const filePath = (datastore: string, path: string): string => `[${datastore}] ${path}`;

/** The files of all datastores, by paths as vCenter writes them. */
export interface Files {
  /** @throws InvalidDatastorePath, InvalidDatastore */
  resolve(text: string): { datastore: Managed<DatastoreState>; path: string };
  /** @throws FileNotFound; FileLocked for a copy that is under way */
  read(text: string): StoredFile;
  find(text: string): StoredFile | undefined;
  /** @throws FileNotFound where its folder is not there; FileAlreadyExists; FileLocked */
  write(text: string, file: StoredFile, options?: { replaces?: boolean }): void;
  /** @throws FileAlreadyExists; FileNotFound where parents are missing and are not to be made */
  makeDirectory(text: string, withParents: boolean): void;
  /** A file, or a folder with all that is in it. @throws FileNotFound, FileLocked */
  remove(text: string): void;
  /** Names of what lies in a folder; empty: there is none. */
  list(datastore: string, folder: string): string[];
}

/** @throws FileLocked */
function checkLock(file: StoredFile | undefined, text: string): void {
  if (file?.kind === 'disk' && file.isPartial === true) throw new VsphereFault('FileLocked', { file: text });
}

export function openFiles(datastores: readonly Managed<DatastoreState>[], changed: () => void): Files {
  const resolve: Files['resolve'] = (text) => {
    const [, name, path = ''] = /^\[([^\]]+)\] ?(.*)$/u.exec(text) ?? [];
    if (name === undefined) throw new VsphereFault('InvalidDatastorePath', { datastorePath: text });
    const datastore = datastores.find(({ state }) => state.name === name);
    if (datastore === undefined) throw new VsphereFault('InvalidDatastore', { name });
    return { datastore, path: path.replace(/^\/+|\/+$/gu, '') };
  };
  const find: Files['find'] = (text) => {
    const { datastore, path } = resolve(text);
    return path === '' ? { kind: 'folder' } : datastore.state.files.get(path);
  };
  const parentOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');
  return {
    resolve,
    find,
    read(text) {
      const found = find(text);
      if (found === undefined) throw new VsphereFault('FileNotFound', { file: text });
      checkLock(found, text);
      return found;
    },
    write(text, file, { replaces = false } = {}) {
      const { datastore, path } = resolve(text);
      const parent = parentOf(path);
      if (parent !== '' && datastore.state.files.get(parent)?.kind !== 'folder')
        throw new VsphereFault('FileNotFound', { file: text });
      const before = datastore.state.files.get(path);
      if (!replaces && before !== undefined) throw new VsphereFault('FileAlreadyExists', { file: text });
      checkLock(before, text);
      datastore.state.files.set(path, file);
      changed();
    },
    makeDirectory(text, withParents) {
      const { datastore, path } = resolve(text);
      if (find(text) !== undefined) throw new VsphereFault('FileAlreadyExists', { file: text });
      const parts = path.split('/');
      const parents = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
      const missing = parents.filter((one) => !datastore.state.files.has(one));
      if (missing.length > 0 && !withParents) throw new VsphereFault('FileNotFound', { file: text });
      for (const one of [...missing, path]) datastore.state.files.set(one, { kind: 'folder' });
      changed();
    },
    remove(text) {
      const { datastore, path } = resolve(text);
      if (path === '' || find(text) === undefined) throw new VsphereFault('FileNotFound', { file: text });
      const gone = [...datastore.state.files].filter(([one]) => one === path || one.startsWith(`${path}/`));
      for (const [one, file] of gone) checkLock(file, filePath(datastore.state.name, one));
      for (const [one] of gone) datastore.state.files.delete(one);
      changed();
    },
    list(name, folder) {
      const { datastore, path } = resolve(filePath(name, folder));
      const prefix = path === '' ? '' : `${path}/`;
      const inside = [...datastore.state.files.keys()]
        .filter((one) => one.startsWith(prefix) && one !== path)
        .map((one) => one.slice(prefix.length));
      return inside.filter((one) => !one.includes('/'));
    },
  };
}
