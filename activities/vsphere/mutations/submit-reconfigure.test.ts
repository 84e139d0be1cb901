import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import { isApplied } from './submit-reconfigure.ts';
import { vmOf } from '../../../test/fixtures/activities/vsphere.ts';

const vm = vmOf();
const observed = vmOf({
  config: { ...vm.config!, extraConfig: { a: '1', empty: '' } },
  properties: {
    ...vm.properties,
    'config.annotation': 'mine',
    'config.cpuAllocation': { $type: 'ResourceAllocationInfo', reservation: 100, limit: -1 },
    'config.managedBy': { $type: 'ManagedByInfo', extensionKey: 'e', type: 't' },
    'config.flags': { $type: 'VirtualMachineFlagInfo', vvtdEnabled: true },
  },
});
const gib = 1024 ** 3;

test.each<[what: string, spec: ReconfigSpec, isSo: boolean]>([
  ['nothing is wanted', {}, true],
  [
    'all is so',
    {
      numCPUs: 2,
      memoryMB: 512,
      annotation: 'mine',
      cpuAllocation: { reservation: 100, limit: -1 },
      managedBy: { extensionKey: 'e', type: 't' },
      vvtdEnabled: true,
    },
    true,
  ],
  ['one number differs', { numCPUs: 4, memoryMB: 512 }, false],
  ['a limit is wanted', { cpuAllocation: { reservation: 100, limit: 1_000 } }, false],
  ['another extension manages it', { managedBy: { extensionKey: 'e', type: 'other' } }, false],
  ['a flag is not set', { nestedHVEnabled: true }, false],
  [
    'tags that its key says are attached',
    { tagSpecs: [{ operation: 'add', tag: '1' }], extraConfig: [{ key: 'a', value: '1' }] },
    true,
  ],
  ['a key is so', { extraConfig: [{ key: 'a', value: '1' }] }, true],
  ['a key differs', { extraConfig: [{ key: 'a', value: '2' }] }, false],
  ['a key that is to go is there', { extraConfig: [{ key: 'a', value: '' }] }, false],
  [
    'a key that is to go is not there, or empty',
    {
      extraConfig: [
        { key: 'b', value: '' },
        { key: 'empty', value: '' },
      ],
    },
    true,
  ],
  [
    'a device that is added may be another one’s',
    {
      deviceChange: [
        {
          operation: 'add',
          device: 'cdrom',
          cdrom: { key: null, iso: '[ds] a.iso', connected: true, allowGuestControl: true },
        },
      ],
    },
    false,
  ],
  ['a device that is to go is gone', { deviceChange: [{ operation: 'remove', device: 'cdrom', key: 3001 }] }, true],
  [
    'a device that is to go is there',
    { deviceChange: [{ operation: 'remove', device: 'networkCard', key: 4000 }] },
    false,
  ],
  [
    'a drive is so',
    {
      deviceChange: [
        {
          operation: 'edit',
          device: 'cdrom',
          cdrom: { key: 3000, iso: '[ds] a.iso', connected: true, allowGuestControl: true },
        },
      ],
    },
    true,
  ],
  [
    'a card is connected elsewhere',
    {
      deviceChange: [
        {
          operation: 'edit',
          device: 'networkCard',
          card: { key: 4000, type: 'VMXNet3', backing: 'standard:other', macAddress: null },
        },
      ],
    },
    false,
  ],
  [
    'a disk has grown',
    { deviceChange: [{ operation: 'edit', device: 'disk', key: 2000, capacityBytes: 10 * gib }] },
    true,
  ],
  [
    'a disk has not grown',
    { deviceChange: [{ operation: 'edit', device: 'disk', key: 2000, capacityBytes: 11 * gib }] },
    false,
  ],
])('%s', (_, spec, isSo) => expect(isApplied(spec, observed)).toBe(isSo));

test('a VM without a configuration is never as the change wants it', () =>
  expect(isApplied({}, vmOf({ config: null }))).toBe(false));
