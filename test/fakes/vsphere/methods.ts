import type {
  AboutInfo,
  ResourceConfigSpec,
  ServiceContent,
  VimTypes,
} from '../../../activities/vsphere/wire/vim/types.ts';
import type { CollectorSession } from './collector.ts';
import { filePath, type Files } from './datastores.ts';
import { invalidArgument, VsphereFault } from './fault.ts';
import { unlimited, type Inventory } from './inventory.ts';
import type { Model, PoolState, PowerState, Ref } from './model.ts';
import type { Power } from './power.ts';
import { intake } from './shape.ts';
import { recommendDatastores } from './storage-pods.ts';
import type { TaskRequest, Tasks } from './tasks.ts';
import type { VirtualMachines } from './virtual-machines.ts';

/** The parts of a vCenter, which drover's calls and other clients share. */
export interface Parts {
  model: Model;
  inventory: Inventory;
  files: Files;
  tasks: Tasks;
  vms: VirtualMachines;
  power: Power;
}

type Handlers = {
  [Method in keyof VimTypes]?: (self: Ref, args: VimTypes[Method], session: CollectorSession) => unknown;
};

const about = (instanceUuid: string): AboutInfo => ({
  name: 'VMware vCenter Server',
  version: '9.1.0',
  build: '24022515',
  apiVersion: '9.1.0.0',
  instanceUuid,
});

const single = (type: string, value = type): Ref => ({ type, value });

export const contentOf = ({ model, inventory }: Pick<Parts, 'model' | 'inventory'>): ServiceContent => ({
  rootFolder: { ...inventory.root.ref },
  propertyCollector: single('PropertyCollector', 'propertyCollector'),
  about: about(model.instanceUuid),
  sessionManager: single('SessionManager'),
  eventManager: single('EventManager'),
  taskManager: single('TaskManager'),
  searchIndex: single('SearchIndex'),
  fileManager: single('FileManager'),
  virtualDiskManager: single('VirtualDiskManager'),
  customFieldsManager: single('CustomFieldsManager'),
  storageResourceManager: single('StorageResourceManager'),
});

