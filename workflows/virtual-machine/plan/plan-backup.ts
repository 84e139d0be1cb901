import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import { trueReason, virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/marks.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import type { VmContext } from '../step.ts';
import { act, failureOf, success } from '../step.ts';

/** Stores the object with its VM, once per generation. Sources: seed 000 "VM Update Workflow", Reconcile backup state; vm-and-machine.md A.7. */
export function planBackup(context: VmContext): Outcome {
  const { desired, vm } = context;
  if (!isBackedUp(context) || vm.config === null || isStored(context)) return success;
  const version = String(desired.generation);
  return act('backup', [
    `Store ${desired.name}, generation ${version}, with its VM`,
    { do: 'writeBackup', moId: vm.moId, version },
  ]);
}

/** A node of a Kubernetes cluster is made anew, not restored. */
const isBackedUp = ({ desired, settings }: VmContext): boolean =>
  settings.backup && (!desired.clusterNode || desired.forceBackup);

const isStored = ({ desired, vm }: VmContext): boolean =>
  vm.config?.extraConfig[extraConfigKeys.backupVersion] === String(desired.generation);

/** Null: it is not backed up. */
export function judgeBackup(context: VmContext): ConditionUpdate | null {
  if (!isBackedUp(context)) return null;
  const type = virtualMachineConditions.backupUpToDate;
  const failure = failureOf(context, 'backup');
  if (failure !== undefined)
    return { type, status: 'False', reason: 'VirtualMachineBackupFailed', message: failure.message };
  return isStored(context) ? { type, status: 'True', reason: trueReason, message: '' } : null;
}
