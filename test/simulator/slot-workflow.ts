import { ActivityCancellationType, condition, proxyActivities, sleep } from '@temporalio/workflow';
import type { Lifecycle, Reconciler, RunHandle, Situation } from '../../workflows/lib/lifecycle.ts';
import { SlotHolder } from '../../workflows/lib/slot.ts';

export interface SlotActivities {
  request(): Promise<boolean>;
  release(): Promise<void>;
}

/** When a run gives its slot up: before it has asked, while its request is on its way, or once it has an answer. */
export type GivesUp = 'beforeItAsks' | 'meanwhile' | 'answered';

const { request, release } = proxyActivities<SlotActivities>({
  scheduleToCloseTimeout: '6 hours',
  startToCloseTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** @returns whether it held the slot, and whether asking failed */
export async function useSlot(givesUp: GivesUp): Promise<{ isHeld: boolean; isFailed: boolean }> {
  const situation = {} as Situation<Lifecycle>;
  const slots: Reconciler<Lifecycle>['slots'] = {
    queued: () => ({ kind: 'wait', phase: 'Queued', reason: 'Queued', message: 'a slot', untilMs: null }),
    acquire: request,
    release: () => release,
  };
  const holder = new SlotHolder({ slots } as Reconciler<Lifecycle>, {} as RunHandle<Lifecycle>);
  holder.ask(situation, 'builds', null);
  if (givesUp === 'meanwhile') await sleep(1_000);
  if (givesUp === 'answered') await condition(() => holder.isAnswered);
  const isHeld = holder.isGranted;
  await holder.releaseAll(situation);
  return { isHeld, isFailed: holder.takeFailure() !== null };
}
