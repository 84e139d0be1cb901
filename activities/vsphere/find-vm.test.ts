import type { VmIdentity } from '../../contracts/virtual-machine.ts';
import { judgeByName, judgeByUuid } from './find-vm.ts';
import type { NameInFolder, VirtualMachine } from './types.ts';

const mark = { namespacedName: 'ns/web', uid: 'u-1' };
const identity: VmIdentity = { instanceUuid: 'i', folderId: 'group-1', name: 'web', mark };
const vm = (seen: VirtualMachine['mark']): VirtualMachine => ({ id: 'vm-1', name: 'web', folderId: 'group-1', resourcePoolId: null, hostId: null, connectionState: 'connected', powerState: 'poweredOff', isToolsRunning: false, ipAddress: null, mark: seen, config: null });

test.each<[what: string, seen: VirtualMachine['mark'], isOurs: boolean]>([
  ['the same', mark, true],
  ['an earlier object of the same name', { ...mark, uid: 'u-0' }, false],
  ['another name', { ...mark, namespacedName: 'ns/other' }, false],
  ['none', null, false],
])('the mark is %s', (_, seen, isOurs) => {
  const named: NameInFolder = { kind: 'vm', vm: vm(seen) };
  if (isOurs) {
    expect(judgeByUuid(vm(seen), identity)?.id).toBe('vm-1');
    expect(judgeByName(named, identity)?.id).toBe('vm-1');
  } else {
    expect(() => judgeByUuid(vm(seen), identity)).toThrow(expect.objectContaining({ type: 'VirtualMachineNotOwned' }));
    expect(() => judgeByName(named, identity)).toThrow(expect.objectContaining({ type: 'VirtualMachineNameTaken' }));
  }
});

test('nothing is there, or something that is no VM', () => {
  expect(judgeByUuid(null, identity)).toBeNull();
  expect(judgeByName({ kind: 'nothing' }, identity)).toBeNull();
  expect(() => judgeByName({ kind: 'other', type: 'VirtualApp' }, identity)).toThrow(/web in group-1 is a VirtualApp/u);
});
