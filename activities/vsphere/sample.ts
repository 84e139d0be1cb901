import type { CreateSpec } from '../../contracts/virtual-machine-plan.ts';
import type { Devices } from './read-vm.ts';
import type { SeenMark, VirtualMachine } from './types.ts';
import type { VirtualDisk } from './wire/vim/types.ts';

/** A VM as vCenter shows it, for tests. */

export const uid = '11111111-1111-4111-8111-111111111111';
export const mark = { namespacedName: 'team/web', uid };

export const diskOf = (more: Partial<VirtualDisk> = {}): VirtualDisk => ({
  $type: 'VirtualDisk',
  key: 2000,
  controllerKey: 1000,
  unitNumber: 0,
  capacityInKB: 10 * 1024 ** 2,
  backing: {
    $type: 'VirtualDiskFlatVer2BackingInfo',
    fileName: '[ds] web/web.vmdk',
    diskMode: 'persistent',
    uuid: '6000c29d',
  },
  ...more,
});

export const devices: Devices = [
  { $type: 'VirtualIDEController', key: 200, busNumber: 0 },
  { $type: 'VirtualIDEController', key: 201, busNumber: 1 },
  { $type: 'ParaVirtualSCSIController', key: 1000, busNumber: 0, sharedBus: 'noSharing' },
  diskOf(),
  {
    $type: 'VirtualCdrom',
    key: 3000,
    controllerKey: 200,
    unitNumber: 0,
    backing: { $type: 'VirtualCdromIsoBackingInfo', fileName: '[ds] a.iso' },
    connectable: { startConnected: true, allowGuestControl: true, connected: false },
  },
  {
    $type: 'VirtualVmxnet3',
    key: 4000,
    controllerKey: 100,
    unitNumber: 7,
    macAddress: '00:50:56:AA:00:01',
    deviceInfo: { label: 'Network adapter 1', summary: 'VM Network' },
    backing: {
      $type: 'VirtualEthernetCardNetworkBackingInfo',
      deviceName: 'VM Network',
      network: { type: 'Network', value: 'network-7' },
    },
    connectable: { startConnected: true, allowGuestControl: true, connected: true },
  },
];

export const vmOf = (more: Partial<VirtualMachine> = {}, seen: SeenMark | null = mark): VirtualMachine => ({
  id: 'vm-1',
  name: 'web',
  folderId: 'group-1',
  resourcePoolId: 'resgroup-1',
  hostId: 'host-1',
  connectionState: 'connected',
  powerState: 'poweredOff',
  bootTime: null,
  instanceUuid: uid,
  biosUuid: uid,
  mark: seen,
  config: {
    changeVersion: 'c1',
    version: 'vmx-21',
    isTemplate: false,
    vmxPath: '[ds] web/web.vmx',
    devices,
    extraConfig: {},
  },
  properties: { 'config.hardware': { $type: 'VirtualHardware', numCPU: 2, memoryMB: 512, device: devices } },
  ...more,
});

export const createOf = (more: Partial<CreateSpec> = {}): CreateSpec => ({
  name: 'web',
  instanceUuid: uid,
  uuid: uid,
  source: { from: 'template', moId: 'vm-9' },
  at: {
    zone: 'a',
    datacenter: 'datacenter-1',
    folder: 'group-1',
    resourcePool: 'resgroup-1',
    datastore: 'datastore-1',
    host: null,
    cpuMHz: 2_000,
  },
  bootDiskBytes: null,
  config: {},
  classConfigSpec: {},
  ...more,
});
