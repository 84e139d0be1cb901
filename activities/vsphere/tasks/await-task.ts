import { CancelledFailure } from '@temporalio/common';

import type { SubmittedTask, TaskPurpose } from '../../../contracts/virtual-machine/activities.ts';
import { withTimeout } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { finalFailure, growingDelayMs, waitFor } from '../../lib/wait.ts';
import type { Tools } from '../dependencies.ts';
import { isCustomizationPending } from '../observation/config.ts';
import { findVm } from '../mutations/find-vm.ts';
import { isFileDone } from '../mutations/submit-file-operation.ts';

/** For passing a cancel on: the run waits for it. */
const cancelWithinMs = 5_000;

/**
 * Waits for a task by polling it, which needs nothing of the session that started it: any worker can take it over. A
 * cancel of the activity is passed on to a task that may take an hour; the end of a worker is not.
 */
export async function awaitTask(tools: Tools, { taskId, purpose }: SubmittedTask): Promise<{ vmId: string | null }> {
  const { gateway, scope, clock } = tools;
  const startMs = clock.now();
  try {
    return await waitFor({
      scope,
      clock,
      observe: async () => {
        const task = await readTaskState(tools, taskId, isSecret(purpose));
        if (task.state === 'success') return { done: { vmId: task.vmId ?? (await vmOf(tools, purpose)) } };
        if (task.state === 'error') {
          const reached = await purposeReached(tools, purpose, task.failure);
          // It stays failed, however often it is read: the run decides whether to retry.
          if (reached === null) throw finalFailure(task.failure);
          return { done: reached };
        }
        if (clock.now() >= scope.deadlineMs)
          throw droverFailure(
            'VsphereTaskOverdue',
            `${taskId} at vCenter ${gateway.vcenter} is ${task.state}${task.progressPercent === null ? '' : ` at ${task.progressPercent} %`} after ${Math.round((clock.now() - startMs) / 1_000)} s`,
          );
        return { againMs: growingDelayMs(clock.now() - startMs) };
      },
    });
  } catch (error) {
    if (isCancelled(scope.signal) && endsWithRun(purpose))
      await withTimeout(clock, cancelWithinMs, (signal) => gateway.cancelTask(taskId, signal)).catch(() => undefined);
    throw error;
  }
}

async function vmOf(tools: Tools, purpose: TaskPurpose): Promise<string | null> {
  // The task of a deploy does not say what it has made.
  if (purpose.kind === 'create') return (await findVm(tools, purpose))?.id ?? null;
  return purpose.kind === 'files' ? null : purpose.vmId;
}

const isSecret = (purpose: TaskPurpose): boolean =>
  purpose.kind === 'customize' || (purpose.kind === 'change' && purpose.isSecret === true);

/** Any other ends by itself, and soon: cut short, it would leave the VM between two states; or it is another user's. */
function endsWithRun(purpose: TaskPurpose): boolean {
  if (purpose.kind === 'files') return purpose.operation.kind !== 'removeFolder';
  return purpose.kind === 'create' || (purpose.kind === 'change' && purpose.isPromotion === true);
}

/**
 * vCenter drops tasks after a while, and all of them when it restarts: then the purpose of the task shows whether
 * it is reached.
 */
async function readTaskState({ gateway, scope }: Tools, taskId: string, secret: boolean) {
  try {
    return await gateway.readTask(taskId, scope.signal, secret);
  } catch (failure) {
    if (failureCode(failure) !== 'VsphereTaskNotFound') throw failure;
    return { state: 'error' as const, failure: failure as Error };
  }
}

/** Whether the purpose of the task is reached all the same: by another attempt, by another user, or just before. */
async function purposeReached(
  tools: Tools,
  purpose: TaskPurpose,
  failure: Error,
): Promise<{ vmId: string | null } | null> {
  const {
    gateway,
    scope: { signal },
  } = tools;
  switch (purpose.kind) {
    case 'create': {
      const made = await findVm(tools, purpose);
      return made === null ? null : { vmId: made.id };
    }
    case 'power':
      return (await gateway.read(purpose.vmId, signal))?.powerState === purpose.powerState
        ? { vmId: purpose.vmId }
        : null;
    case 'destroy':
      return (await gateway.read(purpose.vmId, signal)) === null ? { vmId: purpose.vmId } : null;
    case 'customize': {
      const vm = await gateway.read(purpose.vmId, signal);
      return vm !== null && isCustomizationPending(vm) ? { vmId: purpose.vmId } : null;
    }
    case 'files':
      return (await isFileDone(tools, purpose.place, purpose.operation)) ||
        (purpose.operation.kind === 'removeFolder' && failureCode(failure) === 'VsphereObjectNotFound')
        ? { vmId: null }
        : null;
    case 'change':
      return null;
  }
}

/** Temporal aborts with the cause as message: `CANCELLED`, `WORKER_SHUTDOWN`, `TIMED_OUT` … */
const isCancelled = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof CancelledFailure && reason.message === 'CANCELLED';
