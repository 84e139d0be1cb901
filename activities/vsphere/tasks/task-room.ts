import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';

/**
 * Room for so many tasks of one worker at one vCenter. Which activity awaits a task, and on which worker, does not
 * matter: the tasks themselves are read.
 */
export interface TaskRoom {
  /** Submits when there is room. @throws `VsphereBusy` where there is none for too long */
  submit(start: () => Promise<string>, signal: AbortSignal): Promise<string>;
  /**
   * The same of a task that may take an hour: these have a quarter of the room, or they would keep all others out.
   *
   * @throws also `PromotionsFull`, at once, where they have all of that
   */
  submitLong(start: () => Promise<string>, signal: AbortSignal): Promise<string>;
  /** The task has ended. */
  ended(taskId: string): void;
}

export interface TaskRoomOptions {
  tasks: number;
  /** Those of them that have ended, or are gone. */
  readEnded: (taskIds: readonly string[], signal: AbortSignal) => Promise<readonly string[]>;
  /** How long a submission waits for room; below the 15 s that a short activity has. */
  patienceMs?: number;
  clock: Clock;
}

const defaultPatienceMs = 8_000;
const shortestPollMs = 100;
const longestPollMs = 1_000;

export function openTaskRoom({ tasks, readEnded, patienceMs = defaultPatienceMs, clock }: TaskRoomOptions): TaskRoom {
  const running = new Set<string>();
  const longTasks = Math.max(1, Math.floor(tasks / 4));
  const longRunning = new Set<string>();
  let submitting = 0;
  let longSubmitting = 0;
  let refreshing: Promise<void> | null = null;

  const isFull = (): boolean => running.size + submitting >= tasks;
  const isFullOfLong = (): boolean => longRunning.size + longSubmitting >= longTasks;
  const ended = (taskId: string): void => {
    running.delete(taskId);
    longRunning.delete(taskId);
  };
  /** One read for all that wait. */
  const refresh = (signal: AbortSignal): Promise<void> => {
    refreshing ??= readEnded([...running], signal)
      .then((taskIds) => taskIds.forEach(ended))
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  };
  // A read whose signal was aborted fails for all that share it: they read again.
  const look = async (signal: AbortSignal): Promise<void> => {
    if (running.size > 0)
      await unlessAborted(refresh(signal), signal).catch((error: unknown) =>
        signal.aborted || failureCode(error) !== null ? Promise.reject(error) : undefined,
      );
  };
  const submit = async (start: () => Promise<string>, signal: AbortSignal): Promise<string> => {
    const untilMs = clock.monotonicMs() + patienceMs;
    for (let pollMs = shortestPollMs; isFull(); pollMs = Math.min(pollMs * 2, longestPollMs)) {
      if (clock.monotonicMs() >= untilMs)
        throw droverFailure('VsphereBusy', `${tasks} tasks of this worker run at the vCenter, and it may have no more`);
      await look(signal);
      if (isFull()) await clock.sleep(pollMs, signal);
    }
    submitting += 1;
    try {
      const taskId = await start();
      running.add(taskId);
      return taskId;
    } finally {
      submitting -= 1;
    }
  };
  return {
    submit,
    submitLong: async (start, signal) => {
      if (isFullOfLong()) await look(signal);
      if (isFullOfLong())
        throw droverFailure(
          'PromotionsFull',
          `Promotions that run have all of their places of this worker: ${longTasks}`,
        );
      longSubmitting += 1;
      try {
        return await submit(async () => {
          const taskId = await start();
          longRunning.add(taskId);
          return taskId;
        }, signal);
      } finally {
        longSubmitting -= 1;
      }
    },
    ended,
  };
}
