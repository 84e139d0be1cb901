import type { VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { destroyByStep } from '../../vsphere/mutations/destroy-step.ts';
import { submitDestroy, submitDetachDisks } from '../../vsphere/mutations/submit-destroy.ts';
import { submitPower } from '../../vsphere/mutations/submit-power.ts';
import { awaitTask } from '../../vsphere/tasks/await-task.ts';
import type { VirtualMachine } from '../../vsphere/types.ts';
import type { VmTools } from './agent-vm.ts';

/**
 * Detaches the disks that were not made with it, powers it off, and destroys it. Each of them reads once more whose the
 * VM is.
 *
 * @param find the VM as it is; null: it is gone
 * @returns false: it was gone already
 */
export function destroyVm(
  tools: VmTools,
  find: () => Promise<VirtualMachine | null>,
  { owner, cause }: Pick<VmSubject, 'owner' | 'cause'>,
): Promise<boolean> {
  const {
    vcenter: { gateway },
    scope: { signal },
    clock,
  } = tools;
  const adapter = { ...tools, gateway };
  return destroyByStep({
    gateway,
    clock,
    signal,
    detachForeignDisks: true,
    find,
    execute: async (vm, step) => {
      const subject = { vmId: vm.id, owner, cause };
      const submitted =
        step.kind === 'detach'
          ? await submitDetachDisks(adapter, { ...subject, keys: step.disks.map(({ key }) => key) })
          : step.kind === 'powerOff'
            ? await submitPower(adapter, { ...subject, operation: 'powerOff' })
            : await submitDestroy(adapter, subject);
      if (submitted !== null && 'taskId' in submitted) await awaitTask(adapter, submitted);
    },
  });
}
