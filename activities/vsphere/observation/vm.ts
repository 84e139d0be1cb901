import type { TaskFacts, VmFacts } from '../../../contracts/virtual-machine/observation.ts';
import { vmPaths } from './read-vm.ts';
import type { VirtualMachine } from '../types.ts';
import { configPaths, toConfig } from './config.ts';
import { networkCardsOf } from './devices.ts';
import { guestPaths, toGuest } from './guest.ts';
import { shownHardware } from './shown-hardware.ts';
import { shownNetwork } from './shown-network.ts';
import { shownSnapshots, snapshotPaths } from './shown-snapshots.ts';
import { layoutPaths, shownStorage } from './shown-storage.ts';

/** Everything that is read of a VM for decisions about it and for its status. */
export const factPaths = [
  ...vmPaths,
  ...configPaths,
  ...guestPaths,
  ...layoutPaths,
  ...snapshotPaths,
  'config.createDate',
] as const;

/** What is known of a VM from what is around it. */
export interface VmPlace {
  location: VmFacts['location'];
  zone: string | null;
  hostName: string | null;
  cpuMHz: number;
  task: TaskFacts | null;
  clusterModule: string | null;
}

/**
 * @param asked names of the spec's interfaces in their order, and keys of ExtraConfig that are told beside drover's own
 */
export function toFacts(
  vm: VirtualMachine,
  place: VmPlace,
  bootMark: string,
  asked: { interfaces: readonly string[]; extraConfigKeys: readonly string[] },
): VmFacts {
  const config = toConfig(vm, asked.extraConfigKeys);
  const bootMs = Date.parse(vm.bootTime ?? '');
  return {
    moId: vm.id,
    name: vm.name,
    instanceUuid: vm.instanceUuid,
    biosUuid: vm.biosUuid,
    connectionState: connectionStates[vm.connectionState] ?? null,
    powerState: vm.powerState,
    bootMark,
    upSinceMs: vm.powerState !== 'poweredOn' || Number.isNaN(bootMs) ? null : bootMs,
    config,
    resourcePool: vm.resourcePoolId,
    folder: vm.folderId,
    guest: toGuest(vm.properties),
    shown: config === null || vm.config === null ? {} : shownOf(vm, config, vm.config.devices, asked.interfaces),
    ...place,
  };
}

const connectionStates: Readonly<Record<string, NonNullable<VmFacts['connectionState']>>> = {
  connected: 'connected',
  disconnected: 'disconnected',
  inaccessible: 'inaccessible',
  invalid: 'invalid',
  orphaned: 'orphaned',
};

function shownOf(
  { properties }: VirtualMachine,
  config: NonNullable<VmFacts['config']>,
  devices: NonNullable<VirtualMachine['config']>['devices'],
  interfaces: readonly string[],
): VmFacts['shown'] {
  const cards = networkCardsOf(devices);
  const names = new Map(interfaces.map((name, index) => [cards[index]?.key ?? -1, name] as const));
  const network = shownNetwork(properties, names);
  const { volumes, storage } = shownStorage(properties, devices);
  const made = properties['config.createDate'];
  return {
    hardware: shownHardware(config, devices),
    volumes,
    storage,
    ...shownSnapshots(properties),
    ...(network !== undefined && { network }),
    ...(typeof made === 'string' && { provider: { creationTimestamp: made } }),
  };
}