/** What each method does, at one moment. @throws VsphereFault */
export function openMethods(parts: Parts): Handlers {
  const { model, inventory, files, tasks, vms, power } = parts;
  model.addOnce(single('TaskManager'), {
    get recentTask() {
      return tasks.recent();
    },
  });
  model.addOnce(single('CustomFieldsManager'), model.customFields);

  const onVm = (method: string, name: TaskRequest['name'], entity: Ref, work: () => void): Ref => {
    model.vm(entity);
    const what = name === 'Destroy' ? 'destroy' : name.charAt(0).toLowerCase() + name.slice(1);
    return tasks.start({
      method,
      name,
      descriptionId: `VirtualMachine.${what}`,
      entity,
      isExclusive: true,
      work: () => nothing(work),
    });
  };
  const setPower =
    (method: string, name: TaskRequest['name'], to: PowerState) =>
    (self: Ref): Ref =>
      onVm(method, name, self, () => power.set(self, to));
  const onFiles = (
    method: string,
    name: TaskRequest['name'],
    self: Ref,
    work: () => void,
    begin?: TaskRequest['begin'],
  ): Ref =>
    tasks.start({
      ...(begin !== undefined && { begin }),
      method,
      name,
      descriptionId: `${self.type}.${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      entity: self,
      isCancelable: true,
      work: () => nothing(work),
    });

  return {
    RetrieveServiceContent: () => contentOf(parts),
    RetrievePropertiesEx: (_self, { specSet, options }, session) =>
      session.retrieve(specSet ?? [], options.maxObjects ?? Infinity),
    ContinueRetrievePropertiesEx: (_self, { token }, session) => session.continueRetrieve(token),
    CreatePropertyCollector: (_self, _args, session) => session.createCollector(),
    CreateFilter: (self, { spec }, session) => session.createFilter(self, intake('PropertyFilterSpec', spec)),
    WaitForUpdatesEx: (self, { version = '', options }, session) =>
      session.waitForUpdates(self, version, (options?.maxWaitSeconds ?? longestWaitSeconds) * 1_000),

    FindByInventoryPath: (_self, { inventoryPath }) => copied(inventory.findByPath(inventoryPath)),
    FindChild: (_self, { entity, name }) => {
      model.get(entity);
      return copied(inventory.findChild(entity, name));
    },
    FindAllByUuid: (_self, { uuid, instanceUuid = false }) => {
      const found = model
        .vms()
        .filter(({ state: { config } }) => (instanceUuid ? config.instanceUuid : config.uuid) === uuid.toLowerCase());
      return found.length === 0 ? undefined : found.map(({ ref }) => ({ ...ref }));
    },
    QueryEvents: (_self, { filter: { entity, eventTypeId = [], maxCount = Infinity } }) => {
      if (entity === undefined) throw invalidArgument('filter');
      return power
        .events(entity.entity, eventTypeId, maxCount)
        .map(({ $type, key, createdTime }) => ({ $type, key, createdTime }));
    },

    CreateVM_Task: (self, { config, pool, host }) => {
      model.get(self);
      const spec = intake('VirtualMachineConfigSpec', config);
      return tasks.start({
        method: 'CreateVM_Task',
        name: 'CreateVm',
        descriptionId: 'Folder.createVm',
        entity: self,
        isCancelable: true,
        work: () => vms.create(self, spec, { pool, host }),
      });
    },
    CloneVM_Task: (self, { folder, name, spec }) => {
      model.vm(self);
      model.get(folder);
      const cloned = intake('VirtualMachineCloneSpec', spec);
      return tasks.start({
        method: 'CloneVM_Task',
        name: 'CloneVm',
        descriptionId: 'VirtualMachine.cloneVm',
        entity: self,
        isCancelable: true,
        work: () => vms.clone(self, folder, name, cloned),
      });
    },
    ReconfigVM_Task: (self, { spec }) => onVm('ReconfigVM_Task', 'ReconfigVm', self, () => vms.reconfigure(self, spec)),
    UpgradeVM_Task: (self, { version }) => onVm('UpgradeVM_Task', 'UpgradeVm', self, () => vms.upgrade(self, version)),
    CustomizeVM_Task: (self, { spec }) =>
      onVm('CustomizeVM_Task', 'CustomizeVm', self, () => power.customize(self, intake('CustomizationSpec', spec))),
    PromoteDisks_Task: (self, { disks = [] }) => {
      model.vm(self);
      return tasks.start({
        method: 'PromoteDisks_Task',
        name: 'PromoteDisks',
        descriptionId: 'VirtualMachine.promoteDisks',
        entity: self,
        isExclusive: true,
        isCancelable: true,
        work: () =>
          nothing(() =>
            vms.promote(
              self,
              disks.map(({ key }) => key),
            ),
          ),
      });
    },
    Destroy_Task: (self) => {
      if (self.type === 'VirtualMachine') return onVm('Destroy_Task', 'Destroy', self, () => vms.destroy(self));
      model.get(self);
      return tasks.start({
        method: 'Destroy_Task',
        name: 'Destroy',
        descriptionId: `${self.type}.destroy`,
        entity: self,
        work: () => nothing(() => inventory.destroy(self)),
      });
    },
    PowerOnVM_Task: setPower('PowerOnVM_Task', 'PowerOn', 'poweredOn'),
    PowerOffVM_Task: setPower('PowerOffVM_Task', 'PowerOff', 'poweredOff'),
    SuspendVM_Task: setPower('SuspendVM_Task', 'Suspend', 'suspended'),
    ResetVM_Task: (self) => onVm('ResetVM_Task', 'Reset', self, () => power.reset(self)),
    ShutdownGuest: (self) => power.askGuest(self, 'shutdown'),
    StandbyGuest: (self) => power.askGuest(self, 'standby'),
    RebootGuest: (self) => power.askGuest(self, 'reboot'),
    CancelTask: (self) => tasks.cancel(self),

    RecommendDatastores: (_self, { storageSpec }) =>
      recommendDatastores(model, intake('StoragePlacementSpec', storageSpec)),

    CreateFolder: (self, { name }) => ({ ...inventory.createFolder(self, name) }),
    CreateResourcePool: (self, { name, spec }) => {
      model.get(self);
      return { ...inventory.createPool(self, name, allocationOf(spec)) };
    },
    UpdateConfig: (self, { config }) => {
      const pool = model.get<PoolState>(self);
      if (config !== undefined) pool.state.config = allocationOf(config);
      return undefined;
    },

    MakeDirectory: (_self, { name, createParentDirectories = false }) =>
      files.makeDirectory(name, createParentDirectories),
    QueryVirtualDiskUuid: (_self, { name }) => {
      const file = files.read(name);
      if (file.kind !== 'disk') throw new VsphereFault('FileNotFound', { file: name });
      return file.uuid;
    },
    CopyVirtualDisk_Task: (self, { sourceName, destName, force = false }) =>
      onFiles(
        'CopyVirtualDisk_Task',
        'CopyVirtualDisk',
        self,
        () => finishCopy(parts, destName),
        () => beginCopy(parts, sourceName, destName, force),
      ),
    MoveVirtualDisk_Task: (self, { sourceName, destName, force = false }) =>
      onFiles('MoveVirtualDisk_Task', 'MoveVirtualDisk', self, () => {
        const file = files.read(sourceName);
        files.write(destName, file, { replaces: force });
        files.remove(sourceName);
      }),
    CopyDatastoreFile_Task: (self, { sourceName, destinationName, force = false }) =>
      onFiles('CopyDatastoreFile_Task', 'CopyDatastoreFile', self, () =>
        copyFile(parts, sourceName, destinationName, force),
      ),
    MoveDatastoreFile_Task: (self, { sourceName, destinationName, force = false }) =>
      onFiles('MoveDatastoreFile_Task', 'MoveDatastoreFile', self, () => {
        files.write(destinationName, files.read(sourceName), { replaces: force });
        files.remove(sourceName);
      }),
    SearchDatastore_Task: (self, { datastorePath, searchSpec }) =>
      tasks.start({
        method: 'SearchDatastore_Task',
        name: 'SearchDatastore',
        descriptionId: 'HostDatastoreBrowser.searchDatastore',
        entity: self,
        isCancelable: true,
        work: () => searchFolder(files, datastorePath, searchSpec?.matchPattern ?? []),
      }),
    DeleteDatastoreFile_Task: (self, { name }) =>
      onFiles('DeleteDatastoreFile_Task', 'DeleteDatastoreFile', self, () => files.remove(name)),
  };
}

/** Of a task without a result. */
const nothing = (work: () => void): undefined => {
  work();
  return undefined;
};

const longestWaitSeconds = 600;

const copied = (ref: Ref | null): Ref | undefined => (ref === null ? undefined : { ...ref });

/** Names, or `*`: all. @throws FileNotFound where there is no such folder */
function searchFolder(files: Files, folder: string, names: readonly string[]): object {
  if (files.read(folder).kind !== 'folder') throw new VsphereFault('FileNotFound', { file: folder });
  const { datastore, path } = files.resolve(folder);
  const found = files.list(datastore.state.name, path).filter((name) => names.includes('*') || names.includes(name));
  return {
    $type: 'HostDatastoreBrowserSearchResults',
    file: found.map((name) => {
      const file = files.read(filePath(datastore.state.name, path === '' ? name : `${path}/${name}`));
      return { $type: 'FileInfo', path: name, ...(file.kind === 'file' && { fileSize: file.bytes }) };
    }),
  };
}

/** A copy of a disk is another disk. @throws FileNotFound, FileAlreadyExists */
export function copyFile(
  { model, files }: Pick<Parts, 'model' | 'files'>,
  from: string,
  to: string,
  force: boolean,
): void {
  const file = files.read(from);
  files.write(to, file.kind === 'disk' ? { ...file, uuid: `6000C29${model.uuid().slice(7)}` } : { ...file }, {
    replaces: force,
  });
}

/** The file is there, and locked, from the beginning of a copy. */
function beginCopy(parts: Pick<Parts, 'model' | 'files'>, from: string, to: string, force: boolean): () => void {
  const { files } = parts;
  if (files.read(from).kind !== 'disk') throw new VsphereFault('FileNotFound', { file: from });
  copyFile(parts, from, to, force);
  const copy = files.read(to);
  if (copy.kind === 'disk') copy.isPartial = true;
  return () => {
    if (copy.kind === 'disk') copy.isPartial = false;
    if (files.find(to) === copy) files.remove(to);
  };
}

function finishCopy({ files }: Pick<Parts, 'files'>, to: string): void {
  const copy = files.find(to);
  if (copy === undefined) throw new VsphereFault('FileNotFound', { file: to });
  if (copy.kind === 'disk') copy.isPartial = false;
}

const allocationOf = ({ cpuAllocation, memoryAllocation }: ResourceConfigSpec): PoolState['config'] => ({
  cpuAllocation: { ...unlimited(), ...intake('ResourceAllocationInfo', cpuAllocation) },
  memoryAllocation: { ...unlimited(), ...intake('ResourceAllocationInfo', memoryAllocation) },
});
