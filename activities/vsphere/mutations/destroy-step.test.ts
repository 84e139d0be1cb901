import { devices, diskOf, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import type { VirtualMachine } from '../types.ts';
import { nextDestroyStep } from './destroy-step.ts';

const volume = diskOf({
  key: 2001,
  unitNumber: 1,
  backing: { $type: 'VirtualDiskFlatVer2BackingInfo', fileName: '[ds] fcd/volume.vmdk', diskMode: 'persistent' },
});
const snapshot = {
  $type: 'VirtualMachineSnapshotInfo',
  rootSnapshotList: [
    { $type: 'VirtualMachineSnapshotTree', snapshot: { type: 'VirtualMachineSnapshot', value: 's' }, name: 'before' },
  ],
};
const vm = (isAttached: boolean, more: Partial<VirtualMachine> = {}): VirtualMachine =>
  vmOf({ config: { ...vmOf().config!, devices: isAttached ? [...devices, volume] : devices }, ...more });

test.each<[what: string, vm: VirtualMachine, detachForeignDisks: boolean, step: string]>([
  ['on', vm(false, { powerState: 'poweredOn' }), true, 'powerOff'],
  ['off', vm(false), true, 'destroy'],
  ['with a disk of another owner', vm(true), true, 'detach'],
  ['which is to go with it', vm(true), false, 'destroy'],
])('a VM that is to go, %s', (_, one, detachForeignDisks, step) => {
  expect(nextDestroyStep(one, { detachForeignDisks }).kind).toBe(step);
});

test('a disk of another owner that a snapshot holds would be destroyed although it is detached', () => {
  const held = vm(true, { properties: { snapshot, 'layoutEx.file': [] } });
  expect(() => nextDestroyStep(held, { detachForeignDisks: true })).toThrow(
    expect.objectContaining({ type: 'ForeignDisksAttached', message: expect.stringContaining('[ds] fcd/volume.vmdk') }),
  );
  expect(nextDestroyStep(held, { detachForeignDisks: false }).kind).toBe('destroy');
});
