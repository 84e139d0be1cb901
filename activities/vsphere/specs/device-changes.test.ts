import type { DeviceChange } from '../../../contracts/virtual-machine/config.ts';
import { devices } from '../../../test/fixtures/activities/vsphere.ts';
import type { AnyVirtualDevice } from '../wire/vim/types.ts';
import { deviceChanges } from './device-changes.ts';

const cdrom = (iso: string, key: number | null = null) => ({ key, iso, connected: false, allowGuestControl: true });
const card = { key: null, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: null };

test.each<[what: string, change: DeviceChange, operation: string, device: Record<string, unknown>]>([
  [
    'a new card',
    { operation: 'add', device: 'networkCard', card },
    'add',
    {
      $type: 'VirtualVmxnet3',
      key: -101,
      backing: { $type: 'VirtualEthernetCardNetworkBackingInfo', deviceName: 'VM Network' },
    },
  ],
  [
    'a new card with an address',
    { operation: 'add', device: 'networkCard', card: { ...card, type: 'E1000', macAddress: '00:50:56:00:00:02' } },
    'add',
    { $type: 'VirtualE1000', addressType: 'manual', macAddress: '00:50:56:00:00:02' },
  ],
  [
    'a card that is moved keeps its place and its address',
    { operation: 'edit', device: 'networkCard', card: { ...card, key: 4000, backing: 'distributed:u/pg' } },
    'edit',
    {
      $type: 'VirtualVmxnet3',
      key: 4000,
      controllerKey: 100,
      unitNumber: 7,
      macAddress: '00:50:56:AA:00:01',
      backing: {
        $type: 'VirtualEthernetCardDistributedVirtualPortBackingInfo',
        port: { switchUuid: 'u', portgroupKey: 'pg' },
      },
    },
  ],
  [
    'a card that goes',
    { operation: 'remove', device: 'networkCard', key: 4000 },
    'remove',
    { $type: 'VirtualVmxnet3', key: 4000 },
  ],
  [
    'a new drive takes the next place',
    { operation: 'add', device: 'cdrom', cdrom: cdrom('[ds] b.iso') },
    'add',
    {
      $type: 'VirtualCdrom',
      key: -101,
      controllerKey: 200,
      unitNumber: 1,
      backing: { $type: 'VirtualCdromIsoBackingInfo', fileName: '[ds] b.iso' },
      connectable: { startConnected: false, allowGuestControl: true, connected: false },
    },
  ],
  [
    'a drive that is disconnected',
    { operation: 'edit', device: 'cdrom', cdrom: cdrom('[ds] a.iso', 3000) },
    'edit',
    {
      key: 3000,
      controllerKey: 200,
      unitNumber: 0,
      connectable: { startConnected: false, allowGuestControl: true, connected: false },
    },
  ],
  [
    'a vGPU',
    { operation: 'add', device: 'pciDevice', pciDevice: { kind: 'vgpu', profile: 'grid_a' } },
    'add',
    {
      $type: 'VirtualPCIPassthrough',
      key: -101,
      backing: { $type: 'VirtualPCIPassthroughVmiopBackingInfo', vgpu: 'grid_a' },
    },
  ],
  [
    'a device that is passed through',
    {
      operation: 'add',
      device: 'pciDevice',
      pciDevice: { kind: 'passthrough', allowed: [{ vendorId: 1, deviceId: 2 }], customLabel: 'rdma' },
    },
    'add',
    {
      $type: 'VirtualPCIPassthrough',
      backing: {
        $type: 'VirtualPCIPassthroughDynamicBackingInfo',
        deviceName: '',
        allowedDevice: [{ vendorId: 1, deviceId: 2 }],
        customLabel: 'rdma',
      },
    },
  ],
  [
    'a SCSI controller, with its sharing',
    {
      operation: 'add',
      device: 'controller',
      controller: { key: null, bus: 'SCSI', busNumber: 1, type: 'LsiLogicSAS', sharing: 'Physical' },
    },
    'add',
    { $type: 'VirtualLsiLogicSASController', key: -101, busNumber: 1, sharedBus: 'physicalSharing' },
  ],
  [
    'one of SATA',
    {
      operation: 'add',
      device: 'controller',
      controller: { key: null, bus: 'SATA', busNumber: 0, type: null, sharing: 'None' },
    },
    'add',
    { $type: 'VirtualAHCIController', busNumber: 0 },
  ],
  [
    'a controller whose disks are shared',
    {
      operation: 'edit',
      device: 'controller',
      controller: { key: 1000, bus: 'SCSI', busNumber: 0, type: 'ParaVirtual', sharing: 'Virtual' },
    },
    'edit',
    { key: 1000, sharedBus: 'virtualSharing' },
  ],
  [
    'a disk that grows, to whole KiB',
    { operation: 'edit', device: 'disk', key: 2000, capacityBytes: 20 * 1024 ** 3 - 1 },
    'edit',
    {
      $type: 'VirtualDisk',
      key: 2000,
      controllerKey: 1000,
      unitNumber: 0,
      capacityInKB: 20 * 1024 ** 2,
      capacityInBytes: 20 * 1024 ** 3,
      backing: expect.objectContaining({ fileName: '[ds] web/web.vmdk' }),
    },
  ],
])('%s', (_, change, operation, device) => {
  const [asked] = deviceChanges([change], devices);
  expect(asked).toMatchObject({ operation, device });
  expect(asked).not.toHaveProperty('fileOperation');
  expect(asked?.device).not.toHaveProperty('deviceInfo');
});

