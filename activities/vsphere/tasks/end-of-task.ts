import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { growingDelayMs } from '../../lib/wait.ts';
import type { TaskState, VcenterGateway } from '../types.ts';

/** Longer than vCenter needs to remove a VM with its disks. */
const taskWithinMs = 300_000;

/**
 * Waits for a task of an activity that has more to do afterwards.
 *
 * @param what is done to what, for people
 * @throws what the task ended with; VsphereTaskOverdue
 */
export async function endOfTask(
  { gateway, clock, signal }: { gateway: Pick<VcenterGateway, 'readTask'>; clock: Clock; signal: AbortSignal },
  taskId: string,
  what: string,
): Promise<Extract<TaskState, { state: 'success' }>> {
  const startMs = clock.monotonicMs();
  for (;;) {
    const task = await gateway.readTask(taskId, signal);
    if (task.state === 'success') return task;
    if (task.state === 'error') throw task.failure;
    const waitedMs = clock.monotonicMs() - startMs;
    if (waitedMs >= taskWithinMs)
      throw droverFailure('VsphereTaskOverdue', `${taskId} (${what}) is ${task.state} after ${taskWithinMs / 1_000} s`);
    await clock.sleep(growingDelayMs(waitedMs), signal);
  }
}
