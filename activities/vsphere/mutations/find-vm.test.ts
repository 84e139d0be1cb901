import { findVm, isFormerMark, judgeByName, judgeByUuid } from './find-vm.ts';
import { mark, uid, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import type { NameInFolder, SeenMark } from '../types.ts';

const identity = { instanceUuid: uid, folder: 'group-1', name: 'web', mark };

test.each<[what: string, seen: SeenMark | null, isOurs: boolean, isFormer: boolean]>([
  ['the same', mark, true, false],
  ['an earlier object of the same name', { ...mark, uid: 'u-0' }, false, false],
  ['another name', { ...mark, namespacedName: 'team/other' }, false, false],
  ['that of the operator before', { ...mark, uid: null }, false, true],
  ['that of the operator before, of another object', { namespacedName: 'team/other', uid: null }, false, false],
  ['none', null, false, false],
])('the mark is %s', (_, seen, isOurs, isFormer) => {
  expect(isFormerMark(mark, seen)).toBe(isFormer);
  const vm = vmOf({}, seen);
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

const marked = vmOf({}, mark);
const unmarked = vmOf({}, null);

test.each<[what: string, reads: (typeof marked)[], creates: string[], is: string]>([
  ['marked', [marked], ['task-9'], 'vm-1'],
  ['unmarked while a create is under way', [unmarked], ['task-9'], 'VsphereBusy'],
  ['unmarked when it was read, and the create has ended since', [unmarked, marked], [], 'vm-1'],
  ['unmarked, and no create is under way', [unmarked, unmarked], [], 'taken'],
])('a VM is %s', async (_, reads, creates, is) => {
  for (const by of ['instance UUID', 'name']) {
    let read = 0;
    const next = () => Promise.resolve(reads[read++] ?? null);
    const gateway = {
      vcenter: 'vc-1',
      findByInstanceUuid: () => Promise.resolve(by === 'name' ? [] : ['vm-1']),
      read: next,
      findInFolder: async () => ({ kind: 'vm' as const, vm: (await next()) ?? unmarked }),
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
