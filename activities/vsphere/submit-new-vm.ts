import { ownershipKeys } from '../../contracts/ids.ts';
import type { CloneSource, NewVm, SubmittedTask } from '../../contracts/virtual-machine.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { mutate, type Tools } from './dependencies.ts';
import { findVm } from './find-vm.ts';

/** How the VM is made. */
export type Origin = { source: CloneSource } | { datastoreName: string };

/**
 * Makes sure that the VM is there or being made: one that an earlier attempt made is found, and of two attempts in flight at once the
 * name lets one succeed.
 */
export async function submitNewVm(tools: Tools, origin: Origin, vm: NewVm, cause: string): Promise<{ vmId: string } | SubmittedTask> {
  const { gateway, scope } = tools;
  const reserved = Object.values<string>(ownershipKeys).find((key) => vm.config.extraConfig?.[key] !== undefined);
  if (reserved !== undefined) throw droverFailure('InvalidInput', `${reserved} in extraConfig is drover’s own`);
  const found = await findVm(tools, vm);
  if (found !== null) return { vmId: found.id };
  const { instanceUuid, folderId, name, mark } = vm;
  const taskId = await mutate(tools, {
    action: 'source' in origin ? 'submitClone' : 'submitCreate',
    object: `vm/${mark.namespacedName}`,
    cause,
    before: null,
    after: { vcenter: gateway.vcenter, folderId, name, instanceUuid, uid: mark.uid, ...('source' in origin ? origin.source : {}) },
    submit: () => ('source' in origin ? gateway.clone(origin.source, vm, scope.signal) : gateway.create(vm, origin.datastoreName, scope.signal)),
    idOf: (id) => id,
  });
  return { taskId, purpose: { kind: 'create', instanceUuid, folderId, name, mark } };
}
