import { findCondition, type ConditionUpdate } from '../../contracts/conditions.ts';
import { no, virtualMachineConditions as types, yes } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { failureOf, type Context, type VmContext } from './plan/context.ts';
import { isWithoutRoom, judgeLinked } from './plan/promotion.ts';
import { isPromotion } from './plan/running-task.ts';

/**
 * What is known of a VM's devices and disks beyond its configuration, as conditions. Null: there is nothing
 * to say. Pure.
 */

/**
 * True where all that is verified of devices is.
 * @param verified the conditions of each kind of devices; null: there are none
 */
export function judgeDevices(...verified: readonly (ConditionUpdate | null)[]): ConditionUpdate {
  const type = types.devicesVerified;
  const wrong = verified.filter((one) => one !== null).filter(({ status }) => status !== 'True');
  return wrong.length === 0
    ? yes(type)
    : no(type, 'HardwareDeviceConfigMismatch', wrong.map(({ message }) => message).join('. '));
}

/** Disks that are linked to cached files, until they are whole. Upstream's reasons. */
export function judgePromotion(context: VmContext): ConditionUpdate | null {
  const type = types.diskPromotionSynced;
  const judged = judgeLinked(context);
  const { desired, isPromoting, observed, vm } = context;
  if (judged.kind === 'none') {
    const wasLinked = findCondition(observed.recorded.conditions, type) !== undefined;
    return wasLinked && desired.promoteDisks !== 'Disabled' ? yes(type) : null;
  }
  if (isPromoting || isPromotion(vm.task))
    return no(type, 'DiskPromotionRunning', 'Its linked disks are being promoted to whole ones');
  if (judged.kind === 'blocked')
    return no(type, 'DiskPromotionPending', `Its disks are linked to others’ files. They are promoted ${judged.why}`);
  const failure = failureOf(context, 'promotion');
  if (failure !== undefined && isWithoutRoom(failure))
    return no(type, 'DiskPromotionPending', `Its disks are linked to others’ files. ${failure.message}`);
  return failure === undefined
    ? no(type, 'DiskPromotionPending', 'Its disks are linked to others’ files, and are promoted next')
    : no(type, failure.requeue ? 'DiskPromotionTaskTransientError' : 'DiskPromotionTaskError', failure.message);
}

/** A revert that was begun by the replaced operator and has not ended holds up the update. */
export function judgeRevert({ desired }: Pick<Context, 'desired'>): ConditionUpdate | null {
  if (!desired.revertInProgress) return null;
  return no(
    types.snapshotRevertSucceeded,
    'VirtualMachineSnapshotRevertInProgress',
    `A revert was begun and not ended. Check the VM, then remove the annotation ${virtualMachineAnnotations.snapshotRevertInProgress}`,
  );
}