test('each new device has a key of its own; drives fill both controllers, and take the place of one that goes', () => {
  const add = (iso: string): DeviceChange => ({ operation: 'add', device: 'cdrom', cdrom: cdrom(iso) });
  const asked = deviceChanges(
    [{ operation: 'remove', device: 'cdrom', key: 3000 }, add('1'), add('2'), add('3'), add('4')],
    devices,
  );
  const added = asked.slice(1).map(({ device }) => device);
  expect(new Set(added.map(({ key }) => key)).size).toBe(4);
  expect(added.map(({ controllerKey, unitNumber }) => [controllerKey, unitNumber])).toEqual([
    [200, 0],
    [200, 1],
    [201, 0],
    [201, 1],
  ]);
  expect(() => deviceChanges([add('1'), add('2'), add('3'), add('4')], devices)).toThrow(
    expect.objectContaining({
      type: 'InvalidObject',
      message: expect.stringContaining('no room for another drive of 4'),
    }),
  );
});

test('a drive has the place that it names, also on a controller that the same change adds', () => {
  const add = (iso: string, slot: { bus: 'IDE' | 'SATA'; busNumber: number; unitNumber: number | null } | null) =>
    ({ operation: 'add', device: 'cdrom', cdrom: { ...cdrom(iso), slot } }) as const;
  const sata = {
    operation: 'add',
    device: 'controller',
    controller: { key: null, bus: 'SATA', busNumber: 0, type: null, sharing: 'None' },
  } as const;
  const asked = deviceChanges(
    [
      sata,
      add('any', null),
      add('named', { bus: 'IDE', busNumber: 0, unitNumber: 1 }),
      add('sata', { bus: 'SATA', busNumber: 0, unitNumber: null }),
      add('sata at 5', { bus: 'SATA', busNumber: 0, unitNumber: 5 }),
    ],
    devices,
  );
  expect(asked.slice(1).map(({ device: { controllerKey, unitNumber } }) => [controllerKey, unitNumber])).toEqual([
    [201, 0],
    [200, 1],
    [-101, 0],
    [-101, 5],
  ]);
  expect(() => deviceChanges([add('x', { bus: 'SATA', busNumber: 0, unitNumber: null })], devices)).toThrow(
    'no SATA controller 0',
  );
  expect(() => deviceChanges([add('x', { bus: 'IDE', busNumber: 0, unitNumber: 0 })], devices)).toThrow('no room');
});

test('a new VM has both controllers', () =>
  expect(deviceChanges([{ operation: 'add', device: 'cdrom', cdrom: cdrom('1') }], [])).toMatchObject([
    { device: { controllerKey: 200, unitNumber: 0 } },
  ]));

test('what is not there, or is something else, is not changed', () => {
  const gone: DeviceChange[] = [
    { operation: 'remove', device: 'cdrom', key: 4000 },
    { operation: 'edit', device: 'disk', key: 2001, capacityBytes: 1 },
    { operation: 'edit', device: 'networkCard', card: { ...card, key: 4001 } },
  ];
  for (const change of gone)
    expect(() => deviceChanges([change], devices)).toThrow(expect.objectContaining({ type: 'VirtualMachineConflict' }));
  expect(() =>
    deviceChanges([{ operation: 'add', device: 'networkCard', card: { ...card, type: 'Token ring' } }], devices),
  ).toThrow(expect.objectContaining({ type: 'InvalidObject' }));
});

test('of a backing that drover could write in part only, nothing is written', () => {
  const drive: AnyVirtualDevice = {
    $type: 'VirtualCdrom',
    key: 3001,
    backing: { $type: 'VirtualCdromAtapiBackingInfo' },
  };
  expect(deviceChanges([{ operation: 'remove', device: 'cdrom', key: 3001 }], [drive])[0]?.device).not.toHaveProperty(
    'backing',
  );
});

test('an ISO that is taken out leaves a drive of the remote console’s client, which is not connected', () => {
  const ejected = { key: 3000, iso: '', connected: false, allowGuestControl: true };
  expect(deviceChanges([{ operation: 'edit', device: 'cdrom', cdrom: ejected }], devices)[0]?.device).toMatchObject({
    key: 3000,
    backing: { $type: 'VirtualCdromRemotePassthroughBackingInfo', deviceName: '', exclusive: false },
    connectable: { startConnected: false, connected: false },
  });
});
