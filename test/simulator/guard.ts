import { createHook } from 'node:async_hooks';
import { currentActivity } from './temporal/activity-worker.ts';
import { rejectSandbox, runOfPromise } from './temporal/sdk.ts';
import { anySignal, currentProcess, isSimulated, plainAny } from './process.ts';

/**
 * What simulated code must not do: forget a promise that is rejected, and wait for real time. What waits for a timer of
 * the machine, a file, a socket or a thread goes on at any moment of virtual time, or not at all, and no seed would
 * tell when.
 */

/** Simulations that are going on, by what makes them fail. */
const current = new Set<(error: Error) => void>();
let isListening = false;

/** Asynchronous resources that are there within one turn of the event loop. */
const immediate = new Set(['Microtask', 'PROMISE', 'TickObject', 'Timer', 'RANDOMBYTESREQUEST']);

/** `gzipSync` and its like make what `gzip` waits for too, and are done with it at once. */
const isSynchronous = ({ stack = '' }: Error): boolean => /\bsyncBufferWrapper\b/u.test(stack);

const hook = createHook({
  // With promises it would cost more than all the rest.
  trackPromises: false,
  init(_, type) {
    const process = currentProcess();
    // What is left of one that was killed does nothing any more.
    if (immediate.has(type) || !isSimulated(process) || !process.isAlive) return;
    const { activity, workflowId } = currentActivity() ?? {};
    const who = activity === undefined ? `The simulated ${process.name}` : `The activity ${activity} of ${workflowId}`;
    const error = new Error(`${who} waits for something outside of virtual time (${type})`);
    if (!isSynchronous(error)) failAll(error);
  },
});

/**
 * While `action` goes on, simulated code that does what it must not fails the simulation; a run that forgets a
 * rejection, its workflow task.
 */
export async function guard<Result>(fail: (error: Error) => void, action: () => Promise<Result>): Promise<Result> {
  if (!isListening) process.on('unhandledRejection', onRejection);
  isListening = true;
  if (current.size === 0) {
    hook.enable();
    Object.assign(AbortSignal, { any: anySignal });
  }
  current.add(fail);
  try {
    return await action();
  } finally {
    current.delete(fail);
    if (current.size === 0) {
      hook.disable();
      Object.assign(AbortSignal, { any: plainAny });
    }
  }
}

function onRejection(reason: unknown, promise: Promise<unknown>): void {
  const runId = runOfPromise(promise);
  if (runId !== null && rejectSandbox(runId, reason)) return;
  const error = reason instanceof Error ? reason : new Error(String(reason));
  // As without a listener: the process ends.
  if (current.size === 0) throw error;
  failAll(new Error(`Simulated code has left a rejection unhandled: ${error.message}`, { cause: error }));
}

function failAll(error: Error): void {
  for (const fail of current) fail(error);
}
