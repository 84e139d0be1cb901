import { happen, record, transact } from './history.ts';
import type { Run } from './run.ts';
import type { CommandOf, UserMetadata } from './sdk.ts';
import { optionalTsToMs } from './sdk.ts';
import type { Server } from './server.ts';

/** Timers of runs. */

export function startTimer(
  server: Server,
  run: Run,
  { seq, startToFireTimeout }: CommandOf<'startTimer'>,
  workflowTaskCompletedEventId: number,
  userMetadata: UserMetadata | null | undefined,
): void {
  const attributes = { timerId: String(seq), startToFireTimeout, workflowTaskCompletedEventId };
  const startedEventId = record(server, run, 'TimerStarted', attributes, { ...(userMetadata && { userMetadata }) });
  const entry = server.after(optionalTsToMs(startToFireTimeout) ?? 0, () => fireDue(server, run));
  run.timers.set(seq, { seq, startedEventId, entry });
}

/** The server fires all timers of a run that are due at once, the earliest first. */
function fireDue(server: Server, run: Run): void {
  const due = [...run.timers.values()].filter(({ entry }) => entry.atMs <= server.clock.nowMs);
  transact(server, run, () => {
    for (const timer of due.toSorted((a, b) => a.entry.atMs - b.entry.atMs || a.startedEventId - b.startedEventId)) {
      const { seq, entry, startedEventId } = timer;
      server.clock.cancel(entry);
      run.timers.delete(seq);
      happen(server, run, {
        name: 'TimerFired',
        attributes: () => ({ timerId: String(seq), startedEventId }),
        job: { fireTimer: { seq } },
        firedTimer: timer,
      });
    }
  });
}

/** Of one that fires while the worker has the task, the server forgets that it has fired. */
export function cancelTimer(
  server: Server,
  run: Run,
  { seq }: CommandOf<'cancelTimer'>,
  workflowTaskCompletedEventId: number,
): void {
  const fired = run.buffered.findIndex(({ firedTimer }) => firedTimer?.seq === seq);
  const timer = run.timers.get(seq) ?? run.buffered.splice(fired, 1)[0]?.firedTimer;
  if (timer === undefined) return;
  server.clock.cancel(timer.entry);
  run.timers.delete(seq);
  record(server, run, 'TimerCanceled', {
    timerId: String(seq),
    startedEventId: timer.startedEventId,
    workflowTaskCompletedEventId,
  });
}
