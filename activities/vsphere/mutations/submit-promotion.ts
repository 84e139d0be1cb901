import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { isLinked, virtualDisksOf } from '../observation/devices.ts';
import { vmRef } from '../wire/values.ts';
import { configOf, readOwnedThere } from './find-vm.ts';

/** Makes whole disks of linked ones. Those that an earlier attempt has promoted are linked no more. */
export async function submitPromotion(
  tools: Tools,
  request: VmSubject & { keys: readonly number[] },
): Promise<Submission> {
  const vm = await readOwnedThere(tools, request);
  const disks = virtualDisksOf(configOf(vm).devices).filter(
    (disk) => request.keys.includes(disk.key) && isLinked(disk),
  );
  if (disks.length === 0) return null;
  const keys = disks.map(({ key }) => key);
  const taskId = await mutateVmByTask(tools, {
    action: 'submitPromotion',
    request,
    before: { linked: keys },
    after: { linked: [] },
    submit: () =>
      tools.gateway.submit(
        'PromoteDisks_Task',
        vmRef(request.vmId),
        { unlink: true, disks: disks.map(({ key, capacityInKB }) => ({ key, capacityInKB })) },
        tools.scope.signal,
      ),
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId, isPromotion: true } };
}
