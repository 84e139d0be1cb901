import { instanceDetail } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from '../nova/types.ts';
import { judgeInstance } from './obstacles.ts';

type Row = [why: string, change: Partial<InstanceDetail>, codes: string[]];
const rows: Row[] = [
  ['an ordinary server', {}, []],
  ['a paused one', { vmState: 'paused' }, []],
  ['a stopped one', { vmState: 'stopped' }, []],
  ['one that is being built', { vmState: 'building', taskState: 'spawning' }, []],
  ['one that is being deleted, whatever else', { taskState: 'deleting', locked: true, vmState: 'error' }, []],
  ['a suspended one', { vmState: 'suspended' }, ['InstanceState']],
  ['a rescued one', { vmState: 'rescued' }, ['InstanceState']],
  ['one in ERROR', { vmState: 'error' }, ['InstanceState']],
  ['one that waits for its confirmation here', { vmState: 'resized' }, ['UnconfirmedResize']],
  ['a locked one', { locked: true }, ['InstanceLocked']],
  ['a PCI device', { extraSpecs: { 'pci_passthrough:alias': 'gpu:1' } }, ['PciDevice']],
  ['an accelerator', { extraSpecs: { 'accel:device_profile': 'fpga' } }, ['PciDevice']],
  ['a virtual GPU', { extraSpecs: { 'resources:VGPU': '1' } }, ['Vgpu']],
  ['a virtual GPU in a group', { extraSpecs: { 'resources1:VGPU': '1' } }, ['Vgpu']],
  ['a TPM by the flavor', { extraSpecs: { 'hw:tpm_version': '2.0' } }, ['Vtpm']],
  ['a TPM by the image', { imageProperties: { hw_tpm_version: '2.0' } }, ['Vtpm']],
  ['a TPM whose secret may travel', { extraSpecs: { 'hw:tpm_version': '2.0', 'hw:tpm_secret_security': 'host' } }, []],
  ['encrypted memory', { extraSpecs: { 'hw:mem_encryption': 'true' } }, ['NoValidTarget']],
  [
    'devices of a server that is off stay behind',
    {
      vmState: 'stopped',
      extraSpecs: { 'pci_passthrough:alias': 'gpu:1', 'resources:VGPU': '1', 'hw:tpm_version': '2.0' },
    },
    [],
  ],
  [
    'several things at once',
    { locked: true, extraSpecs: { 'pci_passthrough:alias': 'gpu:1', 'hw:tpm_version': '2.0' } },
    ['InstanceLocked', 'PciDevice', 'Vtpm'],
  ],
];

test.each(rows)('%s', (_why, change, codes) => {
  const instance = instanceDetail({ id: 'a', name: 'vm-a', ...change });
  const obstacles = judgeInstance(instance, { localDisks: false });
  expect(obstacles.map(({ code }) => code)).toEqual(codes);
  for (const { id, code, instanceId, message } of obstacles) {
    expect({ id, instanceId }).toEqual({ id: `${code}/a`, instanceId: 'a' });
    expect(message).toMatch(/^vm-a: /u);
  }
});

test.each([
  [true, 20, ['LocalDisk']],
  [true, 0, []],
  [false, 20, []],
])('disks on the host itself (%s, %i GiB)', (localDisks, localDiskGiB, codes) => {
  expect(judgeInstance(instanceDetail({ localDiskGiB }), { localDisks }).map(({ code }) => code)).toEqual(codes);
});
