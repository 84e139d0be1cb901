import type { VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { nextDestroyStep } from '../../vsphere/mutations/destroy-step.ts';
import { submitDestroy, submitDetachDisks } from '../../vsphere/mutations/submit-destroy.ts';
import { submitPower } from '../../vsphere/mutations/submit-power.ts';
import { awaitTask } from '../../vsphere/tasks/await-task.ts';
import type { VirtualMachine } from '../../vsphere/types.ts';
import type { VmTools } from './agent-vm.ts';

/** One change and one more for each time that another client was faster. */
const mostChanges = 8;
const afterOvertakenMs = 1_000;

/** Another client was faster, or vCenter has forgotten the task: the VM is read again. */
const overtaken: readonly (string | null)[] = [
  'VirtualMachineConflict',
  'VirtualMachineNotFound',
  'VirtualMachineStateRefused',
  'ForeignDisksAttached',
  'VsphereTaskNotFound',
];

/**
 * Detaches the disks that were not made with it, powers it off, and destroys it. Each of them reads once more whose the VM is.
 *
 * @param find the VM as it is; null: it is gone
 * @returns false: it was gone already
 */
export async function destroyVm(
  tools: VmTools,
  find: () => Promise<VirtualMachine | null>,
  { owner, cause }: Pick<VmSubject, 'owner' | 'cause'>,
): Promise<boolean> {
  const {
    vcenter: { gateway },
    scope,
    clock,
  } = tools;
  const adapter = { ...tools, gateway };
  for (let change = 1, isDestroyed = false; ; change += 1) {
    const vm = await find();
    if (vm === null) return isDestroyed;
    if (change > mostChanges)
      throw droverFailure(
        'VirtualMachineConflict',
        `${vm.name} (${vm.id}) of vCenter ${gateway.vcenter} is ${vm.powerState} after ${mostChanges} changes`,
      );
    const subject = { vmId: vm.id, owner, cause };
    const step = nextDestroyStep(vm, { detachForeignDisks: true });
    try {
      const submitted =
        step.kind === 'detach'
          ? await submitDetachDisks(adapter, { ...subject, keys: step.disks.map(({ key }) => key) })
          : step.kind === 'powerOff'
            ? await submitPower(adapter, { ...subject, operation: 'powerOff' })
            : await submitDestroy(adapter, subject);
      if (submitted !== null && 'taskId' in submitted) await awaitTask(adapter, submitted);
      isDestroyed ||= step.kind === 'destroy';
    } catch (error) {
      if (change === mostChanges || !overtaken.includes(failureCode(error))) throw error;
      await clock.sleep(afterOvertakenMs, scope.signal);
    }
  }
}
