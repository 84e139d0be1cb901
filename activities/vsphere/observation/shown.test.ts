import { virtualMachineStatus } from '../../../contracts/crds/virtual-machine-status.ts';
import { devices, diskOf, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import { toObservedVm, type VmPlace } from './vm.ts';

const place: VmPlace = { location: null, zone: null, hostName: null, cpuMHz: 0, task: null, clusterModule: null };
const shown = (properties: Record<string, unknown>, more: Parameters<typeof vmOf>[0] = {}) => {
  const vm = vmOf(more);
  return toObservedVm({ ...vm, properties: { ...vm.properties, ...properties } }, place, 'off', {
    interfaces: ['eth0'],
    extraConfigKeys: [],
  }).shown;
};
const file = (key: number, type: string, uniqueSize: number) => ({
  $type: 'VirtualMachineFileLayoutExFileInfo',
  key,
  name: '',
  type,
  size: uniqueSize,
  uniqueSize,
});

test('controllers and what is at them', () => {
  expect(shown({}).hardware?.controllers).toEqual([
    { type: 'IDE', busNumber: 0, deviceKey: 200, devices: [{ type: 'CDROM', unitNumber: 0 }] },
    { type: 'IDE', busNumber: 1, deviceKey: 201, devices: [] },
    { type: 'SCSI', busNumber: 0, deviceKey: 1000, devices: [{ type: 'Disk', unitNumber: 0 }] },
  ]);
});

test.each([
  ['nodes of so many cores', { coresPerNumaNode: 4, autoCoresPerNumaNode: false }],
  ['what vSphere chooses', { coresPerNumaNode: 2, autoCoresPerNumaNode: true }],
])('NUMA: %s', (_why, info) => {
  const read = { 'config.numaInfo': { $type: 'VirtualMachineVirtualNumaInfo', ...info } };
  expect(shown(read).hardware?.cpu?.vnuma).toEqual(info);
  expect(virtualMachineStatus.shape.hardware.safeParse(shown(read).hardware).success).toBe(true);
});

test('NUMA is left out where vCenter says nothing of it', () => {
  expect(shown({}).hardware?.cpu).not.toHaveProperty('vnuma');
});

test('of two at one place one, as kube-apiserver would refuse the whole status: the disk', () => {
  const drive = {
    ...devices.find(({ $type }) => $type === 'VirtualCdrom')!,
    key: 3_001,
    controllerKey: 1_000,
    unitNumber: 0,
  };
  const controllers = shown({}, { config: { ...vmOf().config!, devices: [drive, ...devices] } }).hardware?.controllers;
  expect(controllers?.find(({ type }) => type === 'SCSI')?.devices).toEqual([{ type: 'Disk', unitNumber: 0 }]);
});

test('what its files take: disks, snapshots, the rest; a persistent volume is not its own', () => {
  const mib = 1024 ** 2;
  const files = [
    file(1, 'config', 4 * mib),
    file(2, 'diskDescriptor', 0),
    file(3, 'diskExtent', 100 * mib),
    file(4, 'snapshotData', 8 * mib),
    file(5, 'diskExtent', 50 * mib),
  ];
  const layout = [{ $type: 'VirtualMachineFileLayoutExDiskLayout', key: 2000, chain: [{ fileKey: [2, 3] }] }];
  const volume = diskOf({ key: 2001, unitNumber: 1, vDiskId: { id: 'f-1' } });
  const observed = shown(
    { 'layoutEx.file': files, 'layoutEx.disk': layout },
    { config: { ...vmOf().config!, devices: [...devices, volume] } },
  );
  expect(observed.volumes).toEqual([
    {
      name: expect.stringMatching(/^disk-[0-9a-f]{8}$/u),
      type: 'Classic',
      attached: true,
      limit: '10Gi',
      requested: '10Gi',
      used: '100Mi',
      diskUUID: '6000c29d',
      controllerType: 'SCSI',
      controllerBusNumber: 0,
      unitNumber: 0,
      diskMode: 'Persistent',
    },
  ]);
  expect(observed.storage).toEqual({
    requested: { disks: '10Gi' },
    usage: { disks: '100Mi', other: '4Mi', snapshots: { vm: '8Mi' } },
    total: '10244Mi',
  });
});

test('what the guest says of its network, named as the spec names it', () => {
  const dns = { dhcp: true, hostName: 'web', domainName: '', ipAddress: ['192.0.2.53'] };
  const net = [
    {
      $type: 'GuestNicInfo',
      deviceConfigId: 4000,
      macAddress: '00:50:56:aa:00:01',
      dnsConfig: dns,
      ipConfig: {
        ipAddress: [
          { ipAddress: '192.0.2.1', prefixLength: 24, origin: 'dhcp', state: 'preferred' },
          { ipAddress: '192.0.2.2', prefixLength: 32, origin: 'tarot' },
        ],
        dhcp: {
          ipv4: {
            enable: true,
            config: [
              { key: 'a', value: '1' },
              { key: 'a', value: '2' },
            ],
          },
        },
      },
    },
    { $type: 'GuestNicInfo', deviceConfigId: -1, ipAddress: ['172.17.0.1'] },
  ];
  const stack = [
    {
      $type: 'GuestStackInfo',
      ipRouteConfig: {
        ipRoute: [{ network: '0.0.0.0', prefixLength: 0, gateway: { ipAddress: '192.0.2.254', device: '0' } }],
      },
    },
  ];
  const { network } = shown({ 'guest.net': net, 'guest.ipStack': stack });
  expect(network).toEqual({
    interfaces: [
      {
        name: 'eth0',
        deviceKey: 4000,
        dns: { dhcp: true, hostName: 'web', nameservers: ['192.0.2.53'] },
        ip: {
          addresses: [{ address: '192.0.2.1/24', origin: 'dhcp', state: 'preferred' }, { address: '192.0.2.2/32' }],
          dhcp: { ip4: { enabled: true, config: [{ key: 'a', value: '2' }] } },
          macAddr: '00:50:56:aa:00:01',
        },
      },
    ],
    ipStacks: [{ ipRoutes: [{ networkAddress: '0.0.0.0/0', gateway: { address: '192.0.2.254', device: '0' } }] }],
  });
  expect(virtualMachineStatus.safeParse(shown({ 'guest.net': net, 'guest.ipStack': stack })).error).toBeUndefined();
});

test('what others have encrypted, and by which key', () => {
  const keyId = { $type: 'CryptoKeyId' as const, keyId: 'k1', providerId: { id: 'p1' } };
  const tpm = { $type: 'VirtualTPM' as const, key: 11_000 };
  const [disk] = [diskOf()];
  const encrypted = { ...disk, backing: { ...disk.backing, keyId } } as typeof disk;
  const plain = shown({});
  expect([plain.crypto, plain.volumes?.[0]?.crypto]).toEqual([undefined, undefined]);
  const seen = shown(
    { 'config.keyId': keyId },
    { config: { ...vmOf().config!, devices: [...devices, encrypted, tpm] } },
  );
  expect(seen.crypto).toEqual({ keyID: 'k1', providerID: 'p1', encrypted: ['Config', 'Disks'], hasVTPM: true });
  expect(seen.volumes?.map(({ crypto }) => crypto)).toContainEqual({ keyID: 'k1', providerID: 'p1' });
});

test('devices of a class, threads of a core, and what cards and stacks are set to', () => {
  const gpu = {
    $type: 'VirtualPCIPassthrough' as const,
    key: 13_000,
    backing: { $type: 'VirtualPCIPassthroughVmiopBackingInfo' as const, vgpu: 'grid_p40-2q' },
  };
  const card = { ...devices.find(({ $type }) => $type === 'VirtualVmxnet3')!, numaNode: 1, uptv2Enabled: true };
  const seen = shown(
    {
      'config.hardware': { ...(vmOf().properties['config.hardware'] as object), simultaneousThreads: 2 },
      'guest.net': [{ $type: 'GuestNicInfo', deviceConfigId: card.key }],
      'guest.ipStack': [{ $type: 'GuestStackInfo', ipStackConfig: [{ key: 'net.a', value: '1' }] }],
    },
    { config: { ...vmOf().config!, devices: [...devices.filter(({ key }) => key !== card.key), card, gpu] } },
  );
  expect(seen.hardware?.vGPUs).toEqual([{ type: 'Nvidia', profile: 'grid_p40-2q' }]);
  expect(seen.hardware?.cpu?.simultaneousThreads).toBe(2);
  expect(seen.network?.interfaces?.[0]).toMatchObject({ vmxnet3: { uptv2Enabled: true }, vnumaNodeID: 1 });
  expect(seen.network?.ipStacks).toEqual([{ kernelConfig: [{ key: 'net.a', value: '1' }] }]);
});

test('of one whose configuration is not reported, nothing is shown', () =>
  expect(shown({}, { config: null })).toEqual({}));

test.each([
  ['by the record', { 'drover.networkCards': 'eth1=4000,eth0=4001' }, 'eth1'],
  ['in the order of the spec, where there is none', {}, 'eth0'],
])('a card has the name of its interface %s', (_, extraConfig, name) => {
  const { config } = vmOf();
  const net = [{ $type: 'GuestNicInfo', connected: true, deviceConfigId: 4000, macAddress: '00:50:56:aa:00:01' }];
  const { network } = shown(
    { 'guest.net': net },
    { config: config && { ...config, extraConfig: { ...config.extraConfig, ...extraConfig } } },
  );
  expect(network?.interfaces).toMatchObject([{ name, deviceKey: 4000 }]);
});
