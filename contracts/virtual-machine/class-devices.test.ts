import { deviceText, isSameDevice, readClassDevices, type ClassDevice } from './class-devices.ts';

const vgpu: ClassDevice = { kind: 'vgpu', profile: 'grid_a' };
const nic: ClassDevice = {
  kind: 'passthrough',
  allowed: [{ vendorId: 0x15b3, deviceId: 0x1018 }],
  customLabel: 'rdma',
};
const hardware = {
  devices: {
    vgpuDevices: [{ profileName: 'grid_a' }],
    dynamicDirectPathIODevices: [{ vendorID: 0x15b3, deviceID: 0x1018, customLabel: 'rdma' }],
  },
};
const change = (backing: object, more: object = {}) => ({
  _typeName: 'VirtualDeviceConfigSpec',
  operation: 'add',
  device: { _typeName: 'VirtualPCIPassthrough', key: -1, backing, ...more },
});
const vmiop = (more: object = {}) =>
  change({ _typeName: 'VirtualPCIPassthroughVmiopBackingInfo', vgpu: 'grid_a', ...more });
const dynamic = (more: object = {}) =>
  change({
    _typeName: 'VirtualPCIPassthroughDynamicBackingInfo',
    deviceName: '',
    customLabel: 'rdma',
    allowedDevice: [{ _typeName: 'VirtualPCIPassthroughAllowedDevice', vendorId: 0x15b3, deviceId: 0x1018 }],
    ...more,
  });
const card = {
  _typeName: 'VirtualDeviceConfigSpec',
  operation: 'add',
  device: { _typeName: 'VirtualVmxnet3', key: -1 },
};

const rows: [why: string, spec: Parameters<typeof readClassDevices>[0], is: object][] = [
  ['none', {}, { devices: [], hasPciDevices: false, passthrough: false, configSpec: {} }],
  ['those of the hardware', { hardware }, { devices: [vgpu, nic], hasPciDevices: true, passthrough: true }],
  [
    'a vGPU alone is not passed through',
    { hardware: { devices: { vgpuDevices: [{ profileName: 'grid_a' }] } } },
    { devices: [vgpu], hasPciDevices: true, passthrough: false },
  ],
  [
    'those of the configSpec come in the place of those of the hardware: none is there twice',
    { hardware, configSpec: { firmware: 'efi', deviceChange: [vmiop(), dynamic()] } },
    { devices: [vgpu, nic], passthrough: true, configSpec: { firmware: 'efi' } },
  ],
  [
    'a configSpec without such devices does not hide those of the hardware',
    { hardware, configSpec: { deviceChange: [card] } },
    { devices: [vgpu, nic], configSpec: { deviceChange: [card] } },
  ],
  [
    'what is not understood whole stays where it is',
    { hardware, configSpec: { deviceChange: [dynamic({ assignedId: '7' }), vmiop()] } },
    {
      devices: [vgpu],
      hasPciDevices: true,
      passthrough: true,
      configSpec: { deviceChange: [dynamic({ assignedId: '7' })] },
    },
  ],
];

test.each(rows)('devices of a class: %s', (_why, spec, is) => {
  expect(readClassDevices(spec)).toMatchObject(is);
});

test('devices are the same by all that is said of them', () => {
  expect(isSameDevice(vgpu, { ...vgpu })).toBe(true);
  expect(isSameDevice(nic, structuredClone(nic))).toBe(true);
  expect(isSameDevice(vgpu, { kind: 'vgpu', profile: 'grid_b' })).toBe(false);
  expect(isSameDevice(nic, { ...nic, customLabel: null })).toBe(false);
  expect(isSameDevice(vgpu, nic)).toBe(false);
  expect([vgpu, nic].map(deviceText)).toEqual(['vGPU grid_a', 'PCI device 15b3:1018 (rdma)']);
});
