import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import type {
  VAppPropertyInfo,
  VirtualMachineCloneSpec,
  VirtualMachineConfigSpec,
  VirtualDeviceConfigSpec,
} from '../../../activities/vsphere/wire/vim/types.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { filePath, type DatastoreState, type Files } from './datastores.ts';
import { invalidArgument, VsphereFault } from './fault.ts';
import { changeDevices, fileOf, firstDevices, removeDisk, type DeviceWork } from './hardware.ts';
import type { Inventory } from './inventory.ts';
import type { FolderState, Managed, Model, Ref, Tags, VmConfig, VmState } from './model.ts';
import { intake } from './shape.ts';
import type { Tasks } from './tasks.ts';
import { newState } from './vm-state.ts';

/** What is made, changed and destroyed of VMs, each at one moment. */
export interface VirtualMachines {
  /** @throws DuplicateName, FileAlreadyExists, FileNotFound, InvalidArgument … */
  create(folder: Ref, spec: VirtualMachineConfigSpec, at: { pool: Ref; host?: Ref | undefined }): Ref;
  clone(source: Ref, folder: Ref, name: string, spec: VirtualMachineCloneSpec): Ref;
  /** @throws ConcurrentAccess, CpuHotPlugNotSupported, InvalidPowerState … */
  reconfigure(vm: Ref, spec: VirtualMachineConfigSpec): void;
  /** Whether what is changed of it from now on is taken, and has no effect. */
  ignoreChanges(vm: Ref, ignored: boolean): void;
  upgrade(vm: Ref, version: string | undefined): void;
  /** @param keys of disks that are linked no more then */
  promote(vm: Ref, keys: readonly number[]): void;
  /** With its files and all disks that are attached. @throws InvalidPowerState */
  destroy(vm: Ref): void;
  /** Says that its configuration is another one. */
  noteChange(vm: Managed<VmState>): void;
}

const newestVersion = 21;

