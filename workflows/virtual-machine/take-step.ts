import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { errors } from '../../contracts/errors.ts';
import type { SubmittedTask } from '../../contracts/virtual-machine-activities.ts';
import type { VirtualMachineStep } from '../../contracts/virtual-machine-plan.ts';
import type { Problem } from '../lib/failures.ts';
import { explain } from '../lib/failures.ts';
import { virtualMachineObjects, vsphereTask } from '../lib/virtual-machine-activities.ts';
import { carryOut } from './carry-out.ts';
import type { StepEnd } from './remember.ts';
import { remember } from './remember.ts';
import type { Inbox, VirtualMachineRun } from './run.ts';
import { isOutdated } from './run.ts';

/** Takes the steps of one decision, as long as nobody has decided otherwise; what became of each is remembered. */
export async function takeSteps(run: VirtualMachineRun, inbox: Inbox, steps: readonly VirtualMachineStep[]): Promise<void> {
  for (const step of steps) {
    run.message = step.words;
    const end = await takeStep(run, inbox, step);
    const desired = run.seen?.desired ?? null;
    if (end === null || desired === null) return;
    run.state.memory = remember(run.state.memory, step, end, desired, Date.now());
    run.state.acted = true;
    if (!end.ok || isOutdated(run, inbox)) return;
  }
}

/** Null: the wait was given up, as the object is not what it was; what became of the task, the next look sees. */
async function takeStep(run: VirtualMachineRun, inbox: Inbox, step: VirtualMachineStep): Promise<StepEnd | null> {
  try {
    const task = await carryOut(run, step, (submitted, words, deadlineMs) => awaitWhileWanted(run, inbox, { submitted, words, deadlineMs, isCreate: isCreate(run, step) }));
    return task === null ? { ok: true } : { ok: true, task };
  } catch (error) {
    if (isCancellation(error)) return null;
    return endOf(explain(error));
  }
}

const isCreate = ({ state }: VirtualMachineRun, step: VirtualMachineStep): boolean => step.do === 'createVirtualMachine' || (step.do === 'awaitTask' && step.task === state.memory.create?.task);

const endOf = ({ code, reason, message }: Problem): StepEnd => ({ ok: false, reason, message, requeue: code === null || errors[code].retryable });

/**
 * Waits for a task of vCenter. A run that is cancelled passes that on; so does a VM that is being made and that nobody wants any more: a
 * create may take an hour. All other tasks end by themselves, and soon.
 */
async function awaitWhileWanted(run: VirtualMachineRun, inbox: Inbox, { submitted, words, deadlineMs, isCreate: mayBeStopped }: { submitted: SubmittedTask; words: string; deadlineMs: number; isCreate: boolean }): Promise<void> {
  const vcenter = run.seen?.settings.vcenter ?? '';
  run.waiting = { for: `${submitted.taskId} of vCenter ${vcenter}`, untilMs: Date.now() + deadlineMs };
  const scope = new CancellationScope();
  let isOver = false;
  const task = scope.run(() => vsphereTask(vcenter, deadlineMs, words).awaitTask(submitted)).finally(() => (isOver = true));
  const news = (): Promise<void> => condition(() => isOver || isOutdated(run, inbox));
  try {
    for (;;) {
      await Promise.race([task, news()]);
      if (!isOutdated(run, inbox)) break;
      if (inbox.cancelled || (mayBeStopped && (await isUnwanted(run)))) {
        scope.cancel();
        break;
      }
      // It is looked at once for each news.
      inbox.generation = 0;
    }
    await task;
  } finally {
    run.waiting = null;
  }
}

async function isUnwanted({ namespace, name }: VirtualMachineRun): Promise<boolean> {
  try {
    const seen = await virtualMachineObjects(`See whether ${namespace}/${name} is still wanted`).readVirtualMachine({ namespace, name });
    return seen.next === 'run' && (seen.desired === null || seen.desired.deleting);
  } catch (error) {
    void explain(error);
    return false;
  }
}
