import type { OwnershipMark, VmIdentity, VmSubject } from '../../contracts/virtual-machine.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Tools } from './dependencies.ts';
import type { NameInFolder, VirtualMachine } from './types.ts';

export const isSameMark = (a: OwnershipMark, b: OwnershipMark | null): boolean => b !== null && a.namespacedName === b.namespacedName && a.uid === b.uid;

const told = (mark: OwnershipMark | null): string => (mark === null ? 'no mark' : `the mark of ${mark.namespacedName} (${mark.uid})`);

/** The one with the instance UUID, if it is the object's. Pure. @throws VirtualMachineNotOwned */
export function judgeByUuid(found: VirtualMachine | null, { instanceUuid, mark }: VmIdentity): VirtualMachine | null {
  if (found === null || isSameMark(mark, found.mark)) return found;
  throw droverFailure('VirtualMachineNotOwned', `${found.name} (${found.id}) has the instance UUID ${instanceUuid}, and ${told(found.mark)}`);
}

/** The one with the name in its folder, if it is the object's. vCenter may have given it another instance UUID. Pure. @throws VirtualMachineNameTaken */
export function judgeByName(found: NameInFolder, { name, folderId, mark }: VmIdentity): VirtualMachine | null {
  if (found.kind === 'nothing') return null;
  if (found.kind === 'other') throw droverFailure('VirtualMachineNameTaken', `${name} in ${folderId} is a ${found.type}`);
  if (isSameMark(mark, found.vm.mark)) return found.vm;
  throw droverFailure('VirtualMachineNameTaken', `${name} in ${folderId} is ${found.vm.id}, which has ${told(found.vm.mark)}`);
}

/** The VM of an object: by its instance UUID, and where that finds none, by its name. Never another one. */
export async function findVm({ gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>, identity: VmIdentity): Promise<VirtualMachine | null> {
  const byUuid = judgeByUuid(await gateway.findByInstanceUuid(identity.instanceUuid, signal), identity);
  return byUuid ?? judgeByName(await gateway.findInFolder(identity.folderId, identity.name, signal), identity);
}

/** Reads a VM and makes sure that it is the one that is meant; null where it is gone. @throws VirtualMachineNotOwned */
export async function readOwned({ gateway, scope: { signal } }: Pick<Tools, 'gateway' | 'scope'>, { vmId, mark }: VmSubject): Promise<VirtualMachine | null> {
  const seen = await gateway.read(vmId, signal);
  if (seen === null || isSameMark(mark, seen.mark)) return seen;
  throw droverFailure('VirtualMachineNotOwned', `${seen.name} (${vmId}) has ${told(seen.mark)}, not that of ${mark.namespacedName} (${mark.uid})`);
}

/** The same, of one that must be there. @throws VirtualMachineNotFound */
export async function readOwnedThere(tools: Pick<Tools, 'gateway' | 'scope'>, subject: VmSubject): Promise<VirtualMachine> {
  const seen = await readOwned(tools, subject);
  if (seen === null) throw droverFailure('VirtualMachineNotFound', `vCenter ${tools.gateway.vcenter} has no ${subject.vmId}, the VM of ${subject.mark.namespacedName}`);
  return seen;
}
