import { virtualMachineAnnotations, virtualMachineFinalizers } from '../../../contracts/virtual-machine/metadata.ts';
import type { ObservedVm, VirtualMachineMemory } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome, VirtualMachineAction } from './context.ts';
import { findOwn, mayBeHalfMade, type Ownership } from './find-own.ts';
import { isConnected, isPaused } from './config.ts';
import { judgeVcenter, planAdoption } from './normal.ts';
import { placeOf, removeCopies } from './cached-files.ts';
import { planPowerOff } from './power.ts';
import { isPromotion } from './running-task.ts';
import { planDetach } from './volumes/volumes.ts';
import { execute, failureOf, patch, retry, stop, success, wait, type Context, type VmContext } from './context.ts';

/** Success: nothing of drover's is left, and the object is released. */
export function planDelete(context: Context): Outcome {
  const { desired, observed, memory } = context;
  if (desired.paused) return stop('Paused', `The annotation ${virtualMachineAnnotations.paused} pauses its deletion`);
  if (desired.deleteChecks.length > 0)
    return stop(
      'DeletionBlocked',
      `Its deletion waits for ${desired.deleteChecks.join(', ')} to take ${virtualMachineAnnotations.deleteCheckPrefix}… away`,
    );
  const held = Object.values(virtualMachineFinalizers).filter((finalizer) => desired.finalizers.includes(finalizer));
  if (held.length === 0) return success;
  const elsewhere = judgeVcenter(context);
  if (elsewhere !== null) return elsewhere;

  const found = findOwn(desired, observed.candidates);
  // A create that is under way would leave a VM behind. vCenter lists that one before its owner is written.
  const mayBeMade = ['own', 'ambiguous', 'unreadable'].includes(found.kind) && !mayBeHalfMade(found);
  if (memory.create !== null || (desired.creatingSince !== null && !mayBeMade)) return cancelCreate(context);
  // Released, it would have no owner: nothing but its owner says that drover made it.
  if (found.kind === 'unreadable') return stop('NotConnected', found.message);
  const removal =
    clearUp(context, found) ?? (desired.skipDelete ? releaseVm(context, found) : deleteVm(context, found));
  const failure = failureOf(context, 'delete');
  if (failure !== undefined && removal.kind === 'execute') {
    return isAdminPaused(observed.vm)
      ? stop('Paused', 'An administrator has paused the VM in vCenter: it is not deleted')
      : retry(failure);
  }
  return removal.kind === 'success'
    ? patch('delete', 'Release the object: take the finalizer off', { removeFinalizers: held })
    : removal;
}

/** What was copied for a VM goes, unless there is a VM: then it is the VM's. Null: nothing was copied. */
function clearUp({ desired }: Context, found: Ownership): Outcome | null {
  const { name, uid, copiesAt } = desired;
  // Histories of before do not say.
  if (!copiesAt || found.kind === 'ambiguous') return null;
  if (found.kind !== 'own') return execute('delete', ...removeCopies(name, placeOf(uid, copiesAt)));
  return patch('delete', `Note that what was copied is of VM ${name}`, {
    annotations: { [virtualMachineAnnotations.copies]: null },
  });
}

/** It may still end well: what it has made is then found by the next observation. */
function cancelCreate({ desired, memory, nowMs }: Context): Outcome {
  const failure = failureOf({ memory, nowMs }, 'delete');
  if (failure !== undefined) return retry(failure);
  const note = execute('delete', [
    'Note that nothing is being made any more',
    { kind: 'patchVirtualMachine', patches: [{ annotations: { [virtualMachineAnnotations.creating]: null } }] },
  ]);
  const cancel = execute('delete', [`Stop making VM ${desired.name}`, cancelOf(memory.create)]);
  return { kind: 'execute', steps: [...cancel.steps, ...(desired.creatingSince === null ? [] : note.steps)] };
}

export const cancelOf = (create: VirtualMachineMemory['create']): VirtualMachineAction => ({
  kind: 'cancelCreate',
  task: create?.task ?? null,
  ...(create?.awaited && { awaited: create.awaited }),
});

const isAdminPaused = (vm: ObservedVm | null): boolean => vm !== null && isPaused(vm);

