import { createHash } from 'node:crypto';

import type { ClassDevice } from '../../../contracts/virtual-machine/class-devices.ts';
import type {
  Cdrom,
  Controller,
  Disk,
  NetworkCard,
  PciDevice,
  Slot,
} from '../../../contracts/virtual-machine/config.ts';
import type { AttachedDisk, VirtualMachine } from '../types.ts';
import { isA } from '../wire/kinds.ts';
import type { AnyVirtualDevice, VirtualController, VirtualDisk } from '../wire/vim/types.ts';
import { backingText } from './network-backing.ts';
import type { Devices } from './read-vm.ts';

/** What the spec calls the types of cards, and what vCenter calls them. */
export const cardTypes = {
  VMXNet3: 'VirtualVmxnet3',
  VMXNet2: 'VirtualVmxnet2',
  E1000: 'VirtualE1000',
  E1000e: 'VirtualE1000e',
  PCNet32: 'VirtualPCNet32',
  SRIOV: 'VirtualSriovEthernetCard',
} as const;

/** By the names of the spec, those of vim25. */
export const scsiTypes = {
  ParaVirtual: 'ParaVirtualSCSIController',
  BusLogic: 'VirtualBusLogicController',
  LsiLogic: 'VirtualLsiLogicController',
  LsiLogicSAS: 'VirtualLsiLogicSASController',
} as const;
export const sharings = { None: 'noSharing', Physical: 'physicalSharing', Virtual: 'virtualSharing' } as const;

const nameIn = <Name extends string>(table: Readonly<Record<Name, string>>, value: string): Name | null =>
  (Object.keys(table) as Name[]).find((name) => table[name] === value) ?? null;

const cardTypeOf = ($type: string): string =>
  Object.entries(cardTypes).find(([, type]) => type === $type)?.[0] ?? $type;

const byKey = (a: { key: number | null }, b: { key: number | null }): number => (a.key ?? 0) - (b.key ?? 0);

/** In the order in which they were added, which is that of their keys. */
export const networkCardsOf = (devices: Devices): NetworkCard[] =>
  devices
    .filter((device) => isA(device, 'VirtualEthernetCard'))
    .map((card) => ({
      key: card.key,
      type: cardTypeOf(card.$type ?? ''),
      backing: backingText(card.backing),
      macAddress: card.macAddress?.toLowerCase() || null,
      ...(isA(card, 'VirtualVmxnet3') && card.uptv2Enabled === true && { uptv2Enabled: true }),
      ...(card.numaNode !== undefined && card.numaNode >= 0 && { numaNode: card.numaNode }),
    }))
    .toSorted(byKey);

/** One without an ISO, such as a drive of the host, has an empty path. */
export const cdromsOf = (devices: Devices, isOn: boolean): Cdrom[] =>
  devices
    .filter((device) => isA(device, 'VirtualCdrom'))
    .map(({ key, backing, connectable, controllerKey, unitNumber }) => ({
      key,
      iso: isA(backing, 'VirtualCdromIsoBackingInfo') ? backing.fileName : '',
      // Nothing is connected while the VM is off: what counts then is what will be.
      connected: (isOn ? connectable?.connected : connectable?.startConnected) ?? false,
      allowGuestControl: connectable?.allowGuestControl ?? false,
      slot: slotOf(devices, controllerKey, unitNumber),
    }))
    .toSorted(byKey);

function slotOf(devices: Devices, controllerKey: number | undefined, unitNumber: number | undefined): Slot | null {
  const controller = devices.find(({ key }) => key === controllerKey);
  const bus = controller === undefined ? null : controllerType(controller);
  return controller === undefined || bus === null
    ? null
    : { bus, busNumber: busOf(controller), unitNumber: unitNumber ?? null };
}