export function openVirtualMachines(
  model: Model,
  inventory: Inventory,
  files: Files,
  tasks: Pick<Tasks, 'recent'>,
  tags: Tags,
): VirtualMachines {
  let hostsUsed = 0;
  /** Of VMs whose changes have no effect. */
  const unchanging = new Set<string>();
  const noteChange = ({ state }: Managed<VmState>): void => {
    state.config.changeVersion = `${model.now()}#${model.next()}`;
    model.changed();
  };
  const findDatastore = (name: string): Ref =>
    inventory.allDatastores.find(({ state }) => state.name === name)?.ref ?? inventory.datastores[0]!.ref;
  const nameOf = (datastore: Ref): string => model.get<DatastoreState>(datastore).state.name;
  const nextHost = (): Ref => inventory.hosts[(hostsUsed += 1) % inventory.hosts.length]!.ref;

  const workOf = ({ state }: Managed<VmState>): DeviceWork => {
    const { datastore, path } = files.resolve(state.config.files.vmPathName);
    return {
      model,
      files,
      datastore: datastore.state.name,
      folder: path.slice(0, path.lastIndexOf('/')),
      vmName: state.name,
      findDatastore,
      isOn: state.runtime.powerState === 'poweredOn',
    };
  };

  /** A folder of files that no other VM has. */
  const homeOf = (name: string, vmPathName: string): string => {
    const { datastore, path } = files.resolve(vmPathName);
    if (path.endsWith('.vmx')) return vmPathName;
    const base = path === '' ? name : path;
    const folder = (number: number): string =>
      filePath(datastore.state.name, number === 0 ? base : `${base}_${number}`);
    let number = 0;
    while (files.find(folder(number)) !== undefined) number += 1;
    files.makeDirectory(folder(number), true);
    return `${folder(number)}/${name}.vmx`;
  };

  const create: VirtualMachines['create'] = (folder, spec, { pool, host }) => {
    const { name = '' } = spec;
    if (name === '') throw invalidArgument('configSpec.name');
    model.get(pool);
    const parent = model.get<FolderState>(folder);
    const taken = inventory.findChild(folder, name);
    if (taken !== null) throw new VsphereFault('DuplicateName', { name, object: taken });
    const vmPathName = homeOf(name, spec.files?.vmPathName ?? '');
    files.write(vmPathName, { kind: 'file', bytes: 4_096 });
    const place = { name, parent: folder, resourcePool: pool, host: host ?? nextHost(), vmPathName };
    const vm: Managed<VmState> = model.add(
      'VirtualMachine',
      'vm-',
      newState(model, place, () => tasks.recent(vm.ref)),
    );
    try {
      apply(vm, { ...spec, instanceUuid: spec.instanceUuid ?? model.uuid(), uuid: spec.uuid ?? model.uuid() });
    } catch (error) {
      model.remove(vm.ref);
      files.remove(vmPathName);
      throw error;
    }
    parent.state.childEntity.push(vm.ref);
    noteChange(vm);
    return vm.ref;
  };

  const apply = (vm: Managed<VmState>, given: VirtualMachineConfigSpec): void => {
    const { state } = vm;
    const { config } = state;
    const {
      deviceChange = [],
      extraConfig = [],
      vAppConfig,
      tagSpecs = [],
      ...spec
    } = intake('VirtualMachineConfigSpec', given);
    // First what may be refused, so that a change that fails changes nothing.
    const tagged = tagSpecs.map(({ operation, id: { uuid = '' } }) => {
      const tag = tags.get(uuid);
      if (tag === undefined) throw new VsphereFault('NotFound');
      return { operation, tag };
    });
    const device = changeDevices(config.hardware.device, deviceChange, workOf(vm));
    const vApp = vAppConfig === undefined ? config.vAppConfig : changeVApp(config.vAppConfig, vAppConfig);
    if (spec.name !== undefined && spec.name !== state.name) inventory.rename(vm.ref, spec.name);
    config.hardware = {
      ...config.hardware,
      device,
      numCPU: spec.numCPUs ?? config.hardware.numCPU,
      numCoresPerSocket: spec.numCoresPerSocket ?? config.hardware.numCoresPerSocket,
      memoryMB: spec.memoryMB ?? config.hardware.memoryMB,
      ...(spec.simultaneousThreads !== undefined && { simultaneousThreads: spec.simultaneousThreads }),
    };
    const cores = spec.virtualNuma?.coresPerNumaNode;
    if (cores !== undefined)
      config.numaInfo = {
        $type: 'VirtualMachineVirtualNumaInfo',
        coresPerNumaNode: cores,
        autoCoresPerNumaNode: cores === 0,
      };
    config.vAppConfig = vApp;
    for (const { operation, tag } of tagged) {
      if (operation === 'add') tag.vms.add(vm.ref.value);
      else tag.vms.delete(vm.ref.value);
    }
    for (const name of plainFields) if (spec[name] !== undefined) Object.assign(config, { [name]: spec[name] });
    for (const name of mergedFields)
      if (spec[name] !== undefined) Object.assign(config, { [name]: { ...config[name], ...spec[name] } });
    if (spec.managedBy !== undefined)
      config.managedBy = spec.managedBy.extensionKey === '' ? undefined : spec.managedBy;
    for (const { key, value } of extraConfig) setOption(state, key, value);
    const { net } = state.guest;
    state.guest.net = device
      .filter((one) => isA(one, 'VirtualEthernetCard'))
      .map((card) => {
        const before = net.find(({ deviceConfigId }) => deviceConfigId === card.key);
        return { ...before, $type: 'GuestNicInfo', macAddress: card.macAddress ?? '', deviceConfigId: card.key };
      });
  };

  return {
    create,
    clone(source, folder, name, { location, config = {} }) {
      const from = model.vm(source);
      const { hardware, version, guestId, firmware } = from.state.config;
      const {
        pool = from.state.resourcePool,
        datastore = findDatastore(files.resolve(from.state.config.files.vmPathName).datastore.state.name),
        host,
      } = location;
      const devices = hardware.device.filter(({ key }) => !firstDevices().some((one) => one.key === key));
      const copies = devices.map((device): VirtualDeviceConfigSpec => {
        if (isA(device, 'VirtualDisk') && isA(device.backing, 'VirtualDiskFlatVer2BackingInfo')) {
          const { parent: _parent, uuid: _uuid, ...backing } = device.backing;
          return {
            operation: 'add',
            fileOperation: 'create',
            device: { ...device, backing: { ...backing, fileName: '' } },
          };
        }
        return {
          operation: 'add',
          device: isA(device, 'VirtualEthernetCard') ? { ...device, macAddress: '' } : device,
        };
      });
      const { deviceChange = [], ...asked } = config;
      const made = create(
        folder,
        {
          version,
          guestId,
          firmware,
          numCPUs: hardware.numCPU,
          numCoresPerSocket: hardware.numCoresPerSocket,
          memoryMB: hardware.memoryMB,
          ...asked,
          name,
          files: { vmPathName: `[${nameOf(datastore)}]` },
          deviceChange: copies,
        },
        { pool, host },
      );
      try {
        apply(model.vm(made), { deviceChange });
      } catch (error) {
        destroy(made);
        throw error;
      }
      return made;
    },
    reconfigure(ref, spec) {
      const vm = model.vm(ref);
      const { config, runtime } = vm.state;
      if (spec.changeVersion !== undefined && spec.changeVersion !== '' && spec.changeVersion !== config.changeVersion)
        throw new VsphereFault('ConcurrentAccess');
      if (runtime.powerState !== 'poweredOff') checkHotChange(spec, vm.state);
      if (!unchanging.has(ref.value)) apply(vm, spec);
      noteChange(vm);
    },
    ignoreChanges(ref, ignored) {
      if (ignored) unchanging.add(ref.value);
      else unchanging.delete(ref.value);
    },
    upgrade(ref, version) {
      const vm = model.vm(ref);
      const { config, runtime } = vm.state;
      if (runtime.powerState !== 'poweredOff')
        throw new VsphereFault('InvalidPowerState', {
          requestedState: 'poweredOff',
          existingState: runtime.powerState,
        });
      const wanted = version ?? `vmx-${newestVersion}`;
      if (numberOf(wanted) > newestVersion) throw new VsphereFault('NotSupported');
      if (numberOf(wanted) <= numberOf(config.version)) throw new VsphereFault('AlreadyUpgraded');
      config.version = wanted;
      noteChange(vm);
    },
    promote(ref, keys) {
      const vm = model.vm(ref);
      const { hardware } = vm.state.config;
      hardware.device = hardware.device.map((device) => {
        const { backing } = device;
        if (!keys.includes(device.key) || !isA(backing, 'VirtualDiskFlatVer2BackingInfo')) return device;
        const { parent: _parent, ...whole } = backing;
        const stored = files.read(whole.fileName);
        if (stored.kind === 'disk') stored.parent = undefined;
        return { ...device, backing: whole };
      });
      noteChange(vm);
    },
    destroy: (ref) => destroy(ref),
    noteChange,
  };

  function destroy(ref: Ref): void {
    const {
      state: { config },
    } = model.vm(ref);
    inventory.destroy(ref);
    const kept = new Set(optionOf(config, extraConfigKeys.keepDisks).split(','));
    for (const disk of config.hardware.device.filter((one) => isA(one, 'VirtualDisk')))
      if (!kept.has((fileOf(disk) ?? '').split('/').at(-1) ?? '')) removeDisk(disk, files);
    const { vmPathName } = config.files;
    const home = vmPathName.slice(0, vmPathName.lastIndexOf('/'));
    for (const file of [vmPathName, `${home}/${optionOf(config, 'nvram')}`])
      if (!file.endsWith('/') && files.find(file) !== undefined) files.remove(file);
    const { datastore, path } = files.resolve(home);
    if (path !== '' && files.find(home) !== undefined && files.list(datastore.state.name, path).length === 0)
      files.remove(home);
  }
}

