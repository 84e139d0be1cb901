import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { readCardRecord } from '../../../contracts/virtual-machine/network-cards.ts';
import type { Lacking, ObservedTask, ObservedVm } from '../../../contracts/virtual-machine/observation.ts';
import type { Tools } from '../dependencies.ts';
import type { VirtualMachine } from '../types.ts';
import { vim } from '../wire/kinds.ts';
import type { VirtualMachineSnapshotTree } from '../wire/vim/types.ts';
import { configPaths, toConfig } from './config.ts';
import { networkCardsOf } from './devices.ts';
import { guestPaths, toGuest } from './guest.ts';
import { vmPaths } from './read-vm.ts';
import { cryptoPaths, shownCrypto } from './shown-crypto.ts';
import { shownHardware } from './shown-hardware.ts';
import { shownNetwork } from './shown-network.ts';
import { shownStorage } from './shown-storage.ts';
import { heldBySnapshots } from './snapshot-disks.ts';

/** Everything that is read of a VM for decisions about it and for its status. */
export const observedPaths = [
  ...vmPaths,
  ...configPaths,
  ...guestPaths,
  ...cryptoPaths,
  'rootSnapshot',
  'config.createDate',
] as const;

/** What is known of a VM from what is around it. */
export interface VmPlace {
  location: ObservedVm['location'];
  zone: string | null;
  hostName: string | null;
  cpuMHz: number;
  task: ObservedTask | null;
  clusterModule: string | null;
  unknownModule?: Lacking;
}

/**
 * @param asked names of the spec's interfaces in their order, keys of ExtraConfig that are shown beside drover's own,
 * and names of the disks that
 *   were made with it
 */
export function toObservedVm(
  vm: VirtualMachine,
  place: VmPlace,
  bootId: string,
  asked: { interfaces: readonly string[]; extraConfigKeys: readonly string[]; madeDisks?: readonly string[] },
): ObservedVm {
  const config = toConfig(vm, asked.extraConfigKeys, asked.madeDisks);
  const bootMs = Date.parse(vm.bootTime ?? '');
  return {
    moId: vm.id,
    name: vm.name,
    instanceUuid: vm.instanceUuid,
    biosUuid: vm.biosUuid,
    connectionState: connectionStates[vm.connectionState] ?? null,
    powerState: vm.powerState,
    bootId,
    upSinceMs: vm.powerState !== 'poweredOn' || Number.isNaN(bootMs) ? null : bootMs,
    config,
    resourcePool: vm.resourcePoolId,
    folder: vm.folderId,
    guest: toGuest(vm.properties),
    heldBySnapshots:
      vm.config === null
        ? []
        : heldBySnapshots(vm.properties, vm.config, { vmName: vm.name, disks: asked.madeDisks ?? [] }),
    ...(hasSnapshots(vm.properties) && { hasSnapshots: true as const }),
    disksByUuid: foreignPlaces(vm, config),
    shown: config === null || vm.config === null ? {} : shownOf(vm, config, vm.config.devices, asked.interfaces),
    ...place,
  };
}

function foreignPlaces(
  { config: read, properties }: VirtualMachine,
  config: ObservedVm['config'],
): ObservedVm['disksByUuid'] {
  const foreign = (config?.disks ?? []).filter(({ own }) => !own).map(({ key }) => key);
  return read === null || foreign.length === 0 ? {} : shownStorage(properties, read.devices, foreign).byUuid;
}

const connectionStates: Readonly<Record<string, NonNullable<ObservedVm['connectionState']>>> = {
  connected: 'connected',
  disconnected: 'disconnected',
  inaccessible: 'inaccessible',
  invalid: 'invalid',
  orphaned: 'orphaned',
};

function shownOf(
  { properties }: VirtualMachine,
  config: NonNullable<ObservedVm['config']>,
  devices: NonNullable<VirtualMachine['config']>['devices'],
  interfaces: readonly string[],
): ObservedVm['shown'] {
  const cards = networkCardsOf(devices);
  const recorded = [...readCardRecord(config.extraConfig)].map(([name, key]) => [key, name] as const);
  const inOrder = interfaces.map((name, index) => [cards[index]?.key ?? -1, name] as const);
  // An only card is not recorded.
  const names = new Map(recorded.length > 0 ? recorded : inOrder);
  const network = shownNetwork(properties, names, devices);
  const { volumes, storage } = shownStorage(properties, devices);
  const crypto = shownCrypto(properties, devices);
  const made = properties['config.createDate'];
  return {
    hardware: shownHardware(config, devices, properties),
    volumes,
    storage,
    ...shownSnapshots(properties),
    ...(network !== undefined && { network }),
    ...(crypto !== undefined && { crypto }),
    ...(typeof made === 'string' && { provider: { creationTimestamp: made } }),
  };
}

const info = vim('VirtualMachineSnapshotInfo').optional().catch(undefined);

/**
 * The VM's snapshots as the status shows them, by the names that they have in vCenter: no object stands for them. Pure.
 */
function shownSnapshots(
  properties: Readonly<Record<string, unknown>>,
): Pick<VirtualMachineStatus, 'currentSnapshot' | 'rootSnapshots'> {
  const { currentSnapshot, rootSnapshotList: roots = [] } = z.parse(info, properties['snapshot']) ?? {};
  if (roots.length === 0) return {};
  const current = currentSnapshot === undefined ? undefined : nameIn(roots, currentSnapshot.value);
  return {
    ...(current !== undefined && { currentSnapshot: unmanaged(current) }),
    rootSnapshots: roots.map(({ name }) => unmanaged(name)),
  };
}

const hasSnapshots = (properties: Readonly<Record<string, unknown>>): boolean =>
  (z.parse(info, properties['snapshot'])?.rootSnapshotList ?? []).length > 0;

const unmanaged = (name: string) => ({ name, type: 'Unmanaged' as const });

function nameIn(trees: readonly VirtualMachineSnapshotTree[], id: string): string | undefined {
  for (const { snapshot, name, childSnapshotList = [] } of trees) {
    const found = snapshot.value === id ? name : nameIn(childSnapshotList, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Changes whenever the guest has started anew, as far as vCenter knows: by the boot time, and by the latest of its
 * events that say so, as a reset changes no boot time. Opaque.
 */
export async function readBootId(
  { gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>,
  { id, powerState, bootTime }: Pick<VirtualMachine, 'id' | 'powerState' | 'bootTime'>,
): Promise<string> {
  if (powerState === 'poweredOff') return 'off';
  return `${bootTime ?? ''}#${(await gateway.lastStart(id, signal)) ?? ''}`;
}
