import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/marks.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import type { VmContext } from '../step.ts';
import { retry, stop, success, wait } from '../step.ts';

/**
 * Snapshots have runs of their own; here it is seen that none is half done. A revert that is left behind is not worked around: the VM may be
 * in either state. Source: seed 000 "VM Update Workflow", Reconcile snapshot.
 */
export function planSnapshot({ desired, observed, settings, nowMs }: VmContext): Outcome {
  const { inProgress, problem } = observed.snapshots;
  if (problem !== null)
    return retry({
      phase: 'snapshot',
      reason: 'VirtualMachineSnapshotFailed',
      message: problem,
      requeue: true,
      retryAtMs: nowMs + settings.recheckMs,
      attempts: 1,
    });
  if (inProgress !== null) return wait('Updating', `snapshot ${inProgress}`);
  if (desired.revertInProgress)
    return stop(
      'VirtualMachineSnapshotRevertInProgress',
      `A revert was begun and not ended. Look at the VM, then take the annotation ${virtualMachineAnnotations.snapshotRevertInProgress} away`,
    );
  return success;
}