const optionOf = ({ extraConfig }: VmConfig, name: string): string =>
  textOf(extraConfig.find(({ key }) => key === name)?.value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const numberOf = (version: string): number => Number(/\d+$/u.exec(version)?.[0] ?? 0);

/** Fields of a change that are those of the configuration. */
const plainFields = [
  'version',
  'uuid',
  'instanceUuid',
  'guestId',
  'annotation',
  'memoryHotAddEnabled',
  'cpuHotAddEnabled',
  'changeTrackingEnabled',
  'firmware',
  'memoryReservationLockedToMax',
  'nestedHVEnabled',
  'vPMCEnabled',
  'latencySensitivity',
] as const;
const mergedFields = ['flags', 'cpuAllocation', 'memoryAllocation', 'bootOptions'] as const;
/** What is changed only while the VM is off. */
const coldFields = [
  'version',
  'uuid',
  'instanceUuid',
  'guestId',
  'firmware',
  'numCoresPerSocket',
  'memoryHotAddEnabled',
  'cpuHotAddEnabled',
  'nestedHVEnabled',
  'vPMCEnabled',
  'flags',
  'virtualNuma',
] as const;

/** @throws CpuHotPlugNotSupported, MemoryHotPlugNotSupported, InvalidPowerState */
function checkHotChange(spec: VirtualMachineConfigSpec, { config, runtime }: VmState): void {
  const { numCPUs = config.hardware.numCPU, memoryMB = config.hardware.memoryMB } = spec;
  if (numCPUs !== config.hardware.numCPU && (!config.cpuHotAddEnabled || numCPUs < config.hardware.numCPU))
    throw new VsphereFault('CpuHotPlugNotSupported');
  if (memoryMB !== config.hardware.memoryMB && (!config.memoryHotAddEnabled || memoryMB < config.hardware.memoryMB))
    throw new VsphereFault('MemoryHotPlugNotSupported');
  if (coldFields.some((name) => spec[name] !== undefined))
    throw new VsphereFault('InvalidPowerState', { requestedState: 'poweredOff', existingState: runtime.powerState });
}

const guestPrefix = 'SET.guest.';

/** An empty value takes a key away. govmomi's simulator lets `SET.guest.…` speak for the guest; so does this one. */
function setOption({ config, guest }: VmState, key: string, value: unknown): void {
  if (key.startsWith(guestPrefix)) {
    const text = String(value);
    Object.assign(guest, { [key.slice(guestPrefix.length)]: text });
    const [card] = guest.net;
    if (key === `${guestPrefix}ipAddress` && card !== undefined) card.ipAddress = [text];
    return;
  }
  const rest = config.extraConfig.filter((one) => one.key !== key);
  config.extraConfig = value === '' ? rest : [...rest, { $type: 'OptionValue', key, value }];
}

function changeVApp(
  before: VmConfig['vAppConfig'],
  { property: changes = [], ovfEnvironmentTransport }: NonNullable<VirtualMachineConfigSpec['vAppConfig']>,
): VmConfig['vAppConfig'] {
  const property: VAppPropertyInfo[] = [...(before?.property ?? [])];
  for (const { operation, info } of changes) {
    const at = property.findIndex(({ key }) => key === info?.key);
    if (operation === 'add' && info !== undefined) property.push(info);
    else if (at === -1) throw invalidArgument('vAppConfig.property');
    else if (operation === 'edit' && info !== undefined) property[at] = { ...property[at], ...info };
    else property.splice(at, 1);
  }
  return {
    $type: 'VmConfigInfo',
    property,
    ...((ovfEnvironmentTransport ?? before?.ovfEnvironmentTransport) !== undefined && {
      ovfEnvironmentTransport: ovfEnvironmentTransport ?? before?.ovfEnvironmentTransport ?? [],
    }),
  };
}
