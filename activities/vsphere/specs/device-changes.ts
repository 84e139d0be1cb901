import type { ClassDevice } from '../../../contracts/virtual-machine/class-devices.ts';
import type { Cdrom, Controller, DeviceChange, NetworkCard } from '../../../contracts/virtual-machine/config.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { busOf, cardTypes, controllerType, scsiTypes, sharings } from '../observation/devices.ts';
import { backingOf, backingText } from '../observation/network-backing.ts';
import type { Devices } from '../observation/read-vm.ts';
import { isA, isKnown } from '../wire/kinds.ts';
import type {
  AnyVirtualDevice,
  VirtualCdrom,
  VirtualDeviceConfigSpec,
  VirtualEthernetCard,
  VirtualPCIPassthrough,
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
  const staying = devices.filter(({ key }) => !removed.has(key));
  const controllers = controllersAfter(staying, changes);
  const slots = freeSlots(staying).filter((slot) => !isNamed(slot, changes, controllers));
  return changes.map((change, index) => {
    const newKey = firstNewKey - index;
    if (change.operation === 'remove')
      return { operation: 'remove', device: writable(found(change.key, change.device, devices)) };
    if (change.device === 'controller')
      return change.operation === 'add'
        ? { operation: 'add', device: newController(change.controller, newKey, devices) }
        : {
            operation: 'edit',
            device: sharedAs(found(change.controller.key, 'controller', devices), change.controller),
          };
    if (change.device === 'pciDevice') return { operation: 'add', device: newPciDevice(change.pciDevice, newKey) };
    if (change.device === 'disk')
      return { operation: 'edit', device: resized(found(change.key, 'disk', devices), change.capacityBytes) };
    if (change.device === 'networkCard')
      return change.operation === 'add'
        ? { operation: 'add', device: newCard(change.card, newKey) }
        : { operation: 'edit', device: changedCard(found(change.card.key, 'networkCard', devices), change.card) };
    return change.operation === 'add'
      ? { operation: 'add', device: newCdrom(change.cdrom, newKey, takeSlot(change.cdrom, slots, controllers)) }
      : { operation: 'edit', device: changedCdrom(found(change.cdrom.key, 'cdrom', devices), change.cdrom) };
  });
}

const kinds = {
  networkCard: 'VirtualEthernetCard',
  cdrom: 'VirtualCdrom',
  disk: 'VirtualDisk',
  pciDevice: 'VirtualPCIPassthrough',
  controller: 'VirtualController',
} as const;

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

type WantedController = Omit<Controller, 'isInUse'>;

const controllerTypes = {
  IDE: 'VirtualIDEController',
  NVME: 'VirtualNVMEController',
  SATA: 'VirtualAHCIController',
} as const;

function newController(wanted: WantedController, key: number, devices: Devices): AnyVirtualDevice {
  const { bus, busNumber, type } = wanted;
  const $type = bus === 'SCSI' ? scsiTypes[type ?? 'ParaVirtual'] : controllerTypes[bus];
  const pci = devices.find((device) => device.$type === 'VirtualPCIController');
  return {
    $type,
    key,
    busNumber,
    ...(pci !== undefined && bus !== 'IDE' && { controllerKey: pci.key }),
    ...sharedBus(wanted),
  };
}

/** Only NVMe of vCenter 8.0 U2 and newer can share, and an older one does not know the word. */
const sharedBus = ({ bus, sharing }: WantedController): { sharedBus?: string } =>
  bus === 'SCSI' || (bus === 'NVME' && sharing !== 'None') ? { sharedBus: sharings[sharing] } : {};

const sharedAs = (device: AnyVirtualDevice, { sharing }: WantedController): AnyVirtualDevice => ({
  ...writable(device),
  sharedBus: sharings[sharing],
});

const newPciDevice = (device: ClassDevice, key: number): VirtualPCIPassthrough => ({
  $type: 'VirtualPCIPassthrough',
  key,
  backing:
    device.kind === 'vgpu'
      ? { $type: 'VirtualPCIPassthroughVmiopBackingInfo', vgpu: device.profile }
      : {
          $type: 'VirtualPCIPassthroughDynamicBackingInfo',
          deviceName: '',
          allowedDevice: device.allowed,
          ...(device.customLabel !== null && { customLabel: device.customLabel }),
        },
});

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

