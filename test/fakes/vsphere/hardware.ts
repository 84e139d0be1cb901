import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import type {
  AnyVirtualDevice,
  VirtualDeviceConfigSpec,
  VirtualDisk,
} from '../../../activities/vsphere/wire/vim/types.ts';
import { filePath, type Files } from './datastores.ts';
import { VsphereFault } from './fault.ts';
import type { EntityState, Model, Ref } from './model.ts';

type Device = AnyVirtualDevice & { $type?: string };

const label = (text: string) => ({ $type: 'Description' as const, label: text, summary: text });

/** What every VM has. */
export const firstDevices = (): Device[] => [
  { $type: 'VirtualIDEController', key: 200, busNumber: 0, deviceInfo: label('IDE 0') },
  { $type: 'VirtualIDEController', key: 201, busNumber: 1, deviceInfo: label('IDE 1') },
  ...(['VirtualPS2Controller', 'VirtualPCIController', 'VirtualSIOController'] as const).map(($type, bus) => ({
    $type,
    key: [300, 100, 400][bus] ?? 0,
    deviceInfo: label($type),
  })),
];

/** A disk at the first unit of the controller that the same change adds with the key -1. */
export const firstDisk = (capacityInKB: number): VirtualDeviceConfigSpec => ({
  operation: 'add',
  fileOperation: 'create',
  device: {
    $type: 'VirtualDisk',
    key: -2,
    controllerKey: -1,
    unitNumber: 0,
    capacityInKB,
    backing: {
      $type: 'VirtualDiskFlatVer2BackingInfo',
      fileName: '',
      diskMode: 'persistent',
      thinProvisioned: true,
    },
  },
});

/** The first key of each kind of device. */
const controllerKeys: [
  kind: 'VirtualSCSIController' | 'VirtualAHCIController' | 'VirtualNVMEController',
  first: number,
][] = [
  ['VirtualSCSIController', 1_000],
  ['VirtualAHCIController', 15_000],
  ['VirtualNVMEController', 31_000],
];
const firstCardKey = 4_000;
const firstOtherKey = 13_000;
const pciKey = 100;
const firstCardUnit = 7;
/** A SCSI controller is itself a unit of its bus. */
const scsiOwnUnit = 7;

export interface DeviceWork {
  model: Model;
  files: Files;
  /** `LocalDS_0`. */
  datastore: string;
  /** Of the VM: `web`. */
  folder: string;
  vmName: string;
  findDatastore: (name: string) => Ref;
  isOn: boolean;
}

const invalidSpec = (deviceIndex: number, property: string): VsphereFault =>
  new VsphereFault('InvalidDeviceSpec', { property, deviceIndex });

/** The devices of a VM after a change. Files are made, grown and deleted on the way. @throws VsphereFault */
export function changeDevices(
  devices: readonly AnyVirtualDevice[],
  changes: readonly VirtualDeviceConfigSpec[],
  work: DeviceWork,
): AnyVirtualDevice[] {
  const result: Device[] = [...devices];
  /** What new devices are called in the change, and the keys that they get. */
  const keys = new Map<number, number>();
  changes.forEach(({ operation = 'add', fileOperation, device: given }, index) => {
    const device: Device = { ...given };
    const at = result.findIndex(({ key }) => key === device.key);
    switch (operation) {
      case 'add':
        result.push(addDevice(device, fileOperation, { ...work, devices: result, keys, index }));
        break;
      case 'edit': {
        const before = result[at];
        if (before === undefined) throw invalidSpec(index, 'key');
        result[at] = editDevice(before, device, index, work);
        break;
      }
      case 'remove': {
        const [removed] = at === -1 ? [] : result.splice(at, 1);
        if (removed === undefined) throw invalidSpec(index, 'key');
        if (fileOperation === 'destroy' && isA(removed, 'VirtualDisk')) removeDisk(removed, work.files);
        break;
      }
    }
  });
  return result;
}