export const controllersOf = (devices: Devices): Controller[] =>
  devices.flatMap((device) => {
    const bus = controllerType(device);
    if (bus === null) return [];
    const sharedBus = 'sharedBus' in device && typeof device.sharedBus === 'string' ? device.sharedBus : '';
    return [
      {
        key: device.key,
        bus,
        busNumber: busOf(device),
        type: bus === 'SCSI' ? nameIn(scsiTypes, device.$type ?? '') : null,
        sharing: nameIn(sharings, sharedBus) ?? 'None',
        isInUse: devices.some(({ controllerKey }) => controllerKey === device.key),
      },
    ];
  });

/** Null: it is none that disks and drives are attached to. */
export function controllerType(device: AnyVirtualDevice): Controller['bus'] | null {
  if (isA(device, 'VirtualSCSIController')) return 'SCSI';
  if (isA(device, 'VirtualSATAController')) return 'SATA';
  if (isA(device, 'VirtualIDEController')) return 'IDE';
  return isA(device, 'VirtualNVMEController') ? 'NVME' : null;
}

export const busOf = (device: AnyVirtualDevice): number => (device as VirtualController).busNumber;

export const pciDevicesOf = (devices: Devices): PciDevice[] =>
  devices
    .filter((device) => isA(device, 'VirtualPCIPassthrough'))
    .map(({ key, backing }) => ({ key, device: toClassDevice(backing) }))
    .toSorted(byKey);

function toClassDevice(backing: AnyVirtualDevice['backing']): ClassDevice | null {
  if (isA(backing, 'VirtualPCIPassthroughVmiopBackingInfo'))
    return backing.vgpu === undefined ? null : { kind: 'vgpu', profile: backing.vgpu };
  if (!isA(backing, 'VirtualPCIPassthroughDynamicBackingInfo')) return null;
  return {
    kind: 'passthrough',
    allowed: (backing.allowedDevice ?? []).map(({ vendorId, deviceId }) => ({ vendorId, deviceId })),
    customLabel: backing.customLabel || null,
  };
}

/** In the order in which a VM tries to boot from them: by controller, then by unit. */
export const virtualDisksOf = (devices: Devices): VirtualDisk[] =>
  devices.filter((device) => isA(device, 'VirtualDisk')).toSorted(byPlace);

const byPlace = (a: VirtualDisk, b: VirtualDisk): number =>
  (a.controllerKey ?? 0) - (b.controllerKey ?? 0) || (a.unitNumber ?? 0) - (b.unitNumber ?? 0) || a.key - b.key;

export const bytesOf = ({ capacityInBytes, capacityInKB }: VirtualDisk): number =>
  capacityInBytes || capacityInKB * 1024;

export const attachedDisk = (disk: VirtualDisk): AttachedDisk => ({
  key: disk.key,
  label: disk.deviceInfo?.label ?? '',
  capacityBytes: bytesOf(disk),
  fileName: isA(disk.backing, 'VirtualDeviceFileBackingInfo') ? disk.backing.fileName || null : null,
  firstClassDiskId: disk.vDiskId?.id ?? null,
});

/** All that are attached and were not made with the VM. */
export function foreignDisksOf(
  { vmxPath, devices }: NonNullable<VirtualMachine['config']>,
  made: MadeDisks = noneMade,
): AttachedDisk[] {
  const disks = virtualDisksOf(devices);
  const moved = new Set(disks.filter((disk) => isMoved(disk, vmxPath, made)).map(({ key }) => key));
  return foreignDisks({ vmxPath, disks: disks.map(attachedDisk) }).filter(({ key }) => !moved.has(key));
}

/** The disks that were made with a VM, by their {@link diskName}, and what the VM is called. */
export interface MadeDisks {
  vmName: string;
  disks: readonly string[];
}

const noneMade: MadeDisks = { vmName: '', disks: [] };

/**
 * Made with the VM, and moved by itself: vCenter puts it into a folder that is called like the VM, or like its folder.
 * That alone proves nothing, and neither does its UUID, which a copy of its file has too.
 */
