import {
  deviceText,
  isSameDevice,
  pciHardwareVersion,
  type ClassDevice,
} from '../../../contracts/virtual-machine/class-devices.ts';
import type { DeviceChange, PciDevice } from '../../../contracts/virtual-machine/config.ts';
import type { ObservedClass, ObservedImage } from '../../../contracts/virtual-machine/observation.ts';

/** The PCI devices of a class, where they differ. Only while the VM is off; one of a kind that no class names stays. */
export function diffClassDevices(wanted: readonly ClassDevice[], current: readonly PciDevice[]): DeviceChange[] {
  const left = [...current];
  const added = wanted.filter((device) => {
    const at = left.findIndex((one) => one.device !== null && isSameDevice(one.device, device));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return [
    ...left
      .filter(({ device }) => device !== null)
      .map(({ key }): DeviceChange => ({ operation: 'remove', device: 'pciDevice', key })),
    ...added.map(addPciDevice),
  ];
}

/** Devices that the class promises and the VM does not have, in words. */
export const missingDevices = (wanted: readonly ClassDevice[], current: readonly PciDevice[]): string[] =>
  diffClassDevices(wanted, current).flatMap((change) =>
    change.operation === 'add' && change.device === 'pciDevice' ? [deviceText(change.pciDevice)] : [],
  );

export const addPciDevice = (pciDevice: ClassDevice): DeviceChange => ({
  operation: 'add',
  device: 'pciDevice',
  pciDevice,
});

/**
 * What a VM is made with that has PCI devices, where its image is older. Null: the image's will do, or it is not known.
 */
export function hardwareVersionFor(applied: ObservedClass | null, image: ObservedImage | null): number | null {
  const version = image?.hardware.version ?? null;
  return applied?.hasPciDevices === true && version !== null && version < pciHardwareVersion
    ? pciHardwareVersion
    : null;
}
