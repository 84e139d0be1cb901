import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { no, virtualMachineConditions as types, yes } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys, virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import type { Context, VmContext } from './plan/context.ts';

/** What is known of a VM's devices and disks beyond its configuration, as conditions. Null: there is nothing to say. Pure. */

/** True where all that is verified of devices is. @param verified the conditions of each kind of devices; null: there are none */
export function judgeDevices(...verified: readonly (ConditionUpdate | null)[]): ConditionUpdate {
  const type = types.devicesVerified;
  const wrong = verified.filter((one) => one !== null).filter(({ status }) => status !== 'True');
  return wrong.length === 0
    ? yes(type)
    : no(type, 'HardwareDeviceConfigMismatch', wrong.map(({ message }) => message).join('. '));
}

/** A VM that was made of cached files in mode `linked` stays linked to them. */
export function judgePromotion({ desired, vm: { config } }: Pick<VmContext, 'desired' | 'vm'>): ConditionUpdate | null {
  const linked = config?.extraConfig[extraConfigKeys.keepDisks] ?? '';
  if (linked === '' || !desired.promotesDisks) return null;
  return no(
    types.diskPromotionSynced,
    'DiskPromotionPending',
    `Its disks are linked to cached ones (${linked}), and drover does not promote them: promote them in vCenter, or set promoteDisksMode to Disabled`,
  );
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
