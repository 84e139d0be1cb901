import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { mayPass } from '../../contracts/errors.ts';
import type { Looking, SubmittedTask } from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineStep } from '../../contracts/virtual-machine/plan.ts';
import type { Problem } from '../lib/failures.ts';
import { explain } from '../lib/failures.ts';
import { virtualMachineObjects, vsphereTask } from '../lib/virtual-machine-activities.ts';
import type { Done } from './carry-out.ts';
import { carryOut } from './carry-out.ts';
import type { StepEnd } from './remember.ts';
import { remember } from './remember.ts';
import type { Inbox, VirtualMachineRun } from './run.ts';
import { isChanged, isOutdated } from './run.ts';

/**
 * Takes the steps of one decision, as long as nobody has decided otherwise; what became of each is remembered.
 *
 * @param tell says in the object what is done, where it takes long enough to be worth it
 */
export async function takeSteps(
  run: VirtualMachineRun,
  inbox: Inbox,
  steps: readonly VirtualMachineStep[],
  tell: () => Promise<void>,
): Promise<void> {
  run.isFresh = false;
  let isKnown = true;
  for (const step of steps) {
    run.message = step.words;
    const taken = await takeStep(run, inbox, step, tell);
    const desired = run.seen?.desired ?? null;
    if (taken === null || desired === null) return;
    run.state.memory = remember(run.state.memory, step, taken.end, desired, Date.now());
    run.state.acted = true;
    if (!taken.end.ok || taken.done.isCurrent === false || isOutdated(run, inbox)) return;
    if (taken.done.facts !== undefined) run.facts = taken.done.facts;
    // Of a create that is under way there is nothing to see.
    isKnown &&= taken.done.facts !== undefined || taken.done.isCurrent === true || taken.done.task !== undefined;
  }
  run.isFresh = isKnown;
}

interface Taken {
  end: StepEnd;
  done: Done;
}

/** Null: the wait was given up, as the object is not what it was; what became of the task, the next look sees. */
async function takeStep(
  run: VirtualMachineRun,
  inbox: Inbox,
  step: VirtualMachineStep,
  tell: () => Promise<void>,
): Promise<Taken | null> {
  try {
    const done = await carryOut(run, step, async (submitted, words, deadlineMs) => {
      const telling = tell();
      try {
        return await awaitWhileWanted(run, inbox, { submitted, words, deadlineMs, isCreate: isCreate(run, step) });
      } finally {
        await telling;
      }
    });
    return { done, end: done.task === undefined ? { ok: true } : { ok: true, task: done.task } };
  } catch (error) {
    if (isCancellation(error)) return null;
    return { done: {}, end: endOf(explain(error)) };
  }
}

const isCreate = ({ state }: VirtualMachineRun, step: VirtualMachineStep): boolean =>
  step.do === 'createVirtualMachine' ||
  (step.do === 'file' && step.phase === 'create') ||
  (step.do === 'awaitTask' && step.task === state.memory.create?.task);

const endOf = ({ code, reason, message }: Problem): StepEnd => ({
  ok: false,
  reason,
  message,
  requeue: code === null || mayPass(code),
});

/**
 * Waits for a task of vCenter. A run that is cancelled passes that on; so does a VM that is being made and that nobody wants any more: a
 * create may take an hour. All other tasks end by themselves, and soon.
 */
async function awaitWhileWanted(
  run: VirtualMachineRun,
  inbox: Inbox,
  {
    submitted,
    words,
    deadlineMs,
    isCreate: mayBeStopped,
  }: { submitted: SubmittedTask & Looking; words: string; deadlineMs: number; isCreate: boolean },
): Promise<Done> {
  const vcenter = run.seen?.settings.vcenter ?? '';
  run.waiting = { for: `${submitted.taskId} of vCenter ${vcenter}`, untilMs: Date.now() + deadlineMs };
  const scope = new CancellationScope();
  let isOver = false;
  // It is looked at once for each news.
  let lookedAt: Inbox['told'] = null;
  const isNews = (): boolean => inbox.cancelled || (isChanged(run, inbox) && inbox.told !== lookedAt);
  const task = scope
    .run(() => vsphereTask(vcenter, deadlineMs, words).awaitTask(submitted))
    .finally(() => (isOver = true));
  const news = (): Promise<void> => condition(() => isOver || isNews());
  try {
    for (;;) {
      await Promise.race([task, news()]);
      if (!isNews()) break;
      lookedAt = inbox.told;
      if (inbox.cancelled || (mayBeStopped && (await isUnwanted(run)))) {
        scope.cancel();
        break;
      }
    }
    const { facts } = await task;
    return facts === undefined ? {} : { facts };
  } finally {
    run.waiting = null;
  }
}

async function isUnwanted({ namespace, name }: VirtualMachineRun): Promise<boolean> {
  try {
    const seen = await virtualMachineObjects(`See whether ${namespace}/${name} is still wanted`).readVirtualMachine({
      namespace,
      name,
    });
    return seen.next === 'run' && (seen.desired === null || seen.desired.deleting);
  } catch (error) {
    void explain(error);
    return false;
  }
}
