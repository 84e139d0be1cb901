import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** A deadline that a run waits for beside other things, as in `condition(() => dirty || recheck.due())`. */
export interface DeadlineTimer {
  /**
   * Moves the deadline. Costs nothing when it did not move or moved later; two events when it moved earlier.
   *
   * @param atMs milliseconds since the epoch, by the workflow's clock; null: no deadline, and nothing is due
   */
  set(atMs: number | null): void;
  /** Whether the deadline has passed. Safe in a `condition`: it only reads. */
  due(): boolean;
}

/**
 * One timer for many waits. `condition` with a time-out starts a timer and cancels it each time, two events per wait;
 * this one keeps running as long as the deadline does not come closer, and when the deadline moved away meanwhile it
 * starts again for what is left.
 *
 * @param summary what a person reads beside the timer in the Web UI
 */
export function deadlineTimer(summary: string): DeadlineTimer {
  let deadlineMs: number | null = null;
  let rang = false;
  let running: { rings: number; scope: CancellationScope } | null = null;

  function start(atMs: number): void {
    const timer = { rings: atMs, scope: new CancellationScope() };
    running = timer;
    timer.scope
      .run(() => sleep(atMs - Date.now(), { summary }))
      .then(() => ring(timer))
      // A cancelled run ends by its own awaits; a timer has nothing to add.
      .catch((error: unknown) => void (isCancellation(error) || Promise.reject(error)));
  }

  function ring(timer: typeof running): void {
    if (running !== timer) return;
    running = null;
    if (deadlineMs === null) return;
    if (deadlineMs > Date.now()) start(deadlineMs);
    else rang = true;
  }

  function stop(): void {
    const timer = running;
    running = null;
    timer?.scope.cancel();
  }

  return {
    set(atMs) {
      if (atMs === deadlineMs) return;
      deadlineMs = atMs;
      rang = atMs !== null && atMs <= Date.now();
      if (rang) return;
      if (atMs !== null && running !== null && running.rings <= atMs) return;
      stop();
      if (atMs !== null) start(atMs);
    },
    due: () => rang,
  };
}
