import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import type { BootDevice, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import type { DesiredVirtualMachine, WantedBootDevice } from '../../../contracts/virtual-machine/lifecycle.ts';
import { readCardRecord } from '../../../contracts/virtual-machine/network-cards.ts';
import type { ConditionalDifference } from './numa.ts';

/**
 * What the VM tries to boot from, in that order. It can change at any time; a device that is not there is named, and
 * the order stays as it is.
 *
 * @param recorded volumes of the status, by which a disk of a PersistentVolumeClaim is known
 */
export function diffBootOrder(
  desired: Pick<DesiredVirtualMachine, 'networkCards'> & { config: { bootOrder: WantedBootDevice[] } },
  config: Pick<VmConfig, 'bootOrder' | 'disks' | 'networkCards' | 'cdroms' | 'extraConfig'>,
  recorded: VirtualMachineStatus['volumes'] = [],
): ConditionalDifference {
  const { bootOrder } = desired.config;
  const nothing = { spec: {}, whenOff: [], unmet: [] };
  if (bootOrder.length === 0) return nothing;
  const found = bootOrder.map((wanted) => findDevice(wanted, desired, config, recorded));
  const missing = bootOrder.filter((_, index) => found[index] === null);
  if (missing.length > 0)
    return {
      ...nothing,
      unmet: [
        `bootOptions.bootOrder names what the VM does not have (${missing.map(textOf).join(', ')}): correct the name, or add the device`,
      ],
    };
  const order = found.filter((device) => device !== null);
  const isSame =
    order.length === config.bootOrder.length &&
    order.every((device, index) => isSameDevice(device, config.bootOrder[index]));
  return isSame ? nothing : { ...nothing, spec: { bootOrder: order } };
}

function findDevice(
  { type, name }: WantedBootDevice,
  { networkCards }: Pick<DesiredVirtualMachine, 'networkCards'>,
  config: Pick<VmConfig, 'disks' | 'networkCards' | 'cdroms' | 'extraConfig'>,
  volumes: NonNullable<VirtualMachineStatus['volumes']>,
): BootDevice | null {
  switch (type) {
    case 'CDRom':
      return config.cdroms.length > 0 ? { type: 'cdrom' } : null;
    case 'Disk': {
      const uuid = volumes.find((volume) => volume.name === name)?.diskUUID;
      const disk =
        name === null
          ? config.disks.find(({ own }) => own)
          : (config.disks.find((one) => one.name === name) ??
            config.disks.find((one) => uuid !== undefined && one.uuid === uuid));
      return disk === undefined ? null : { type: 'disk', key: disk.key };
    }
    case 'Network': {
      const recorded = name === null ? undefined : readCardRecord(config.extraConfig).get(name);
      if (recorded !== undefined && config.networkCards.some((card) => card.key === recorded))
        return { type: 'network', key: recorded };
      // A VM without a record has its cards in the order of the spec.
      const at = name === null ? 0 : networkCards.findIndex((card) => card.name === name);
      const key = config.networkCards.toSorted((a, b) => (a.key ?? 0) - (b.key ?? 0))[at]?.key ?? null;
      return key === null ? null : { type: 'network', key };
    }
  }
}

const textOf = ({ type, name }: WantedBootDevice): string => (name === null ? type : `${type} ${name}`);

const isSameDevice = (one: BootDevice, other: BootDevice | undefined): boolean =>
  one.type === other?.type && ('key' in one ? one.key : null) === ('key' in other ? other.key : null);