/** Without an ISO it is a drive of the remote console's client, as vCenter has no empty one. */
const isoBacking = (fileName: string) =>
  fileName === ''
    ? { $type: 'VirtualCdromRemotePassthroughBackingInfo', deviceName: '', exclusive: false }
    : { $type: 'VirtualCdromIsoBackingInfo', fileName };
const cdromConnection = ({ connected: isConnected, allowGuestControl }: Cdrom) => ({
  startConnected: isConnected,
  allowGuestControl,
  connected: isConnected,
});

/** A place that the spec names, or the first that is free. */
function takeSlot({ iso, slot = null }: Cdrom, free: Slot[], controllers: readonly Room[]): Slot {
  if (slot === null) {
    const [first] = free.splice(0, 1);
    if (first !== undefined) {
      controllers.find(({ controllerKey }) => controllerKey === first.controllerKey)?.taken.add(first.unitNumber);
      return first;
    }
    throw droverFailure(
      'InvalidObject',
      `There is no room for another drive of ${iso}: both IDE controllers have two devices`,
    );
  }
  const name = `${slot.bus} controller ${slot.busNumber}`;
  const room = controllers.find(({ bus, busNumber }) => bus === slot.bus && busNumber === slot.busNumber);
  if (room === undefined) throw droverFailure('InvalidObject', `The VM has no ${name} for the drive of ${iso}`);
  const unitNumber = slot.unitNumber ?? units[room.bus].find((unit) => !room.taken.has(unit));
  if (unitNumber === undefined || room.taken.has(unitNumber))
    throw droverFailure(
      'InvalidObject',
      `${name} has no room for the drive of ${iso}${slot.unitNumber === null ? '' : ` at unit ${slot.unitNumber}`}`,
    );
  room.taken.add(unitNumber);
  const { controllerKey } = room;
  const at = free.findIndex((one) => one.controllerKey === controllerKey && one.unitNumber === unitNumber);
  if (at !== -1) free.splice(at, 1);
  return { controllerKey, unitNumber };
}

/** Whether another drive of the change has it by its name. */
const isNamed = (place: Slot, changes: readonly DeviceChange[], controllers: readonly Room[]): boolean =>
  changes.some((change) => {
    if (change.operation !== 'add' || change.device !== 'cdrom' || !change.cdrom.slot) return false;
    const { bus, busNumber, unitNumber } = change.cdrom.slot;
    const room = controllers.find((one) => one.bus === bus && one.busNumber === busNumber);
    return room?.controllerKey === place.controllerKey && unitNumber === place.unitNumber;
  });

/** A controller, as the change leaves it. */
interface Room {
  bus: Controller['bus'];
  busNumber: number;
  controllerKey: number;
  taken: Set<number>;
}

/** A SCSI controller is itself the unit 7 of its bus. */
const units: Readonly<Record<Controller['bus'], number[]>> = {
  IDE: [0, 1],
  NVME: Array.from({ length: 15 }, (_, unit) => unit),
  SATA: Array.from({ length: 30 }, (_, unit) => unit),
  SCSI: Array.from({ length: 16 }, (_, unit) => unit).filter((unit) => unit !== 7),
};

const controllersAfter = (devices: Devices, changes: readonly DeviceChange[]): Room[] => [
  ...devices.flatMap((device) => {
    const bus = controllerType(device);
    const taken = devices.flatMap(({ controllerKey, unitNumber }) =>
      controllerKey === device.key && unitNumber !== undefined ? [unitNumber] : [],
    );
    return bus === null ? [] : [{ bus, busNumber: busOf(device), controllerKey: device.key, taken: new Set(taken) }];
  }),
  ...changes.flatMap((change, index) =>
    change.device === 'controller' && change.operation === 'add'
      ? [
          {
            bus: change.controller.bus,
            busNumber: change.controller.busNumber,
            controllerKey: firstNewKey - index,
            taken: new Set<number>(),
          },
        ]
      : [],
  ),
];

const newCdrom = (cdrom: Cdrom, key: number, slot: Slot): VirtualCdrom => ({
  $type: 'VirtualCdrom',
  key,
  ...slot,
  backing: isoBacking(cdrom.iso),
  connectable: cdromConnection(cdrom),
});

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
