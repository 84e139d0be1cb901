import type { ImageDisk } from '../../../contracts/virtual-machine/cached-files.ts';
import { diskName, nvramName } from '../../../contracts/virtual-machine/cached-files.ts';
import type { OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { CreateSource, CreateSpec } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { VirtualDeviceConfigSpec, VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { allocation, newConfig, storageProfile } from './new-vm.ts';

/** A VM of disks that are there. See docs/compatibility.md#image-cache. Pure. */

type CachedSource = Extract<CreateSource, { kind: 'cachedDisks' }>;

/** Keys of new devices, below zero until vCenter gives them their own; those of cards and drives begin at -101. */
const firstControllerKey = -1;
const firstDiskKey = -21;
/** Every VM has these two. */
const ideKeys = [200, 201];
const controllers = {
  SCSI: { $type: 'ParaVirtualSCSIController', sharedBus: 'noSharing' },
  SATA: { $type: 'VirtualAHCIController' },
  NVME: { $type: 'VirtualNVMEController' },
} as const;
/** A SCSI controller is itself the unit 7 of its bus. */
const scsiOwnUnit = 7;

/**
 * @param home `[datastore] folder`, where what was copied is
 * @throws InvalidObject where a disk has no slot
 */
export function cachedDisksSpec(
  create: CreateSpec,
  owner: OwnerReference,
  { source, home }: { source: CachedSource; home: string },
): VirtualMachineConfigSpec {
  const { hardware, nvram, mode, disks } = source;
  const config = newConfig(create, owner, []);
  const imageDisks =
    hardware.disks.length > 0
      ? hardware.disks
      : disks.map((): ImageDisk => ({ controller: 'SCSI', busNumber: 0, unitNumber: null, capacityBytes: null }));
  const options = [
    // vCenter must not destroy with the VM what others are linked to.
    ...(mode === 'linked' ? [{ key: extraConfigKeys.keepDisks, value: disks.map(baseName).join(',') }] : []),
    ...(nvram === null ? [] : [{ key: 'nvram', value: nvramName(create.name) }]),
  ];
  return {
    ...(hardware.guestId !== null && { guestId: hardware.guestId }),
    ...(hardware.firmware !== null && { firmware: hardware.firmware }),
    ...(hardware.version !== null && { version: `vmx-${hardware.version}` }),
    ...config,
    name: create.name,
    files: { vmPathName: `${home}/${create.name}.vmx` },
    ...(create.storageProfileId !== undefined && { vmProfile: storageProfile(create.storageProfileId) }),
    extraConfig: [...(config.extraConfig ?? []), ...options],
    deviceChange: [
      ...(config.deviceChange ?? []),
      ...diskChanges(
        imageDisks,
        (index) => backingOf(mode, `${home}/${diskName(index)}`, disks[index] ?? '', create.provisioning),
        { mode, storageProfileId: create.storageProfileId },
      ),
    ],
  };
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const backingOf = (
  mode: CachedSource['mode'],
  own: string,
  cached: string,
  provisioning: CreateSpec['provisioning'] = 'thin',
) => ({
  $type: 'VirtualDiskFlatVer2BackingInfo' as const,
  fileName: own,
  diskMode: 'persistent',
  ...allocation(provisioning),
  ...(mode === 'linked' && {
    parent: {
      $type: 'VirtualDiskFlatVer2BackingInfo' as const,
      fileName: cached,
      diskMode: 'persistent',
      thinProvisioned: true,
    },
  }),
});

function diskChanges(
  disks: readonly ImageDisk[],
  backing: (index: number) => ReturnType<typeof backingOf>,
  { mode, storageProfileId }: Pick<CachedSource, 'mode'> & { storageProfileId: string | undefined },
): VirtualDeviceConfigSpec[] {
  const added = new Map<string, number>();
  const changes: VirtualDeviceConfigSpec[] = [];
  const taken = new Set<string>();
  const controllerKeyOf = ({ controller, busNumber }: ImageDisk): number => {
    if (controller === 'IDE') return ideKeys[busNumber] ?? noSlot(controller, busNumber);
    const name = `${controller}${busNumber}`;
    const known = added.get(name);
    if (known !== undefined) return known;
    const key = firstControllerKey - added.size;
    added.set(name, key);
    changes.push({ operation: 'add', device: { ...controllers[controller], key, busNumber } });
    return key;
  };
  const unitOf = ({ controller, unitNumber }: ImageDisk, controllerKey: number): number => {
    const isFree = (unit: number): boolean =>
      !taken.has(`${controllerKey} ${unit}`) && !(controller === 'SCSI' && unit === scsiOwnUnit);
    const unit = unitNumber ?? firstOf(isFree);
    taken.add(`${controllerKey} ${unit}`);
    return unit;
  };
  disks.forEach((disk, index) => {
    const controllerKey = controllerKeyOf(disk);
    // Of a disk that is there, vCenter reads the capacity itself.
    const capacityInKB = Math.ceil((disk.capacityBytes ?? 0) / 1024);
    const device = {
      $type: 'VirtualDisk' as const,
      key: firstDiskKey - index,
      controllerKey,
      unitNumber: unitOf(disk, controllerKey),
      backing: backing(index),
      capacityInKB,
    };
    changes.push({
      operation: 'add',
      ...(mode === 'linked' && { fileOperation: 'create' }),
      ...(storageProfileId !== undefined && { profile: storageProfile(storageProfileId) }),
      device,
    });
  });
  return changes;
}

function firstOf(isFree: (unit: number) => boolean): number {
  let unit = 0;
  while (!isFree(unit)) unit += 1;
  return unit;
}

function noSlot(controller: string, busNumber: number): never {
  throw droverFailure(
    'InvalidObject',
    `The image has a disk at ${controller} ${busNumber}, and a VM has no such controller`,
  );
}