function isMoved(disk: VirtualDisk, vmxPath: string, { vmName, disks }: MadeDisks): boolean {
  const { firstClassDiskId, fileName } = attachedDisk(disk);
  const folder = folderOf(fileName ?? '');
  const isNamedLikeIt =
    vmName !== '' &&
    (folder === vmName || (folder.startsWith(`${vmName}_`) && /^\d+$/u.test(folder.slice(vmName.length + 1))));
  const isItsFolder = isNamedLikeIt || (folder !== '' && folder === folderOf(vmxPath));
  return firstClassDiskId === null && isItsFolder && diskUuid(disk) !== null && disks.includes(diskName(disk));
}

/**
 * The boot disk is the one that drover makes as large as the spec asks for, so one of the VM's own: a volume belongs to
 * its claim, wherever it is attached and whatever boots from it.
 *
 * @param bootOrder keys of the disks that it boots from, first first; empty: the first disk
 */
export function disksOf(
  config: NonNullable<VirtualMachine['config']>,
  bootOrder: readonly number[],
  made: MadeDisks = noneMade,
): Disk[] {
  const disks = virtualDisksOf(config.devices);
  const foreign = new Set(foreignDisksOf(config, made).map(({ key }) => key));
  const own = disks.filter(({ key }) => !foreign.has(key));
  const [boot = own[0]?.key] = bootOrder.filter((key) => own.some((disk) => disk.key === key));
  return disks.map((disk) => ({
    key: disk.key,
    name: diskName(disk),
    uuid: diskUuid(disk),
    capacityBytes: bytesOf(disk),
    own: !foreign.has(disk.key),
    boot: disk.key === boot,
    ...(isLinked(disk) && { linked: true as const }),
  }));
}

/**
 * Some of its content is in a file of another folder: those of snapshots are in its own. First-class disks are their
 * CSI driver's.
 */
export function isLinked(disk: VirtualDisk): boolean {
  const file = attachedDisk(disk).fileName;
  if (disk.vDiskId !== undefined || file === null) return false;
  return parentFiles(disk.backing).some((parent) => folderOf(parent) !== folderOf(file));
}

function parentFiles(backing: AnyVirtualDevice['backing']): string[] {
  const isChild =
    isA(backing, 'VirtualDiskFlatVer2BackingInfo') ||
    isA(backing, 'VirtualDiskSeSparseBackingInfo') ||
    isA(backing, 'VirtualDiskSparseVer2BackingInfo');
  if (!isChild || backing.parent === undefined) return [];
  const files: string[] = [];
  for (
    let parent: { fileName: string; parent?: typeof parent } | undefined = backing.parent;
    parent;
    parent = parent.parent
  )
    files.push(parent.fileName);
  return files;
}

/** Stays the same wherever the disk is moved, and is no other one's. */
export function diskName(disk: VirtualDisk): string {
  const uuid = diskUuid(disk);
  return uuid === null ? `disk-${disk.key}` : `disk-${createHash('sha256').update(uuid).digest('hex').slice(0, 8)}`;
}

export const diskUuid = ({ backing }: Pick<AnyVirtualDevice, 'backing'>): string | null =>
  backing !== undefined && 'uuid' in backing && typeof backing.uuid === 'string' && backing.uuid !== ''
    ? backing.uuid
    : null;

/**
 * The disks that were not made with the VM: first-class disks, such as persistent volumes, and those whose file lies in
 * another folder. Destroying a VM destroys every disk that is attached. Pure.
 */
export const foreignDisks = ({ vmxPath, disks }: { vmxPath: string; disks: readonly AttachedDisk[] }): AttachedDisk[] =>
  disks.filter(
    ({ firstClassDiskId, fileName }) =>
      firstClassDiskId !== null || fileName === null || !isInFolderOf(vmxPath, fileName),
  );

/** A folder of that name on another datastore may be another VM's. */
export const isInFolderOf = (vmxPath: string, fileName: string): boolean =>
  folderOf(vmxPath) !== '' && directoryOf(fileName) === directoryOf(vmxPath);

const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** Of `[datastore] folder/a.vmdk`; empty: it lies in none. */
export const folderOf = (path: string): string =>
  /^\[[^\]]*\] (?<folder>.+)\/[^/]+$/u.exec(path)?.groups?.['folder'] ?? '';
