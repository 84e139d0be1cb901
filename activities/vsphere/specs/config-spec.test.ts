import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import { devices } from '../../../test/fixtures/activities/vsphere.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { configSpec, neededApi } from './config-spec.ts';

const bootOptions = {
  $type: 'VirtualMachineBootOptions',
  bootDelay: 5,
  bootRetryEnabled: false,
  bootOrder: [{ $type: 'VirtualMachineBootOptionsBootableDiskDevice', deviceKey: 2000 }],
};

test.each<[what: string, spec: ReconfigSpec, asked: VirtualMachineConfigSpec]>([
  ['nothing', {}, {}],
  [
    'tags',
    {
      tagSpecs: [
        { operation: 'add', tag: 'a' },
        { operation: 'remove', tag: 'b' },
      ],
    },
    {
      tagSpecs: [
        { operation: 'add', id: { uuid: 'a' } },
        { operation: 'remove', id: { uuid: 'b' } },
      ],
    },
  ],
  ['size', { numCPUs: 2, numCoresPerSocket: 1, memoryMB: 512 }, { numCPUs: 2, numCoresPerSocket: 1, memoryMB: 512 }],
  [
    'shares',
    { cpuAllocation: { reservation: 1, limit: -1 }, memoryAllocation: { reservation: 0, limit: 5 } },
    { cpuAllocation: { reservation: 1, limit: -1 }, memoryAllocation: { reservation: 0, limit: 5 } },
  ],
  [
    'switches',
    {
      cpuHotAddEnabled: true,
      memoryHotAddEnabled: false,
      nestedHVEnabled: true,
      vPMCEnabled: true,
      changeTrackingEnabled: true,
      memoryReservationLockedToMax: true,
    },
    {
      cpuHotAddEnabled: true,
      memoryHotAddEnabled: false,
      nestedHVEnabled: true,
      vPMCEnabled: true,
      changeTrackingEnabled: true,
      memoryReservationLockedToMax: true,
    },
  ],
  [
    'what stands one level down',
    { vvtdEnabled: true, latencySensitivity: 'high' },
    { flags: { vvtdEnabled: true }, latencySensitivity: { level: 'high' } },
  ],
  [
    'words',
    { guestId: 'g', firmware: 'efi', annotation: '', managedBy: { extensionKey: 'e', type: 't' } },
    { guestId: 'g', firmware: 'efi', annotation: '', managedBy: { extensionKey: 'e', type: 't' } },
  ],
  [
    'one boot option brings the others along, and no order',
    { bootRetryEnabled: true },
    { bootOptions: { bootDelay: 5, bootRetryEnabled: true } },
  ],
  [
    'an order comes with the other boot options',
    { bootOrder: [{ type: 'network', key: 4000 }, { type: 'disk', key: 2000 }, { type: 'cdrom' }] },
    {
      bootOptions: {
        bootDelay: 5,
        bootRetryEnabled: false,
        bootOrder: [
          { $type: 'VirtualMachineBootOptionsBootableEthernetDevice', deviceKey: 4000 },
          { $type: 'VirtualMachineBootOptionsBootableDiskDevice', deviceKey: 2000 },
          { $type: 'VirtualMachineBootOptionsBootableCdromDevice' },
        ],
      },
    },
  ],
  [
    'NUMA nodes and threads',
    { coresPerNumaNode: 4, simultaneousThreads: 2 },
    { virtualNuma: { coresPerNumaNode: 4 }, simultaneousThreads: 2 },
  ],
  [
    'keys, and one that goes',
    {
      extraConfig: [
        { key: 'a', value: '1' },
        { key: 'b', value: '' },
      ],
    },
    {
      extraConfig: [
        { $type: 'OptionValue', key: 'a', value: '1' },
        { $type: 'OptionValue', key: 'b', value: '' },
      ],
    },
  ],
  ['empty lists', { extraConfig: [], deviceChange: [] }, {}],
  [
    'a device',
    { deviceChange: [{ operation: 'remove', device: 'cdrom', key: 3000 }] },
    { deviceChange: [{ operation: 'remove', device: expect.objectContaining({ $type: 'VirtualCdrom', key: 3000 }) }] },
  ],
])('%s', (_, spec, asked) => expect(configSpec(spec, { devices, bootOptions })).toEqual(asked));

test('of one without boot options, only what is wanted', () =>
  expect(configSpec({ bootDelay: 7, networkBootProtocol: 'ipv4' }, { devices, bootOptions: null })).toEqual({
    bootOptions: { bootDelay: 7, networkBootProtocol: 'ipv4' },
  }));

test.each([
  ['what every vCenter knows', {}, null],
  ['no tags', { tagSpecs: [] }, null],
  ['tags', { tagSpecs: [{ operation: 'add', tag: 'a' }] }, { version: '9.1.0.0', vcenter: '9.1' }],
])('the API that it needs: %s', (_what, spec, needed) => {
  const found = neededApi(spec);
  expect(found && { version: found.version, vcenter: found.vcenter }).toEqual(needed);
});
