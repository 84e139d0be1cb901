import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { openKnownVms, ownerOf, type KnownVms, type VmChange } from './known-vms.ts';
import type { VmUpdate } from './updates.ts';

const option = (key: string, value: string) => ({ $type: 'OptionValue', key, value });
const ownerKeys = (namespacedName: string, uid: string): Record<string, unknown> => ({
  [`config.extraConfig["${extraConfigKeys.namespacedName}"]`]: option(extraConfigKeys.namespacedName, namespacedName),
  [`config.extraConfig["${extraConfigKeys.objectUid}"]`]: option(extraConfigKeys.objectUid, uid),
});
const entered = (vmId: string, changed: object = {}): VmUpdate => ({
  kind: 'enter',
  vmId,
  changed: { name: vmId, 'runtime.powerState': 'poweredOn', 'config.changeVersion': '1', ...changed },
});
const modified = (vmId: string, changed: object): VmUpdate => ({ kind: 'modify', vmId, changed: { ...changed } });
const left = (vmId: string): VmUpdate => ({ kind: 'leave', vmId, changed: {} });

const own = entered('vm-1', ownerKeys('team/web', 'u-1'));
const foreign = entered('vm-2');
const said = (changes: VmChange[]): string[] =>
  changes.map(
    ({ owner, vmId, causes }) => `${owner.namespace}/${owner.name} ${owner.uid} ${vmId}: ${causes.join(', ')}`,
  );

function openWith(...updates: VmUpdate[]): KnownVms {
  const vms = openKnownVms();
  vms.take(updates);
  vms.changes();
  return vms;
}

test.each<[what: string, updates: VmUpdate[], changes: string[]]>([
  ['powered off', [modified('vm-1', { 'runtime.powerState': 'poweredOff' })], ['team/web u-1 vm-1: powered off']],
  [
    'off, and on again',
    [modified('vm-1', { 'runtime.powerState': 'poweredOff' }), modified('vm-1', { 'runtime.powerState': 'poweredOn' })],
    [],
  ],
  [
    'two changes',
    [modified('vm-1', { 'runtime.powerState': 'poweredOff' }), modified('vm-1', { name: 'other' })],
    ['team/web u-1 vm-1: powered off, renamed'],
  ],
  ['reported again as it is', [own], []],
  ['gone', [left('vm-1')], ['team/web u-1 vm-1: gone']],
  ['gone before it was known', [left('vm-9')], []],
  ['one without an owner changed', [modified('vm-2', { 'runtime.powerState': 'poweredOff' })], []],
  ['one without an owner gone', [left('vm-2')], []],
  ['a copy appeared', [entered('vm-3', ownerKeys('team/web', 'u-1'))], ['team/web u-1 vm-3: appeared']],
])('%s', (_what, updates, changes) => {
  const vms = openWith(own, foreign);
  vms.take(updates);
  expect(said(vms.changes())).toEqual(changes);
  expect(vms.changes()).toEqual([]);
});

test.each<[what: string, update: VmUpdate, unsure: string[]]>([
  ['of one that is reported for the first time', entered('vm-3'), []],
  ['of an object’s, whose configuration is the same', modified('vm-1', { 'runtime.powerState': 'poweredOff' }), []],
  ['of an object’s, whose configuration is another', modified('vm-1', { 'config.changeVersion': '2' }), ['vm-1']],
  ['of one without an owner, whatever has changed', modified('vm-2', { name: 'other' }), ['vm-2']],
  ['of one that is only reported as changed', modified('vm-4', { name: 'other' }), ['vm-4']],
])('owners are read %s: %j', (_what, update, unsure) => {
  expect(openWith(own, foreign).take([update])).toEqual(unsure);
});

test('a owner that comes later, goes, or goes to another object concerns those', () => {
  const vms = openWith(own, foreign);
  vms.setOwner('vm-2', ownerKeys('team/db', 'u-2'));
  expect(said(vms.changes())).toEqual(['team/db u-2 vm-2: owner set']);
  vms.setOwner('vm-1', ownerKeys('team/db', 'u-2'));
  expect(said(vms.changes())).toEqual(['team/web u-1 vm-1: owner removed', 'team/db u-2 vm-1: owner set']);
  vms.setOwner('vm-2', Object.fromEntries(Object.keys(ownerKeys('', '')).map((path) => [path, undefined])));
  expect(said(vms.changes())).toEqual(['team/db u-2 vm-2: owner removed']);
});

test('an inventory that does not list a VM any more: it is gone', () => {
  const vms = openWith(own, entered('vm-5', ownerKeys('team/db', 'u-2')));
  vms.beginInventory();
  vms.take([own]);
  vms.endInventory();
  expect(said(vms.changes())).toEqual(['team/db u-2 vm-5: gone']);
  expect([vms.count(), vms.owned()]).toEqual([
    1,
    [{ vmId: 'vm-1', owner: { namespace: 'team', name: 'web', uid: 'u-1' } }],
  ]);
});

test('what runs know is kept by VM, and only of those that have an owner', () => {
  const vms = openWith(own, foreign);
  expect(vms.sums('signalled')).not.toBe(vms.sums('observed'));
  vms.signalled('vm-1', vms.digestOf('vm-1'));
  expect(vms.sums('signalled')).toBe(vms.sums('observed'));
  vms.take([modified('vm-2', { name: 'other' })]);
  expect(vms.sums('signalled')).toBe(vms.sums('observed'));
  vms.take([modified('vm-1', { name: 'other' })]);
  expect(vms.sums('signalled')).not.toBe(vms.sums('observed'));
  vms.take([left('vm-1')]);
  vms.signalled('vm-1', vms.digestOf('vm-1'));
  expect([vms.digestOf('vm-1'), vms.sums('signalled')]).toEqual([null, openKnownVms().sums('observed')]);
});

test.each<[namespacedName: string, uid: string | null, is: object | null]>([
  ['team/web', 'u-1', { namespace: 'team', name: 'web', uid: 'u-1' }],
  ['team/web.example', 'u-1', { namespace: 'team', name: 'web.example', uid: 'u-1' }],
  // Of the operator before: not drover's yet.
  ['team/web', null, null],
  ['web', 'u-1', null],
  ['team/web/x', 'u-1', null],
  ['../team/web', 'u-1', null],
  ['team/Web', 'u-1', null],
  ['team/web', 'u 1', null],
])('the owner %j with %j: %j', (namespacedName, uid, is) => {
  expect(ownerOf({ namespacedName, uid })).toEqual(is);
});
