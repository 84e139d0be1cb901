import type { ObservedTask } from '../../../contracts/virtual-machine/observation.ts';
import { wait, type Outcome, type VmContext } from './context.ts';

/**
 * A promotion of disks that is under way. It may take an hour, and vCenter changes nothing else of the VM meanwhile.
 */

/** Also one of another user. */
export const isPromotion = (task: ObservedTask | null): task is ObservedTask & { descriptionId: typeof promotion } =>
  task?.descriptionId === promotion;

const promotion = 'VirtualMachine.promoteDisks';

/** This run is told of the end of its own; for another's it looks. */
export function waitForPromotion({ isPromoting, settings, vm, nowMs }: VmContext): Outcome {
  const percent = isPromotion(vm.task) && vm.task.progress !== null ? ` (${vm.task.progress} %)` : '';
  return wait(
    'Updating',
    `its linked disks to be promoted to whole ones${percent}`,
    isPromoting ? null : nowMs + settings.pollMs,
  );
}
