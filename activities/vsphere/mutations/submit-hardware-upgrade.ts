import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { mutateVmByTask, type Tools } from '../dependencies.ts';
import { configOf, readOwnedThere } from './find-vm.ts';
import { vmRef } from '../references.ts';

export async function submitHardwareUpgrade(
  tools: Tools,
  request: VmSubject & { version: number },
): Promise<Submission> {
  const { version: before } = configOf(await readOwnedThere(tools, request));
  if (Number(/\d+$/u.exec(before)?.[0] ?? 0) >= request.version) return null;
  const version = `vmx-${String(request.version).padStart(2, '0')}`;
  const taskId = await mutateVmByTask(tools, {
    action: 'submitHardwareUpgrade',
    owner: request,
    before: { version: before },
    after: { version },
    submit: () => tools.gateway.submit('UpgradeVM_Task', vmRef(request.vmId), { version }, tools.scope.signal),
  });
  return { taskId, purpose: { kind: 'change', vmId: request.vmId } };
}
