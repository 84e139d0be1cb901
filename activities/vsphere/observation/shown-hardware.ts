import { z } from 'zod';

import type { VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import type { VmConfig } from '../../../contracts/virtual-machine/config.ts';
import { quantityText } from '../../../contracts/quantity.ts';
import type { Devices } from './read-vm.ts';
import { isA, vim } from '../wire/kinds.ts';
import { busOf, controllerType } from './devices.ts';

type Hardware = NonNullable<VirtualMachineStatus['hardware']>;

const mib = 1024 ** 2;

const threads = z.object({ 'config.hardware': z.object({ simultaneousThreads: z.int() }) });

/** The VM's size and its controllers, as the status shows them. Pure. */
export function shownHardware(config: VmConfig, devices: Devices, read: Readonly<Record<string, unknown>>): Hardware {
  const simultaneousThreads = threads.safeParse(read).data?.['config.hardware'].simultaneousThreads;
  const { cpuAllocation: cpu, memoryAllocation: memory } = config;
  return {
    cpu: {
      total: config.numCPUs,
      coresPerSocket: config.numCoresPerSocket,
      ...(simultaneousThreads !== undefined && { simultaneousThreads }),
      ...(cpu.reservation > 0 && { reservation: cpu.reservation }),
      ...(cpu.limit > 0 && { limit: cpu.limit }),
      hotAddEnabled: config.cpuHotAddEnabled,
      nestedHardwareVirtualizationEnabled: config.nestedHVEnabled,
      performanceCountersEnabled: config.vPMCEnabled,
      iommuEnabled: config.vvtdEnabled,
      latencySensitivity: config.latencySensitivity,
      ...shownNuma(read),
    },
    memory: {
      total: quantityText(config.memoryMB * mib),
      ...(memory.reservation > 0 && { reservation: quantityText(memory.reservation * mib) }),
      ...(memory.limit > 0 && { limit: quantityText(memory.limit * mib) }),
      hotAddEnabled: config.memoryHotAddEnabled,
      reservationLockedToMax: config.memoryReservationLockedToMax,
    },
    ...shownGpus(devices),
    controllers: devices.flatMap((device) => {
      const type = controllerType(device);
      return type === null
        ? []
        : [{ type, busNumber: busOf(device), deviceKey: device.key, devices: devicesAt(device.key, devices) }];
    }),
  };
}

/**
 * How the VM's cores are divided into NUMA nodes, as vCenter has it. Of a VM that has never run on such hardware it
 * says nothing.
 */
function shownNuma(read: Readonly<Record<string, unknown>>): Pick<NonNullable<Hardware['cpu']>, 'vnuma'> {
  const { autoCoresPerNumaNode, coresPerNumaNode } = numaInfo.safeParse(read['config.numaInfo']).data ?? {};
  const vnuma = {
    ...(autoCoresPerNumaNode !== undefined && { autoCoresPerNumaNode }),
    ...(coresPerNumaNode !== undefined && { coresPerNumaNode }),
  };
  return Object.keys(vnuma).length === 0 ? {} : { vnuma };
}

const numaInfo = vim('VirtualMachineVirtualNumaInfo');

/** Shares of GPUs, which only one vendor's drivers make. */
function shownGpus(devices: Devices): Pick<Hardware, 'vGPUs'> {
  const vGPUs = devices.flatMap(({ backing }) =>
    backing !== undefined && isA(backing, 'VirtualPCIPassthroughVmiopBackingInfo') && backing.vgpu !== undefined
      ? [{ type: 'Nvidia', profile: backing.vgpu }]
      : [],
  );
  return vGPUs.length === 0 ? {} : { vGPUs };
}

/** One for each unit: kube-apiserver refuses the whole status of a VM that has two at one place. Disks first. */
function devicesAt(controllerKey: number, devices: Devices): { type: 'CDROM' | 'Disk'; unitNumber: number }[] {
  const at = devices.filter((device) => device.controllerKey === controllerKey && device.unitNumber !== undefined);
  const byUnit = new Map<number, 'CDROM' | 'Disk'>();
  for (const { unitNumber = 0 } of at.filter((device) => isA(device, 'VirtualCdrom'))) byUnit.set(unitNumber, 'CDROM');
  for (const { unitNumber = 0 } of at.filter((device) => isA(device, 'VirtualDisk'))) byUnit.set(unitNumber, 'Disk');
  return [...byUnit]
    .map(([unitNumber, type]) => ({ type, unitNumber }))
    .toSorted((a, b) => a.unitNumber - b.unitNumber);
}
