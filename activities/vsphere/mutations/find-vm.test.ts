import { findVm, isFormerOwner, judgeByName, judgeByUuid } from './find-vm.ts';
import { owner, uid, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import type { NameInFolder, ObservedOwner } from '../types.ts';

const identity = { instanceUuid: uid, folder: 'group-1', name: 'web', owner };

test.each<[what: string, observed: ObservedOwner | null, isOurs: boolean, isFormer: boolean]>([
  ['the same', owner, true, false],
  ['an earlier object of the same name', { ...owner, uid: 'u-0' }, false, false],
  ['another name', { ...owner, namespacedName: 'team/other' }, false, false],
  ['that of the operator before', { ...owner, uid: null }, false, true],
  ['that of the operator before, of another object', { namespacedName: 'team/other', uid: null }, false, false],
  ['none', null, false, false],
])('the owner is %s', (_, observed, isOurs, isFormer) => {
  expect(isFormerOwner(owner, observed)).toBe(isFormer);
  const vm = vmOf({}, observed);
  const named: NameInFolder = { kind: 'vm', vm };
  if (isOurs) {
    expect(judgeByUuid(vm, identity)?.id).toBe('vm-1');
    expect(judgeByName(named, identity)?.id).toBe('vm-1');
  } else {
    expect(() => judgeByUuid(vm, identity)).toThrow(expect.objectContaining({ type: 'VirtualMachineNotOwned' }));
    expect(() => judgeByName(named, identity)).toThrow(expect.objectContaining({ type: 'VirtualMachineNameTaken' }));
  }
});

test('nothing is there, or something that is no VM', () => {
  expect(judgeByUuid(null, identity)).toBeNull();
  expect(judgeByName({ kind: 'nothing' }, identity)).toBeNull();
  expect(() => judgeByName({ kind: 'other', type: 'VirtualApp' }, identity)).toThrow(/web in group-1 is a VirtualApp/u);
});

const owned = vmOf({}, owner);
const unowned = vmOf({}, null);

test.each<[what: string, reads: (typeof owned)[], creates: string[], is: string]>([
  ['owned', [owned], ['task-9'], 'vm-1'],
  ['unowned while a create is under way', [unowned], ['task-9'], 'VsphereBusy'],
  ['unowned when it was read, and the create has ended since', [unowned, owned], [], 'vm-1'],
  ['unowned, and no create is under way', [unowned, unowned], [], 'taken'],
])('a VM is %s', async (_, reads, creates, is) => {
  for (const by of ['instance UUID', 'name']) {
    let read = 0;
    const next = () => Promise.resolve(reads[read++] ?? null);
    const gateway = {
      vcenter: 'vc-1',
      findByInstanceUuid: () => Promise.resolve(by === 'name' ? [] : ['vm-1']),
      read: next,
      findInFolder: async () => ({ kind: 'vm' as const, vm: (await next()) ?? unowned }),
      runningCreates: () => Promise.resolve(creates),
    } as unknown as Parameters<typeof findVm>[0]['gateway'];
    const scope = { signal: new AbortController().signal } as Parameters<typeof findVm>[0]['scope'];
    const taken = by === 'name' ? 'VirtualMachineNameTaken' : 'VirtualMachineNotOwned';
    const result = await findVm({ gateway, scope }, identity).then(
      (vm) => vm?.id,
      (failure: { type: string }) => failure.type,
    );
    expect([by, result]).toEqual([by, is === 'taken' ? taken : is]);
    expect(read).toBe(reads.length);
  }
});
