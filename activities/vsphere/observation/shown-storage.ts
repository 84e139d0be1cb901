import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import { quantityText } from '../../../contracts/quantity.ts';
import { diskKeyOf } from '../../../contracts/virtual-machine/volumes.ts';
import type { Devices } from './read-vm.ts';
import { isA, vim } from '../wire/kinds.ts';
import type { VirtualDisk } from '../wire/vim/types.ts';
import { busOf, bytesOf, controllerType, diskName, diskUuid, virtualDisksOf } from './devices.ts';
import { keyOfDisk, shownKey } from './shown-crypto.ts';

type Volume = NonNullable<VirtualMachineStatus['volumes']>[number];
type Place = Partial<Omit<Volume, 'name' | 'type'>>;
type Storage = NonNullable<VirtualMachineStatus['storage']>;

const properties = z.object({
  'layoutEx.file': z.array(vim('VirtualMachineFileLayoutExFileInfo')).default([]),
  'layoutEx.disk': z.array(vim('VirtualMachineFileLayoutExDiskLayout')).default([]),
});
type Layout = z.output<typeof properties>;

/**
 * The disks that belong to the VM itself (`Classic`) and what all of its files take, as the status shows them. A disk
 * of a PersistentVolumeClaim is shown by its claim: `byUuid` has what is known of those that did not come with
 * the VM. Pure.
 *
 * @param foreign keys of the latter
 */
export function shownStorage(
  read: Readonly<Record<string, unknown>>,
  devices: Devices,
  foreign: readonly number[] = [],
): { volumes: Volume[]; storage: Storage; byUuid: Record<string, Place> } {
  const layout = properties.safeParse(read).data ?? { 'layoutEx.file': [], 'layoutEx.disk': [] };
  const all = virtualDisksOf(devices);
  const disks = all.filter(({ vDiskId }) => vDiskId === undefined);
  const volumes = disks.map((disk) => toVolume(disk, usedBy(disk.key, layout), devices));
  const requestedBytes = disks.reduce((sum, disk) => sum + bytesOf(disk), 0);
  const usedBytes = disks.reduce((sum, { key }) => sum + (usedBy(key, layout) ?? 0), 0);
  const sizeOf = (isCounted: (type: string) => boolean): number =>
    layout['layoutEx.file']
      .filter(({ type }) => isCounted(type))
      .reduce((sum, { uniqueSize = 0 }) => sum + uniqueSize, 0);
  const otherBytes = sizeOf((type) => !diskFiles.has(type) && !snapshotFiles.has(type));
  const snapshotBytes = sizeOf((type) => snapshotFiles.has(type));
  return {
    volumes,
    byUuid: placesByUuid(
      all.filter(({ key }) => foreign.includes(key)),
      layout,
      devices,
    ),
    storage: {
      ...(requestedBytes > 0 && { requested: { disks: quantityText(requestedBytes) } }),
      usage: {
        ...(usedBytes > 0 && { disks: quantityText(usedBytes) }),
        ...(otherBytes > 0 && { other: quantityText(otherBytes) }),
        ...(snapshotBytes > 0 && { snapshots: { vm: quantityText(snapshotBytes) } }),
      },
      total: quantityText(requestedBytes + otherBytes),
    },
  };
}

/** Of disks that did not come with the VM, by their UUID. */
const placesByUuid = (disks: readonly VirtualDisk[], layout: Layout, devices: Devices): Record<string, Place> =>
  Object.fromEntries(
    disks.flatMap((disk) => {
      const uuid = diskUuid(disk);
      return uuid === null ? [] : [[diskKeyOf(uuid), placeOf(disk, usedBy(disk.key, layout), devices)] as const];
    }),
  );

export const diskFiles = new Set(['diskDescriptor', 'diskExtent', 'digestDescriptor', 'digestExtent']);
const snapshotFiles = new Set(['snapshotList', 'snapshotMemory', 'snapshotData']);

/** Of a disk and all that it is a child of in this VM; null: vCenter does not report it. */
function usedBy(key: number, layout: Layout): number | null {
  const chain = layout['layoutEx.disk'].find((disk) => disk.key === key)?.chain;
  if (chain === undefined) return null;
  const files = new Set(chain.flatMap(({ fileKey = [] }) => fileKey));
  return layout['layoutEx.file']
    .filter((file) => files.has(file.key))
    .reduce((sum, { uniqueSize = 0 }) => sum + uniqueSize, 0);
}

function toVolume(disk: VirtualDisk, usedBytes: number | null, devices: Devices): Volume {
  const uuid = diskUuid(disk);
  const capacity = quantityText(bytesOf(disk));
  return {
    name: diskName(disk),
    type: 'Classic',
    attached: true,
    limit: capacity,
    requested: capacity,
    ...(uuid !== null && { diskUUID: uuid }),
    ...placeOf(disk, usedBytes, devices),
  };
}

/** Where a disk is and how it is attached, that of the image or one of a volume. */
function placeOf(disk: VirtualDisk, usedBytes: number | null, devices: Devices): Place {
  const controller = devices.find(({ key }) => key === disk.controllerKey);
  const type = controller === undefined ? null : controllerType(controller);
  const backing = isA(disk.backing, 'VirtualDiskFlatVer2BackingInfo') ? disk.backing : null;
  const mode = modes[backing?.diskMode ?? ''];
  const key = shownKey(keyOfDisk(disk));
  return {
    ...(usedBytes !== null && { used: quantityText(usedBytes) }),
    ...(controller !== undefined && type !== null && { controllerType: type, controllerBusNumber: busOf(controller) }),
    ...(disk.unitNumber !== undefined && { unitNumber: disk.unitNumber }),
    ...(mode !== undefined && { diskMode: mode }),
    ...(key !== undefined && { crypto: key }),
    ...(backing?.sharing !== undefined && {
      sharingMode: backing.sharing === 'sharingMultiWriter' ? 'MultiWriter' : 'None',
    }),
  };
}

const modes: Readonly<Record<string, NonNullable<Volume['diskMode']>>> = {
  persistent: 'Persistent',
  nonpersistent: 'NonPersistent',
  independent_persistent: 'IndependentPersistent',
  independent_nonpersistent: 'IndependentNonPersistent',
};
