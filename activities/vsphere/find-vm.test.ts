import { isFormerMark, judgeByName, judgeByUuid } from './find-vm.ts';
import { mark, uid, vmOf } from '../../test/fixtures/activities/vsphere.ts';
import type { NameInFolder, SeenMark } from './types.ts';

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