interface Adding extends DeviceWork {
  devices: readonly Device[];
  keys: Map<number, number>;
  index: number;
}

function addDevice(device: Device, fileOperation: string | undefined, adding: Adding): Device {
  const { devices, keys, index } = adding;
  const asked = device.key;
  const taken = (key: number): boolean => devices.some((one) => one.key === key);
  const free = (first: number): number => {
    let key = first;
    while (taken(key)) key += 1;
    return key;
  };
  const controllerKey =
    device.controllerKey === undefined ? undefined : (keys.get(device.controllerKey) ?? device.controllerKey);
  const named = (key: number, text: string): Device => {
    keys.set(asked, key);
    return { ...device, key, deviceInfo: label(text) };
  };
  if (isA(device, 'VirtualController')) {
    const [, first] = controllerKeys.find(([kind]) => isA(device, kind)) ?? ['', firstOtherKey];
    const askedBus = 'busNumber' in device && typeof device.busNumber === 'number' ? Math.max(0, device.busNumber) : 0;
    const key = free(first + askedBus);
    return { ...named(key, `${device.$type} ${key - first}`), busNumber: key - first };
  }
  if (isA(device, 'VirtualEthernetCard'))
    return addCard(named(free(firstCardKey), `Network adapter ${free(firstCardKey) - firstCardKey + 1}`), adding);
  if (controllerKey === undefined) return named(free(firstOtherKey), device.$type ?? 'device');
  const controller = devices.find(({ key }) => key === controllerKey);
  if (controller === undefined) throw invalidSpec(index, 'controllerKey');
  const isUnitFree = (unit: number): boolean =>
    !(isA(controller, 'VirtualSCSIController') && unit === scsiOwnUnit) &&
    !devices.some((one) => one.controllerKey === controllerKey && one.unitNumber === unit);
  let unitNumber = device.unitNumber ?? 0;
  if (device.unitNumber === undefined || device.unitNumber < 0) while (!isUnitFree(unitNumber)) unitNumber += 1;
  else if (!isUnitFree(unitNumber)) throw invalidSpec(index, 'unitNumber');
  const key = free(keyOn(controller, unitNumber));
  const placed = {
    ...named(
      key,
      isA(device, 'VirtualDisk')
        ? `Hard disk ${devices.filter((one) => isA(one, 'VirtualDisk')).length + 1}`
        : `CD/DVD drive ${key}`,
    ),
    controllerKey,
    unitNumber,
  };
  if (isA(placed, 'VirtualDisk')) return addDisk(placed, fileOperation, adding);
  return { ...placed, ...connected(placed, adding.isOn) };
}

/** Keys of what is on a controller follow from its place. */
function keyOn(controller: Device, unit: number): number {
  if (isA(controller, 'VirtualIDEController')) return 3_000 + (controller.key - 200) * 2 + unit;
  if (isA(controller, 'VirtualAHCIController')) return 16_000 + (controller.key - 15_000) * 30 + unit;
  if (isA(controller, 'VirtualNVMEController')) return 32_000 + (controller.key - 31_000) * 15 + unit;
  return 2_000 + (controller.key - 1_000) * 16 + unit;
}

/** Nothing is connected while the VM is off. */
const connected = ({ connectable }: Device, isOn: boolean): Pick<Device, 'connectable'> =>
  connectable === undefined ? {} : { connectable: { ...connectable, connected: isOn && connectable.connected } };

function addCard(card: Device, { model, devices, isOn, index }: Adding): Device {
  const number = devices.filter((one) => isA(one, 'VirtualEthernetCard')).length;
  checkNetwork(card, model, index);
  const given =
    'macAddress' in card && typeof card.macAddress === 'string' && card.macAddress !== '' ? card.macAddress : null;
  const random = () =>
    Math.floor(model.random() * 256)
      .toString(16)
      .padStart(2, '0');
  const mac = {
    addressType: given === null ? 'assigned' : 'manual',
    macAddress: given ?? `00:50:56:${random()}:${random()}:${random()}`,
  };
  return { ...card, ...connected(card, isOn), ...mac, controllerKey: pciKey, unitNumber: firstCardUnit + number };
}

