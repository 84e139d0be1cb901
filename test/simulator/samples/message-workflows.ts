import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { SampleActivities } from './activities.ts';

const { note } = proxyActivities<SampleActivities>({ startToCloseTimeout: 5_000, retry: { maximumAttempts: 3 } });

/** Collects signals, and continues as new after every third. */
export async function collect(expected: number, carried: number[] = []): Promise<number[]> {
  const items = [...carried];
  let fresh = 0;
  setHandler(defineSignal<[number]>('item'), (item) => {
    items.push(item);
    fresh += 1;
  });
  await condition(() => fresh >= 3 || items.length >= expected);
  if (items.length >= expected) return items;
  return await continueAsNew<typeof collect>(expected, items);
}

/** Updates with a validator, an activity and a failure; a query. */
export async function account(): Promise<number> {
  let balance = 0;
  let isClosed = false;
  setHandler(defineQuery<number>('balance'), () => balance);
  setHandler(
    defineUpdate<number, [number]>('deposit'),
    async (amount) => {
      await note(`deposit ${amount}`);
      if (balance + amount > 100) throw ApplicationFailure.nonRetryable('too much', 'TooMuch');
      balance += amount;
      return balance;
    },
    {
      validator: (amount) => {
        if (amount < 0) throw new Error('negative');
      },
    },
  );
  // Answered within the task that brings it.
  setHandler(defineUpdate<number>('read'), () => balance);
  setHandler(defineSignal('close'), () => void (isClosed = true));
  await condition(() => isClosed);
  return balance;
}

/** Closes before its update is answered. */
export async function leavesUpdate(): Promise<void> {
  let isAsked = false;
  setHandler(defineUpdate<void>('ask'), async () => {
    isAsked = true;
    await condition(() => false);
  });
  await condition(() => isAsked);
}

/** Signals and cancels two other runs, of which there is one. */
export async function reachesOthers(there: string): Promise<string[]> {
  const outcomes: string[] = [];
  for (const workflowId of [there, `${there}/not`]) {
    const other = getExternalWorkflowHandle(workflowId);
    for (const call of [() => other.signal('item', 7), () => other.cancel()]) {
      await call().then(
        () => outcomes.push('delivered'),
        (error: Error) => outcomes.push(error.message),
      );
    }
  }
  return outcomes;
}

/** Continues as new, with a memo and a search attribute more each time. */
export async function remembers(times: number): Promise<unknown> {
  const { memo, typedSearchAttributes } = workflowInfo();
  if (times === 0) return [memo, typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value])];
  upsertMemo({ [`memo${times}`]: times, dropped: null });
  upsertSearchAttributes([{ key: defineSearchAttributeKey('DroverPhase', 'KEYWORD'), value: `phase${times}` }]);
  return await continueAsNew<typeof remembers>(times - 1);
}

/** Timers that fire at once, one that is cancelled, and one that bounds a condition. */
export async function timers(): Promise<unknown[]> {
  const fired: string[] = [];
  const names = ['a', 'b', 'c'];
  await Promise.all(names.map((name) => sleep(1_000).then(() => fired.push(name))));
  const beforeMs = Date.now();
  const isLater = await condition(() => Date.now() > beforeMs, 500);
  return [
    fired.toSorted(),
    isLater,
    await condition(() => false, 2_000),
    await condition(() => fired.length === 3, 2_000),
  ];
}

/** Ends when it is told to, by a signal that it was started with or a later one. */
export async function awaitsGo(): Promise<string[]> {
  const words: string[] = [];
  setHandler(defineSignal<[string]>('word'), (word) => void words.push(word));
  await condition(() => words.includes('go'));
  return words;
}
