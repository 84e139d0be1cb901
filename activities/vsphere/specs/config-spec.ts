import type {
  BootDevice,
  ReconfigSpec,
  ResourceAllocation,
  TagChange,
} from '../../../contracts/virtual-machine/config.ts';
import type { Devices } from '../observation/read-vm.ts';
import type { NeededApi } from '../types.ts';
import type {
  OptionValue,
  ResourceAllocationInfo,
  TagSpec,
  AnyVirtualMachineBootOptionsBootableDevice,
  VirtualMachineBootOptions,
  VirtualMachineConfigSpec,
} from '../wire/vim/types.ts';
import { deviceChanges } from './device-changes.ts';

/** What a change is made on. */
export interface ChangedVm {
  devices: Devices;
  bootOptions: VirtualMachineBootOptions | null;
}

/**
 * A change as vCenter is asked for it: nothing else is in it. Pure.
 *
 * @throws InvalidObject, InvalidInput where a device cannot be changed so
 */
export function configSpec(spec: ReconfigSpec, { devices, bootOptions }: ChangedVm): VirtualMachineConfigSpec {
  const {
    bootDelay,
    bootRetryEnabled,
    bootRetryDelay,
    efiSecureBootEnabled,
    networkBootProtocol,
    bootOrder,
    coresPerNumaNode,
    vvtdEnabled,
    latencySensitivity,
    cpuAllocation,
    memoryAllocation,
    extraConfig,
    deviceChange,
    tagSpecs,
    ...same
  } = spec;
  const boot = given({
    bootDelay,
    bootRetryEnabled,
    bootRetryDelay,
    efiSecureBootEnabled,
    networkBootProtocol,
    bootOrder: bootOrder?.map(bootable),
  });
  return {
    ...given(same),
    ...(cpuAllocation !== undefined && { cpuAllocation: allocationInfo(cpuAllocation) }),
    ...(memoryAllocation !== undefined && { memoryAllocation: allocationInfo(memoryAllocation) }),
    ...(coresPerNumaNode !== undefined && { virtualNuma: { coresPerNumaNode } }),
    ...(vvtdEnabled !== undefined && { flags: { vvtdEnabled } }),
    ...(latencySensitivity !== undefined && { latencySensitivity: { level: latencySensitivity } }),
    // All of them together: some servers take what is left out for its default.
    ...(Object.keys(boot).length > 0 && { bootOptions: { ...withoutOrder(bootOptions ?? {}), ...boot } }),
    ...(extraConfig !== undefined && extraConfig.length > 0 && { extraConfig: extraConfig.map(option) }),
    ...(deviceChange !== undefined &&
      deviceChange.length > 0 && { deviceChange: deviceChanges(deviceChange, devices) }),
    ...(tagSpecs !== undefined && tagSpecs.length > 0 && { tagSpecs: tagSpecs.map(tagSpec) }),
  };
}

export const tagSpec = ({ operation, tag }: TagChange): TagSpec => ({ operation, id: { uuid: tag } });

/**
 * What a change needs of vCenter, beside what every one knows. Pure. Source: the versions that govmomi's types name.
 */
export const neededApi = ({ tagSpecs = [] }: { tagSpecs?: readonly unknown[] }): NeededApi | null =>
  tagSpecs.length === 0
    ? null
    : { version: '9.1.0.0', vcenter: '9.1', what: 'tags in the configuration of a VM, by which policies are applied' };

/** Without what is undefined. */
const given = <Fields extends object>(fields: Fields): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };

const bootable = (device: BootDevice): AnyVirtualMachineBootOptionsBootableDevice => {
  switch (device.type) {
    case 'disk':
      return { $type: 'VirtualMachineBootOptionsBootableDiskDevice', deviceKey: device.key };
    case 'network':
      return { $type: 'VirtualMachineBootOptionsBootableEthernetDevice', deviceKey: device.key };
    case 'cdrom':
    case 'other':
      return { $type: 'VirtualMachineBootOptionsBootableCdromDevice' };
  }
};

/** The order names devices, and may be one that the change does not mean. */
const withoutOrder = (options: VirtualMachineBootOptions): VirtualMachineBootOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'bootOrder' && name !== '$type'));

const allocationInfo = ({ reservation, limit }: ResourceAllocation): ResourceAllocationInfo => ({ reservation, limit });

/** An empty value takes a key away. */
export const option = ({ key, value }: { key: string; value: string }): OptionValue => ({
  $type: 'OptionValue',
  key,
  value,
});
