import type { Cdrom, DeviceChange, NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { cardTypes } from '../observation/devices.ts';
import { backingOf, backingText } from '../observation/network-backing.ts';
import type { Devices } from '../observation/read-vm.ts';
import { isA, isKnown } from '../wire/kinds.ts';
import type {
  AnyVirtualDevice,
  VirtualCdrom,
  VirtualDeviceConfigSpec,
  VirtualEthernetCard,
} from '../wire/vim/types.ts';

/** New devices have keys below zero until vCenter gives them their own. */
const firstNewKey = -101;

/**
 * Changes of devices as vCenter is asked for them. Pure.
 *
 * @param devices of the VM as it is; for a new one those that it begins with
 * @throws InvalidObject where there is no slot for a drive; VirtualMachineConflict where a device is gone; InvalidInput
 */
export function deviceChanges(changes: readonly DeviceChange[], devices: Devices): VirtualDeviceConfigSpec[] {
  // What is taken off leaves its slot.
  const removed = new Set(changes.flatMap((change) => (change.operation === 'remove' ? [change.key] : [])));
  const slots = freeSlots(devices.filter(({ key }) => !removed.has(key)));
  return changes.map((change, index) => {
    const newKey = firstNewKey - index;
    if (change.operation === 'remove')
      return { operation: 'remove', device: writable(found(change.key, change.device, devices)) };
    if (change.device === 'disk')
      return { operation: 'edit', device: resized(found(change.key, 'disk', devices), change.capacityBytes) };
    if (change.device === 'networkCard')
      return change.operation === 'add'
        ? { operation: 'add', device: newCard(change.card, newKey) }
        : { operation: 'edit', device: changedCard(found(change.card.key, 'networkCard', devices), change.card) };
    return change.operation === 'add'
      ? { operation: 'add', device: newCdrom(change.cdrom, newKey, slots) }
      : { operation: 'edit', device: changedCdrom(found(change.cdrom.key, 'cdrom', devices), change.cdrom) };
  });
}

const kinds = { networkCard: 'VirtualEthernetCard', cdrom: 'VirtualCdrom', disk: 'VirtualDisk' } as const;

function found(key: number | null, kind: keyof typeof kinds, devices: Devices): AnyVirtualDevice {
  const device = devices.find((one) => one.key === key && isA(one, kinds[kind]));
  if (device !== undefined) return device;
  throw droverFailure('VirtualMachineConflict', `The VM has no ${kind} ${String(key)} any more`);
}

/** As it was read, without what vCenter says of it in words, and without what drover could only write in part. */
function writable(device: AnyVirtualDevice): AnyVirtualDevice {
  const { backing } = device;
  const left = new Set(backing === undefined || isKnown(backing) ? ['deviceInfo'] : ['deviceInfo', 'backing']);
  return Object.fromEntries(Object.entries(device).filter(([name]) => !left.has(name))) as AnyVirtualDevice;
}

function resized(device: AnyVirtualDevice, capacityBytes: number): AnyVirtualDevice {
  const capacityInKB = Math.ceil(capacityBytes / 1024);
  return { ...writable(device), capacityInKB, capacityInBytes: capacityInKB * 1024 };
}

const connected = { startConnected: true, allowGuestControl: true, connected: true };

function newCard({ type, backing, macAddress }: NetworkCard, key: number): VirtualEthernetCard {
  const $type = Object.entries(cardTypes).find(([name]) => name === type)?.[1];
  if ($type === undefined)
    throw droverFailure(
      'InvalidObject',
      `${type} is no type of network card; ${Object.keys(cardTypes).join(', ')} are`,
    );
  return {
    $type,
    key,
    backing: backingOf(backing),
    connectable: connected,
    ...(macAddress !== null && { addressType: 'manual', macAddress }),
  };
}

/** A connection that stays is written as it was read, with the port that it has. A negative node is none. */
const changedCard = (
  device: AnyVirtualDevice,
  { backing, uptv2Enabled = false, numaNode = -1 }: NetworkCard,
): AnyVirtualDevice => ({
  ...writable(device),
  ...(backingText(device.backing) !== backing && { backing: backingOf(backing) }),
  ...(isA(device, 'VirtualVmxnet3') && (device.uptv2Enabled ?? false) !== uptv2Enabled && { uptv2Enabled }),
  ...((device.numaNode ?? -1) !== numaNode && { numaNode }),
});

/** Without an ISO it is a drive of whoever looks at the console, as vCenter has no empty one. */
const isoBacking = (fileName: string) =>
  fileName === ''
    ? { $type: 'VirtualCdromRemotePassthroughBackingInfo', deviceName: '', exclusive: false }
    : { $type: 'VirtualCdromIsoBackingInfo', fileName };
const cdromConnection = ({ connected: isConnected, allowGuestControl }: Cdrom) => ({
  startConnected: isConnected,
  allowGuestControl,
  connected: isConnected,
});

const newCdrom = (cdrom: Cdrom, key: number, slots: Slot[]): VirtualCdrom => {
  const slot = slots.shift();
  if (slot === undefined)
    throw droverFailure(
      'InvalidObject',
      `There is no room for another drive of ${cdrom.iso}: both IDE controllers have two devices`,
    );
  return { $type: 'VirtualCdrom', key, ...slot, backing: isoBacking(cdrom.iso), connectable: cdromConnection(cdrom) };
};

const changedCdrom = (device: AnyVirtualDevice, cdrom: Cdrom): AnyVirtualDevice => ({
  ...writable(device),
  backing: isoBacking(cdrom.iso),
  connectable: cdromConnection(cdrom),
});

interface Slot {
  controllerKey: number;
  unitNumber: number;
}

/** Every new VM has them. */
const ideControllers = [200, 201];

/** Places for drives: each IDE controller has two. */
function freeSlots(devices: Devices): Slot[] {
  const there = devices.filter((device) => isA(device, 'VirtualIDEController')).map(({ key }) => key);
  return (there.length > 0 ? there : ideControllers).flatMap((controllerKey) => {
    const taken = new Set(
      devices.filter((device) => device.controllerKey === controllerKey).map(({ unitNumber }) => unitNumber),
    );
    return [0, 1].filter((unitNumber) => !taken.has(unitNumber)).map((unitNumber) => ({ controllerKey, unitNumber }));
  });
}
