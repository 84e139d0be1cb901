import { ownershipKeys } from '../../contracts/ids.ts';
import type { Allocation, CloneSource, NewVm, WantedConfig } from '../../contracts/virtual-machine.ts';
import type { OptionValue, ResourceAllocationInfo, VirtualMachineCloneSpec, VirtualMachineConfigSpec } from './wire/vim/types.ts';

/** What vCenter is asked for. Pure. */

const ref = (type: string, value: string) => ({ type, value });

export function cloneSpec({ linkedToSnapshotId }: CloneSource, vm: NewVm): VirtualMachineCloneSpec {
  const { resourcePoolId, datastoreId, hostId } = vm.placement;
  return {
    location: {
      pool: ref('ResourcePool', resourcePoolId),
      ...(datastoreId === null ? {} : { datastore: ref('Datastore', datastoreId) }),
      ...(hostId === null ? {} : { host: ref('HostSystem', hostId) }),
      ...(linkedToSnapshotId === null ? {} : { diskMoveType: 'createNewChildDiskBacking' }),
    },
    template: false,
    powerOn: false,
    config: newConfig(vm),
    ...(linkedToSnapshotId === null ? {} : { snapshot: ref('VirtualMachineSnapshot', linkedToSnapshotId) }),
  };
}

export const createSpec = (vm: NewVm, datastoreName: string): VirtualMachineConfigSpec => ({ ...newConfig(vm), name: vm.name, files: { vmPathName: `[${datastoreName}]` } });

/** Identity and owner are in the same call that makes the VM, so that no crash leaves one that nobody knows. */
function newConfig({ instanceUuid, biosUuid, mark, config }: NewVm): VirtualMachineConfigSpec {
  const extraConfig = { ...config.extraConfig, [ownershipKeys.namespacedName]: mark.namespacedName, [ownershipKeys.uid]: mark.uid };
  return { ...configSpec({ ...config, extraConfig }), instanceUuid, ...(biosUuid === null ? {} : { uuid: biosUuid }) };
}

export function configSpec({ cpus, coresPerSocket, memoryMiB, guestId, annotation, cpuAllocation, memoryAllocation, managedBy, extraConfig }: WantedConfig): VirtualMachineConfigSpec {
  return {
    ...(cpus === undefined ? {} : { numCPUs: cpus }),
    ...(coresPerSocket === undefined ? {} : { numCoresPerSocket: coresPerSocket }),
    ...(memoryMiB === undefined ? {} : { memoryMB: memoryMiB }),
    ...(guestId === undefined ? {} : { guestId }),
    ...(annotation === undefined ? {} : { annotation }),
    ...(cpuAllocation === undefined ? {} : { cpuAllocation: allocationInfo(cpuAllocation) }),
    ...(memoryAllocation === undefined ? {} : { memoryAllocation: allocationInfo(memoryAllocation) }),
    ...(managedBy === undefined ? {} : { managedBy }),
    ...(extraConfig === undefined ? {} : { extraConfig: Object.entries(extraConfig).map(([key, value]): OptionValue => ({ $type: 'OptionValue', key, value })) }),
  };
}

const allocationInfo = ({ reservation, limit }: Allocation): ResourceAllocationInfo => ({ reservation, limit: limit ?? -1 });
