import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { classConfigSpec } from './class-config.ts';

test.each<[what: string, json: Record<string, unknown>, spec: VirtualMachineConfigSpec]>([
  ['nothing', {}, {}],
  [
    'what the class says in its own words is left out',
    { _typeName: 'VirtualMachineConfigSpec', numCPUs: 2, memoryMB: 1, cpuAllocation: {}, extraConfig: [], name: 'x' },
    {},
  ],
  [
    'words and switches',
    { version: 'vmx-21', firmware: 'efi', nestedHVEnabled: true },
    { version: 'vmx-21', firmware: 'efi', nestedHVEnabled: true },
  ],
  ['null is nothing', { firmware: null }, {}],
  [
    'one of a type',
    { flags: { _typeName: 'VirtualMachineFlagInfo', vvtdEnabled: true } },
    { flags: { vvtdEnabled: true } },
  ],
  [
    'devices of their own types',
    {
      deviceChange: [
        {
          _typeName: 'VirtualDeviceConfigSpec',
          operation: 'add',
          device: {
            _typeName: 'VirtualPCIPassthrough',
            key: -1,
            backing: {
              _typeName: 'VirtualPCIPassthroughDynamicBackingInfo',
              deviceName: '',
              allowedDevice: [{ _typeName: 'VirtualPCIPassthroughAllowedDevice', vendorId: 1, deviceId: 2 }],
            },
          },
        },
      ],
    },
    {
      deviceChange: [
        {
          operation: 'add',
          device: {
            $type: 'VirtualPCIPassthrough',
            key: -1,
            backing: {
              $type: 'VirtualPCIPassthroughDynamicBackingInfo',
              deviceName: '',
              allowedDevice: [{ vendorId: 1, deviceId: 2 }],
            },
          },
        },
      ],
    },
  ],
])('%s', (_, json, spec) => expect(classConfigSpec(json)).toEqual(spec));

test.each<[what: string, json: Record<string, unknown>, path: string]>([
  ['a field that drover does not know', { npivNodeWorldWideName: [1] }, 'spec.configSpec.npivNodeWorldWideName'],
  [
    'a device that drover does not know',
    { deviceChange: [{ _typeName: 'VirtualDeviceConfigSpec', device: { _typeName: 'VirtualWondercard', key: 1 } }] },
    'spec.configSpec.deviceChange[0].device',
  ],
  [
    'a type in the place of another',
    { flags: { _typeName: 'LatencySensitivity', level: 'high' } },
    'spec.configSpec.flags',
  ],
  ['a number for a word', { firmware: 7 }, 'spec.configSpec.firmware'],
  ['one for a list', { deviceChange: {} }, 'spec.configSpec.deviceChange'],
  ['a word for an object', { flags: 'x' }, 'spec.configSpec.flags'],
])('%s is refused by its name', (_, json, path) =>
  expect(() => classConfigSpec(json)).toThrow(
    expect.objectContaining({ type: 'InvalidObject', message: expect.stringContaining(`${path} of the class`) }),
  ),
);
