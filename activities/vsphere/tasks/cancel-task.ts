import type { MutationRequest, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { growingDelayMs, waitFor } from '../../lib/wait.ts';
import { mutateVm, type Tools } from '../dependencies.ts';
import { readOwned } from '../mutations/find-vm.ts';

/** Creates of others may take an hour: their end is looked for again later, and no place is held meanwhile. */
const staysMs = 5_000;

/**
 * Cancels a create, and waits until it has ended, however it ends. Where its task is not known any more, every create
 * that is under way at the vCenter may be it: none of them is cancelled, and all that have begun by now are waited for.
 *
 * @param request `awaited`: those that had begun when it was first asked for, as the failure of then says
 * @throws VsphereTaskOverdue with those that may still be it, where its task is not known
 */
export async function stopCreate(
  tools: Tools,
  request: MutationRequest & {
    task: string | null;
    awaited?: readonly string[];
    folder: string | null;
    name: string;
  },
): Promise<void> {
  const { gateway, scope, clock } = tools;
  const { task, awaited, name } = request;
  if (task !== null && (await isRunning(tools, task))) {
    await mutateVm(tools, {
      action: 'stopCreate',
      request,
      before: { task, name },
      after: { cancelled: task },
      submit: () => gateway.cancelTask(task, scope.signal),
    });
  }
  let waiting = task === null ? (awaited ?? (await gateway.runningCreates(scope.signal))) : [task];
  const startMs = clock.now();
  const endMs = task === null ? Math.min(startMs + staysMs, scope.deadlineMs) : scope.deadlineMs;
  await waitFor({
    scope,
    clock,
    observe: async () => {
      const running: string[] = [];
      for (const one of waiting) if (await isRunning(tools, one)) running.push(one);
      waiting = running;
      if (running.length === 0) return { done: undefined };
      if (clock.now() >= endMs)
        throw droverFailure(
          'VsphereTaskOverdue',
          `${running.join(', ')} at vCenter ${gateway.vcenter} may still make ${name}, and has not ended`,
          task === null ? { details: running } : {},
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
