import { isA } from '../../../activities/vsphere/wire/kinds.ts';
import { fileOf, firstDevices } from './hardware.ts';
import { unlimited } from './inventory.ts';
import type { Model, Ref, VmState } from './model.ts';

const firstVersion = 'vmx-15';
const unnamedGuest = 'otherGuest';
const defaultMemoryMiB = 32;
const vmxBytes = 4_096;

export interface NewState {
  name: string;
  parent: Ref;
  resourcePool: Ref;
  host: Ref;
  vmPathName: string;
}

/** A VM that is off, and has what every VM has. @param recentTask its tasks */
export function newState(
  model: Model,
  { name, parent, resourcePool, host, vmPathName }: NewState,
  recentTask: () => Ref[],
): VmState {
  const allocation = () => ({ ...unlimited(), expandableReservation: false });
  const state: VmState = {
    name,
    parent,
    resourcePool,
    get recentTask() {
      return recentTask();
    },
    runtime: { powerState: 'poweredOff', connectionState: 'connected', host, bootTime: undefined },
    get summary() {
      return {
        runtime: { bootTime: state.runtime.bootTime },
        config: { instanceUuid: state.config.instanceUuid, uuid: state.config.uuid },
      };
    },
    config: {
      instanceUuid: '',
      uuid: '',
      changeVersion: '',
      createDate: model.now(),
      version: firstVersion,
      template: false,
      guestId: unnamedGuest,
      firmware: 'bios',
      annotation: '',
      managedBy: undefined,
      files: { vmPathName },
      hardware: {
        $type: 'VirtualHardware',
        numCPU: 1,
        numCoresPerSocket: 1,
        memoryMB: defaultMemoryMiB,
        device: firstDevices(),
      },
      extraConfig: [],
      cpuAllocation: allocation(),
      memoryAllocation: allocation(),
      cpuHotAddEnabled: false,
      memoryHotAddEnabled: false,
      nestedHVEnabled: false,
      vPMCEnabled: false,
      flags: { $type: 'VirtualMachineFlagInfo' },
      memoryReservationLockedToMax: false,
      latencySensitivity: { $type: 'LatencySensitivity', level: 'normal' },
      changeTrackingEnabled: false,
      bootOptions: { $type: 'VirtualMachineBootOptions' },
      numaInfo: undefined,
      vAppConfig: undefined,
      tools: { pendingCustomization: undefined },
    },
    guest: {
      toolsRunningStatus: 'guestToolsNotRunning',
      ipAddress: undefined,
      hostName: undefined,
      guestId: undefined,
      guestFullName: undefined,
      net: [],
      ipStack: undefined,
      customizationInfo: undefined,
    },
    guestHeartbeatStatus: 'gray',
    snapshot: undefined,
    rootSnapshot: [],
    customValue: undefined,
    get layoutEx() {
      return layoutOf(state);
    },
  };
  return state;
}

/** Its files, and which of them each disk is made of. */
function layoutOf({ config }: VmState): VmState['layoutEx'] {
  const $type = 'VirtualMachineFileLayoutExFileInfo';
  const disks = config.hardware.device.filter((device) => isA(device, 'VirtualDisk'));
  const fileKeys = disks.map((_, index) => index + 1);
  return {
    file: [
      { $type, key: 0, name: config.files.vmPathName, type: 'config', size: vmxBytes, uniqueSize: vmxBytes },
      ...disks.map((disk, index) => ({
        $type,
        key: fileKeys[index],
        name: fileOf(disk) ?? '',
        type: 'diskExtent',
        size: disk.capacityInKB * 1_024,
        uniqueSize: 0,
      })),
    ],
    disk: disks.map(({ key }, index) => ({
      $type: 'VirtualMachineFileLayoutExDiskLayout',
      key,
      chain: [{ fileKey: [fileKeys[index]] }],
    })),
  };
}
