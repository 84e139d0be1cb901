import type { MutationRequest, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { growingDelayMs, waitFor } from '../../lib/wait.ts';
import { mutateVm, type Tools } from '../dependencies.ts';
import { readOwned } from '../mutations/find-vm.ts';

/**
 * Cancels a create, and waits until it has ended, however it ends. Where its task is not known any more, every create
 * that is under way at the vCenter may be it: none of them is cancelled, and all that have begun by now are waited for.
 */
export async function stopCreate(
  tools: Tools,
  request: MutationRequest & { task: string | null; folder: string | null; name: string },
): Promise<void> {
  const { gateway, scope, clock } = tools;
  const { task, name } = request;
  if (task !== null && (await isRunning(tools, task))) {
    await mutateVm(tools, {
      action: 'stopCreate',
      request,
      before: { task, name },
      after: { cancelled: task },
      submit: () => gateway.cancelTask(task, scope.signal),
    });
  }
  let waiting = task === null ? await gateway.runningCreates(scope.signal) : [task];
  const startMs = clock.now();
  await waitFor({
    scope,
    clock,
    observe: async () => {
      const running: string[] = [];
      for (const one of waiting) if (await isRunning(tools, one)) running.push(one);
      waiting = running;
      if (running.length === 0) return { done: undefined };
      if (clock.now() >= scope.deadlineMs)
        throw droverFailure(
          'VsphereTaskOverdue',
          `${running.join(', ')} at vCenter ${gateway.vcenter} may still make ${name}, and has not ended`,
        );
      return { againMs: growingDelayMs(clock.now() - startMs) };
    },
  });
}

/** Cancels a task of a VM. Does nothing where it has ended, or is not known any more. */
export async function cancelVsphereTask(tools: Tools, request: VmSubject & { task: string }): Promise<void> {
  const { gateway, scope } = tools;
  const { task, vmId } = request;
  const vm = await readOwned(tools, request);
  if (vm === null || !(await isRunning(tools, task, vmId))) return;
  await mutateVm(tools, {
    action: 'cancelVsphereTask',
    request,
    before: { task },
    after: { cancelled: task },
    submit: () => gateway.cancelTask(task, scope.signal),
  });
}

/** @param vmId whose task it has to be. @throws RequestRefused for another one's */
async function isRunning({ gateway, scope: { signal } }: Tools, task: string, vmId?: string): Promise<boolean> {
  try {
    const { state, entity } = await gateway.readTask(task, signal);
    if (state !== 'queued' && state !== 'running') return false;
    if (vmId !== undefined && entity?.value !== vmId)
      throw droverFailure(
        'RequestRefused',
        `${task} is a task of ${entity?.value ?? 'something else'}, not of ${vmId}`,
      );
    return true;
  } catch (error) {
    if (failureCode(error) === 'VsphereTaskNotFound') return false;
    throw error;
  }
}
