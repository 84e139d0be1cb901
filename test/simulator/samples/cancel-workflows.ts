import {
  ActivityCancellationType,
  CancellationScope,
  ChildWorkflowCancellationType,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { SampleActivities } from './activities.ts';

/** Takes half a second to end when it is cancelled. */
export async function sleeper(): Promise<string> {
  try {
    await sleep('1 hour');
    return 'slept';
  } catch (error) {
    await CancellationScope.nonCancellable(() => sleep(500));
    throw error;
  }
}

/**
 * Cancels a child, at once or when it has started, and stays open for a while.
 *
 * @returns how its child ended, and after how many milliseconds it knew that
 */
export async function cancelsChild(
  type: keyof typeof ChildWorkflowCancellationType,
  afterMs: number,
  openMs = 0,
): Promise<[string, number]> {
  const scope = new CancellationScope();
  const options = {
    workflowId: `${workflowInfo().workflowId}/child`,
    cancellationType: ChildWorkflowCancellationType[type],
    parentClosePolicy: ParentClosePolicy.ABANDON,
  };
  const ended = scope.run(() => executeChild(sleeper, options));
  if (afterMs > 0) await sleep(afterMs);
  const sinceMs = Date.now();
  scope.cancel();
  const how = await ended.catch((error: unknown) => (isCancellation(error) ? 'cancelled' : String(error)));
  const tookMs = Date.now() - sinceMs;
  if (openMs > 0) await sleep(openMs);
  return [how, tookMs];
}

/**
 * Cancels an activity: at once, or when it runs.
 *
 * @returns how its activity ended, and after how many milliseconds it knew that
 */
export async function cancelsActivity(
  type: keyof typeof ActivityCancellationType,
  afterMs: number,
): Promise<[string, number]> {
  const { wait } = proxyActivities<SampleActivities>({
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: 10_000,
    cancellationType: ActivityCancellationType[type],
  });
  const scope = new CancellationScope();
  const ended = scope.run(() => wait(6_000));
  if (afterMs > 0) await sleep(afterMs);
  const sinceMs = Date.now();
  scope.cancel();
  const how = await ended.catch((error: unknown) => (isCancellation(error) ? 'cancelled' : String(error)));
  return [how, Date.now() - sinceMs];
}

/** Cancels an activity that waits for its next attempt. */
export async function cancelsRetry(): Promise<string> {
  const { fail } = proxyActivities<SampleActivities>({
    startToCloseTimeout: '1 minute',
    retry: { initialInterval: '1 hour' },
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
  const scope = new CancellationScope();
  const ended = scope.run(() => fail(9, 'again'));
  await sleep(1_000);
  scope.cancel();
  return await ended.then(String, (error: unknown) => (isCancellation(error) ? 'cancelled' : String(error)));
}

/** Timers, signals and children that are cancelled with the task that asks for them: the server never sees them. */
export async function cancelsAtOnce(): Promise<string[]> {
  const scope = new CancellationScope();
  const options = { workflowId: `${workflowInfo().workflowId}/never` };
  const calls = scope.run(() =>
    Promise.allSettled([
      sleep(1_000),
      executeChild(sleeper, options),
      getExternalWorkflowHandle('nobody').signal('word', 'unsent'),
    ]),
  );
  scope.cancel();
  return (await calls).map((call) => (call.status === 'rejected' && isCancellation(call.reason) ? 'cancelled' : 'not'));
}

/** Is cancelled itself, and ends so when it has cleaned up with an activity. */
export async function cleansUp(): Promise<void> {
  const { note } = proxyActivities<SampleActivities>({ startToCloseTimeout: 5_000 });
  try {
    await sleep('1 hour');
  } finally {
    await CancellationScope.nonCancellable(() => note('cleaned up'));
  }
}