/** @throws InvalidDeviceSpec for a network that is not there */
function checkNetwork({ backing }: Device, model: Model, index: number): void {
  const there = [...model.objects.values()];
  if (isA(backing, 'VirtualEthernetCardNetworkBackingInfo')) {
    const { deviceName } = backing;
    if (there.some(({ ref, state }) => ref.type === 'Network' && (state as EntityState).name === deviceName)) return;
  } else if (isA(backing, 'VirtualEthernetCardDistributedVirtualPortBackingInfo')) {
    const { portgroupKey } = backing.port;
    if (there.some(({ state }) => (state as { key?: unknown }).key === portgroupKey)) return;
  } else return;
  throw invalidSpec(index, 'backing');
}

function addDisk(
  disk: VirtualDisk,
  fileOperation: string | undefined,
  { model, files, datastore, folder, vmName, findDatastore }: Adding,
): VirtualDisk {
  const { backing } = disk;
  if (!isA(backing, 'VirtualDiskFlatVer2BackingInfo')) return disk;
  let { fileName } = backing;
  if (fileName === '' || /^\[[^\]]*\]\s*$/u.test(fileName)) {
    const name = (number: number): string =>
      filePath(datastore, `${folder}/${vmName}${number === 0 ? '' : `_${number}`}.vmdk`);
    let number = 0;
    while (files.find(name(number)) !== undefined) number += 1;
    fileName = name(number);
  }
  if (fileOperation === 'create') {
    const parent = backing.parent?.fileName;
    const base = parent === undefined ? null : files.read(parent);
    const capacityKiB = base?.kind === 'disk' ? base.capacityKiB : disk.capacityInKB;
    files.write(fileName, { kind: 'disk', capacityKiB, uuid: `6000C29${model.uuid().slice(7)}`, parent });
  }
  const stored = files.read(fileName);
  if (stored.kind !== 'disk') throw new VsphereFault('InvalidDeviceBacking', { property: 'backing.fileName' });
  const { datastore: at } = files.resolve(fileName);
  return {
    ...disk,
    capacityInKB: stored.capacityKiB,
    capacityInBytes: stored.capacityKiB * 1_024,
    backing: { ...backing, fileName, uuid: stored.uuid, datastore: findDatastore(at.state.name) },
  };
}

function editDevice(before: Device, device: Device, index: number, { model, files, isOn }: DeviceWork): Device {
  const edited: Device = {
    ...before,
    ...device,
    ...(before.deviceInfo !== undefined && { deviceInfo: before.deviceInfo }),
  };
  if (isA(edited, 'VirtualEthernetCard')) checkNetwork(edited, model, index);
  if (!isA(edited, 'VirtualDisk') || !isA(before, 'VirtualDisk')) return { ...edited, ...connected(edited, isOn) };
  if (edited.capacityInKB < before.capacityInKB)
    throw new VsphereFault('InvalidDeviceOperation', { property: 'capacityInKB', deviceIndex: index });
  const { backing } = before;
  if (isA(backing, 'VirtualDiskFlatVer2BackingInfo')) {
    const stored = files.read(backing.fileName);
    if (stored.kind === 'disk') stored.capacityKiB = edited.capacityInKB;
  }
  return { ...edited, ...(backing !== undefined && { backing }), capacityInBytes: edited.capacityInKB * 1_024 };
}

export const fileOf = ({ backing }: AnyVirtualDevice): string | null =>
  isA(backing, 'VirtualDeviceFileBackingInfo') ? backing.fileName : null;

/** Its own file; what it is linked to stays. */
export function removeDisk(disk: AnyVirtualDevice, files: Files): void {
  const file = fileOf(disk);
  if (file !== null && files.find(file) !== undefined) files.remove(file);
}
