import { ApplicationFailure, log, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { SampleActivities } from './activities.ts';

const { note, fail } = proxyActivities<SampleActivities>({
  startToCloseTimeout: 5_000,
  retry: { initialInterval: 1_000, maximumAttempts: 3 },
});

/** What a call comes to, and after how many milliseconds. */
async function outcomeOf(call: () => Promise<unknown>): Promise<[string, number]> {
  const sinceMs = Date.now();
  const what = await call().catch((error: Error) => {
    const { name, message, timeoutType = '' } = error.cause as Error & { timeoutType?: string };
    return timeoutType === '' ? `${name}: ${message}` : timeoutType;
  });
  return [String(what), Date.now() - sinceMs];
}

/** What each kind of failure of an activity comes to, and after how many milliseconds. */
export async function failures(): Promise<[string, number][]> {
  const { wait } = proxyActivities<SampleActivities>({
    startToCloseTimeout: 2_000,
    retry: { maximumAttempts: 2, initialInterval: 500 },
  });
  const { fail: failFor } = proxyActivities<SampleActivities>({
    scheduleToCloseTimeout: 10_000,
    retry: { initialInterval: 1_000, maximumInterval: 60_000 },
  });
  const { note: soon } = proxyActivities<SampleActivities>({
    startToCloseTimeout: 5_000,
    scheduleToStartTimeout: 1_000,
  });
  const { fail: failOf } = proxyActivities<SampleActivities>({
    startToCloseTimeout: 5_000,
    retry: { nonRetryableErrorTypes: ['Tried'] },
  });
  return [
    await outcomeOf(() => fail(2, 'again')),
    await outcomeOf(() => fail(9, 'again')),
    await outcomeOf(() => fail(9, 'final')),
    await outcomeOf(() => failOf(9, 'named')),
    await outcomeOf(() => wait(60_000)),
    await outcomeOf(() => failFor(99, 'again')),
    await outcomeOf(() => fail(1, 'later')),
    await outcomeOf(() => soon('soon')),
  ];
}

/** An activity that falls silent, and goes on with what its last heartbeat said. */
export async function resumes(): Promise<unknown> {
  const { fallSilent } = proxyActivities<SampleActivities>({
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: 1_000,
    retry: { initialInterval: 200 },
  });
  return await fallSilent(2);
}

/** An activity whose last attempt falls silent. */
export async function givesUp(): Promise<unknown> {
  const { fallSilent } = proxyActivities<SampleActivities>({
    startToCloseTimeout: '1 minute',
    heartbeatTimeout: 1_000,
    retry: { initialInterval: 200, maximumAttempts: 2 },
  });
  return await outcomeOf(() => fallSilent(9)).then(([what]) => what);
}

/** No worker serves the queue of its activity. */
export async function waitsForWorker(): Promise<[string, number]> {
  const { note: never } = proxyActivities<SampleActivities>({
    taskQueue: 'nobody',
    startToCloseTimeout: 5_000,
    scheduleToStartTimeout: 1_000,
  });
  return await outcomeOf(() => never('never'));
}

export async function failsWithDetails(): Promise<void> {
  throw ApplicationFailure.create({ message: 'broken', type: 'Broken', details: [{ part: 1 }], nonRetryable: true });
}

/** Is not deterministic: what it asks for depends on whether it is replayed. */
export async function unsteady(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await note(workflowInfo().unsafe.isReplaying ? 'again' : 'first');
}

/** Throws what is no failure of Temporal's. */
export async function throwsTypeError(): Promise<void> {
  await sleep(10);
  throw new TypeError('a mistake');
}

/** Throws what is no failure of Temporal's, in the first seconds. */
export async function recovers(): Promise<string> {
  await sleep(10);
  if (Date.now() - workflowInfo().startTime.getTime() < 5_000) throw new TypeError('a mistake');
  return await note('recovered');
}

/** Forgets a promise, which is rejected. */
export async function forgetsPromise(): Promise<void> {
  void Promise.reject(new Error('forgotten'));
  await sleep(1_000);
}

/** Logs, with every task. */
export async function logs(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    log.info(`round ${round}`);
    await sleep(100);
  }
}
