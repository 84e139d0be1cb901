import type { Disk } from '../../../contracts/virtual-machine/config.ts';
import { errors } from '../../../contracts/errors.ts';
import type { StageFailure } from '../../../contracts/virtual-machine/observation.ts';
import { isConnected, isPaused } from './config.ts';
import { execute, failureOf, success, wait, type Outcome, type VmContext } from './context.ts';
import { isPromotion, waitForPromotion } from './running-task.ts';

/**
 * A disk that is linked to a file outside of its VM's folder, as fast deploy makes them, becomes a whole one: Online
 * while the VM is on, Offline while it is off. vCenter may take an hour for it, so it runs beside everything
 * else. Pure functions.
 */

/** `due`: can be promoted now. */
export type Promotion = { kind: 'none' } | { kind: 'due'; disks: Disk[] } | { kind: 'blocked'; why: string };

export function judgeLinked(context: VmContext): Promotion {
  const { desired, vm } = context;
  const disks = (vm.config?.disks ?? []).filter(({ linked, own }) => linked === true && own);
  if (disks.length === 0 || desired.promoteDisks === 'Disabled') return { kind: 'none' };
  const why = obstacle(context);
  return why === null ? { kind: 'due', disks } : { kind: 'blocked', why };
}

/** Completes `They are promoted …`; null: nothing is in the way. */
function obstacle(context: VmContext): string | null {
  const { desired, vm } = context;
  if (vm.hasSnapshots === true)
    return 'when it has no snapshots: remove them, or set spec.promoteDisksMode to Disabled';
  if (!isConnected(context)) return 'when its host is back';
  if (isPaused(vm)) return 'when an administrator lets go of the VM, who has paused it in vCenter';
  if (desired.promoteDisks === 'Offline')
    return vm.powerState === 'poweredOff' ? null : 'while it is powered off (spec.promoteDisksMode Offline)';
  if (vm.powerState !== 'poweredOn' || desired.powerState !== 'PoweredOn')
    return 'while it is powered on (spec.promoteDisksMode Online)';
  return isBeingCustomized(vm.guest.customization) ? 'when its guest is set up' : null;
}

const isBeingCustomized = (state: string | null): boolean =>
  state === 'TOOLSDEPLOYPKG_PENDING' || state === 'TOOLSDEPLOYPKG_RUNNING';

/** It has not failed: others are promoted now, and these are tried again. */
export const isWithoutRoom = ({ reason }: Pick<StageFailure, 'reason'>): boolean =>
  reason === errors.PromotionsFull.reason;

/** One that another run has begun, or whose answer was lost, is awaited and not begun again. */
export function planPromotion(context: VmContext): Outcome {
  const { settings, vm, nowMs } = context;
  if (context.isPromoting) return waitForPromotion(context);
  const judged = judgeLinked(context);
  if (judged.kind !== 'due') return success;
  const full = failureOf(context, 'promotion');
  if (full !== undefined && isWithoutRoom(full) && !isPromotion(vm.task))
    return wait('Updating', 'promotions of other VMs to end, before its disks are promoted', full.retryAtMs);
  if (vm.task !== null && !isPromotion(vm.task))
    return wait('Updating', `${vm.task.descriptionId} to end, before its disks are promoted`, nowMs + settings.pollMs);
  const keys = judged.disks.map(({ key }) => key);
  const names = judged.disks.map(({ name }) => name).join(', ');
  return execute('promotion', [
    `Promote ${names} of ${vm.name} to whole disks`,
    { kind: 'promoteDisks', moId: vm.moId, keys, task: vm.task?.id ?? null },
  ]);
}
