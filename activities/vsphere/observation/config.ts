import { z } from 'zod';

import type {
  BootDevice,
  BootOptions,
  ResourceAllocation,
  VmConfig,
} from '../../../contracts/virtual-machine/config.ts';
import { isGuestSetupKey } from '../../../contracts/virtual-machine/extra-config-keys.ts';
import { appliedCardKeys, backupKeys, extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { VirtualMachine } from '../types.ts';
import { isA, vim } from '../wire/kinds.ts';
import type {
  ResourceAllocationInfo,
  VirtualMachineBootOptions,
  VirtualMachineVirtualNumaInfo,
} from '../wire/vim/types.ts';
import { cdromsOf, controllersOf, disksOf, networkCardsOf, pciDevicesOf } from './devices.ts';

/** What only the observation needs of a VM's configuration. */
export const configPaths = [
  'config.guestId',
  'config.firmware',
  'config.annotation',
  'config.managedBy',
  'config.cpuAllocation',
  'config.memoryAllocation',
  'config.cpuHotAddEnabled',
  'config.memoryHotAddEnabled',
  'config.nestedHVEnabled',
  'config.vPMCEnabled',
  'config.flags',
  'config.memoryReservationLockedToMax',
  'config.latencySensitivity',
  'config.changeTrackingEnabled',
  'config.bootOptions',
  'config.numaInfo',
  'config.tools.pendingCustomization',
] as const;

const flag = z.boolean().default(false);
const text = z.string().default('');

const properties = z.object({
  'config.hardware': vim('VirtualHardware'),
  'config.guestId': text,
  'config.firmware': text,
  'config.annotation': text,
  'config.managedBy': vim('ManagedByInfo').optional(),
  'config.cpuAllocation': vim('ResourceAllocationInfo').optional(),
  'config.memoryAllocation': vim('ResourceAllocationInfo').optional(),
  'config.cpuHotAddEnabled': flag,
  'config.memoryHotAddEnabled': flag,
  'config.nestedHVEnabled': flag,
  'config.vPMCEnabled': flag,
  'config.flags': vim('VirtualMachineFlagInfo').optional(),
  'config.memoryReservationLockedToMax': flag,
  'config.latencySensitivity': vim('LatencySensitivity').optional(),
  'config.changeTrackingEnabled': flag,
  'config.bootOptions': vim('VirtualMachineBootOptions').optional(),
  'config.numaInfo': vim('VirtualMachineVirtualNumaInfo').optional().catch(undefined),
});

/**
 * @param keys of ExtraConfig that are shown beside drover's own
 * @param madeDisks names of the disks that were made with it
 * @returns null where vCenter does not report all of it
 */
export function toConfig(
  vm: VirtualMachine,
  keys: readonly string[],
  madeDisks: readonly string[] = [],
): VmConfig | null {
  const parsed = properties.safeParse(vm.properties);
  if (vm.config === null || !parsed.success) return null;
  const data = parsed.data;
  const { numCPU, numCoresPerSocket = 1, memoryMB, simultaneousThreads } = data['config.hardware'];
  const { changeVersion, version, devices, extraConfig } = vm.config;
  const managedBy = data['config.managedBy'];
  const boot = data['config.bootOptions'];
  return {
    changeVersion,
    hardwareVersion: Number(/\d+$/u.exec(version)?.[0] ?? 0),
    guestId: data['config.guestId'],
    firmware: data['config.firmware'],
    numCPUs: numCPU,
    numCoresPerSocket,
    memoryMB,
    coresPerNumaNode: toCoresPerNumaNode(data['config.numaInfo']),
    cpuAllocation: toAllocation(data['config.cpuAllocation']),
    memoryAllocation: toAllocation(data['config.memoryAllocation']),
    cpuHotAddEnabled: data['config.cpuHotAddEnabled'],
    memoryHotAddEnabled: data['config.memoryHotAddEnabled'],
    nestedHVEnabled: data['config.nestedHVEnabled'],
    vPMCEnabled: data['config.vPMCEnabled'],
    vvtdEnabled: data['config.flags']?.vvtdEnabled ?? false,
    memoryReservationLockedToMax: data['config.memoryReservationLockedToMax'],
    latencySensitivity: data['config.latencySensitivity']?.level ?? 'normal',
    simultaneousThreads: simultaneousThreads || 1,
    changeTrackingEnabled: data['config.changeTrackingEnabled'],
    annotation: data['config.annotation'],
    managedBy: managedBy === undefined ? null : { extensionKey: managedBy.extensionKey, type: managedBy.type },
    ...toBootOptions(boot),
    bootOrder: toBootOrder(boot),
    extraConfig: { ...visibleExtraConfig(extraConfig, keys), ...pendingCustomization(vm) },
    networkCards: networkCardsOf(devices),
    cdroms: cdromsOf(devices, vm.powerState === 'poweredOn'),
    disks: disksOf(
      vm.config,
      boot?.bootOrder?.flatMap((device) =>
        isA(device, 'VirtualMachineBootOptionsBootableDiskDevice') ? [device.deviceKey] : [],
      ) ?? [],
      { vmName: vm.name, disks: madeDisks },
    ),
    pciDevices: pciDevicesOf(devices),
    controllers: controllersOf(devices),
  };
}

/** A customization that waits for the next start: of Tools' setting, or of the key that stands for it. */
const pendingCustomization = ({ properties: read, config }: VirtualMachine): Record<string, string> => {
  const waiting = read['config.tools.pendingCustomization'] || config?.extraConfig[extraConfigKeys.deployPackage];
  return typeof waiting === 'string' && waiting !== '' ? { [extraConfigKeys.deployPackage]: waiting } : {};
};

export const isCustomizationPending = (vm: VirtualMachine): boolean => Object.keys(pendingCustomization(vm)).length > 0;

/** As vCenter has them, for a change of some of them. */
export const readBootOptions = (read: VirtualMachine['properties']): VirtualMachineBootOptions | null =>
  vim('VirtualMachineBootOptions').safeParse(read['config.bootOptions']).data ?? null;

const toAllocation = ({ reservation = 0, limit = -1 }: ResourceAllocationInfo = {}): ResourceAllocation => ({
  reservation,
  limit,
});

const toCoresPerNumaNode = ({
  autoCoresPerNumaNode,
  coresPerNumaNode = 0,
}: VirtualMachineVirtualNumaInfo = {}): number => (autoCoresPerNumaNode === true ? 0 : coresPerNumaNode);

const toBootOrder = ({ bootOrder = [] }: VirtualMachineBootOptions = {}): BootDevice[] =>
  bootOrder.map((device) =>
    isA(device, 'VirtualMachineBootOptionsBootableDiskDevice')
      ? { type: 'disk', key: device.deviceKey }
      : isA(device, 'VirtualMachineBootOptionsBootableEthernetDevice')
        ? { type: 'network', key: device.deviceKey }
        : { type: isA(device, 'VirtualMachineBootOptionsBootableCdromDevice') ? 'cdrom' : 'other' },
  );

function toBootOptions({
  bootDelay,
  bootRetryEnabled,
  bootRetryDelay,
  efiSecureBootEnabled,
  networkBootProtocol,
}: VirtualMachineBootOptions = {}): Partial<BootOptions> {
  return {
    ...(bootDelay !== undefined && { bootDelay }),
    ...(bootRetryEnabled !== undefined && { bootRetryEnabled }),
    ...(bootRetryDelay !== undefined && { bootRetryDelay }),
    ...(efiSecureBootEnabled !== undefined && { efiSecureBootEnabled }),
    ...((networkBootProtocol === 'ipv4' || networkBootProtocol === 'ipv6') && { networkBootProtocol }),
  };
}

const ownKeys = new Set<string>(Object.values(extraConfigKeys));

const stored = new Set<string>(Object.values(backupKeys));

/** The bootstrap data of a guest may be secret, and so may the backup that is stored with its VM. */
export const isSecret = (key: string): boolean => isGuestSetupKey(key) || stored.has(key);

/** drover's keys, those that are requested, and those that were requested once. Pure. */
export function visibleExtraConfig(
  all: Readonly<Record<string, string>>,
  asked: readonly string[],
): Record<string, string> {
  const once = [...(all[extraConfigKeys.managedKeys] ?? '').split(','), ...appliedCardKeys(all)];
  const visible = new Set([...ownKeys, ...asked, ...once]);
  return Object.fromEntries(
    Object.entries(all)
      .filter(([key]) => (visible.has(key) || isMetadataKey(key)) && !isSecret(key))
      .map(([key, value]) => [
        key,
        key === extraConfigKeys.bootstrapCondition ? value.slice(0, longestOfGuest) : value,
      ]),
  );
}

/** A guest may write whatever it likes. */
const longestOfGuest = 1_024;

/** Keys of drover and of the operator before: they go when the VM is left to others. */
export const isMetadataKey = (key: string): boolean => key.startsWith('vmservice.') || key.startsWith('drover.');
