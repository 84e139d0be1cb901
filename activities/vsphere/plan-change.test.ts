import type { WantedConfig } from '../../contracts/virtual-machine.ts';
import { planChange } from './plan-change.ts';
import type { VmConfig } from './types.ts';

const seen: VmConfig = {
  instanceUuid: 'i', biosUuid: 'b', changeVersion: '1', isTemplate: false, guestId: 'otherGuest64', annotation: '', vmxPath: '[ds] a/a.vmx', cpus: 2, coresPerSocket: 1, memoryMiB: 512,
  cpuAllocation: { reservation: 0, limit: null }, memoryAllocation: null, managedBy: { extensionKey: 'e', type: 't' }, extraConfig: { a: '1', empty: '' }, disks: [],
};

test.each<[what: string, wanted: WantedConfig, change: WantedConfig | null]>([
  ['nothing is wanted', {}, null],
  ['all is so', { cpus: 2, memoryMiB: 512, annotation: '', cpuAllocation: { reservation: 0, limit: null }, managedBy: { extensionKey: 'e', type: 't' }, extraConfig: { a: '1' } }, null],
  ['one number differs', { cpus: 4, memoryMiB: 512 }, { cpus: 4 }],
  ['a limit is wanted', { cpuAllocation: { reservation: 0, limit: 1000 } }, { cpuAllocation: { reservation: 0, limit: 1000 } }],
  ['a reservation is wanted where nothing is known', { memoryAllocation: { reservation: 512, limit: null } }, { memoryAllocation: { reservation: 512, limit: null } }],
  ['somebody else manages it', { managedBy: { extensionKey: 'e', type: 'other' } }, { managedBy: { extensionKey: 'e', type: 'other' } }],
  ['one key differs', { extraConfig: { a: '2', empty: '' } }, { extraConfig: { a: '2' } }],
  ['a key is to go', { extraConfig: { a: '' } }, { extraConfig: { a: '' } }],
  ['a key is to go that is not there', { extraConfig: { b: '', empty: '' } }, null],
  ['a key is new', { extraConfig: { b: '1' } }, { extraConfig: { b: '1' } }],
])('%s', (_, wanted, change) => expect(planChange(wanted, seen)).toEqual(change));