/** The VM stays, without drover's metadata. */
function releaseVm({ desired, observed }: Context, found: Ownership): Outcome {
  const { vm } = observed;
  // What others have left on a VM that was never taken over is not drover's to take off.
  if (found.kind !== 'own' || found.owner === 'none' || vm === null || !hasMetadata(vm)) return success;
  return execute('delete', [
    `Leave VM ${desired.name} to others: remove drover’s metadata`,
    { kind: 'releaseVm', moId: vm.moId },
  ]);
}

const hasMetadata = ({ config }: ObservedVm): boolean =>
  config !== null &&
  (config.managedBy !== null ||
    Object.keys(config.extraConfig).some((key) => key.startsWith('vmservice.') || key.startsWith('drover.')));

function deleteVm(context: Context, found: Ownership): Outcome {
  const { observed, settings, nowMs } = context;
  if (found.kind === 'ambiguous') return stop('Ambiguous', found.message);
  // Another owner's VM is not what this object made: the object goes, the VM stays.
  if (found.kind !== 'own') return success;
  const { vm } = observed;
  if (vm === null || vm.moId !== found.moId)
    return wait('Deleting', 'another observation of its VM', nowMs + settings.pollMs);
  // One that was never taken over is not drover's to destroy, whatever UUID the object has named.
  if (found.owner === 'none') return success;
  return found.owner === 'former' ? planAdoption({ ...context, vm }) : destroy({ ...context, vm });
}

/** Powered off, without what is not its own, and then destroyed. */
function destroy(context: VmContext): Outcome {
  const { settings, vm } = context;
  const { moId, name } = vm;
  if (!isConnected(context))
    return stop('NotConnected', `${name} is ${vm.connectionState}: it cannot be deleted before its host is back`);
  if (isPaused(vm)) return stop('Paused', 'An administrator has paused the VM in vCenter: it is not deleted');
  if (isPromotion(vm.task))
    return execute('delete', [`Cancel the promotion of disks of ${name}`, { kind: 'cancelTask', task: vm.task.id }]);
  if (vm.task !== null)
    return execute('delete', [
      `Wait for ${vm.task.descriptionId} on ${name}`,
      { kind: 'awaitTask', task: vm.task.id, deadlineMs: settings.taskMs },
    ]);
  const off = powerOff(context);
  if (off.kind !== 'success')
    return off.kind === 'execute'
      ? { ...off, steps: off.steps.map((step) => ({ ...step, stage: 'delete' as const })) }
      : off;
  // Those that are detached would be destroyed all the same, with the snapshots.
  if (vm.heldBySnapshots.length > 0)
    return stop(
      'DisksInSnapshots',
      `Snapshots of ${name} hold ${vm.heldBySnapshots.join(', ')}, which is not its own and would be destroyed with it. Remove its snapshots in vCenter; then it is deleted`,
    );
  const detached = planDetach(context);
  if (detached.kind !== 'success') return detached;
  const foreign = vm.config === null ? null : vm.config.disks.filter(({ own }) => !own);
  // Destroying a VM destroys every disk that is attached to it.
  if (foreign === null)
    return stop('InvalidConfig', `vCenter does not return the disks of ${name}, and some may not be its own`);
  if (foreign.length > 0)
    return execute('delete', [
      `Detach ${foreign.map((disk) => disk.name).join(', ')} from ${name}`,
      { kind: 'detachDisks', moId, keys: foreign.map(({ key }) => key) },
    ]);
  return execute('delete', [`Destroy VM ${name}`, { kind: 'destroy', moId }]);
}

/** By its mode while there is time; then whatever the mode says: a guest without Tools would never shut down. */
function powerOff(context: VmContext): Outcome {
  const { desired, memory, settings, vm, nowMs } = context;
  if (vm.powerState === 'poweredOff') return success;
  const sinceMs = memory.deletingSinceMs ?? nowMs;
  const isLate = nowMs >= sinceMs + settings.deletePowerOffMs;
  // A guest that sleeps cannot be asked.
  const isForced = isLate || vm.powerState === 'suspended';
  const outcome = planPowerOff(context, isForced ? 'Hard' : desired.powerOffMode, settings.softPowerMs);
  if (outcome.kind !== 'wait') return outcome;
  return {
    ...outcome,
    phase: 'Deleting',
    untilMs: Math.min(outcome.untilMs ?? Infinity, sinceMs + settings.deletePowerOffMs),
  };
}
