import { happen, workerIdentity } from './history.ts';
import type { ActivityTask } from './run.ts';
import type { Failure, Payload, Resolution, RetryState as RetryStateCode } from './sdk.ts';
import { enums } from './sdk.ts';
import type { Server } from './server.ts';

/** How activities end: the events that the server writes, and what the run is told. */

const { RetryState } = enums;

/** Writes that the last attempt had started, where one had. Returns what the event of the end says of both. */
function close(server: Server, activity: ActivityTask): () => { scheduledEventId: number; startedEventId: number } {
  const { run, startedMs, attempt, lastFailure } = activity;
  activity.isClosed = true;
  for (const entry of [...activity.entries, ...activity.attemptEntries]) server.clock.cancel(entry);
  let startedEventId = 0;
  const scheduledEventId = activity.scheduledEventId;
  if (startedMs !== null) {
    happen(server, run, {
      name: 'ActivityTaskStarted',
      isSilent: true,
      attributes: () => ({
        scheduledEventId,
        identity: workerIdentity,
        requestId: `attempt-${attempt}`,
        attempt,
        ...(lastFailure && { lastFailure }),
      }),
      written: (eventId) => (startedEventId = eventId),
    });
  }
  return () => ({ scheduledEventId, startedEventId });
}

/** It has come to its end. */
export function closeCompleted(server: Server, activity: ActivityTask, result: Payload | null): void {
  const started = close(server, activity);
  happen(server, activity.run, {
    name: 'ActivityTaskCompleted',
    attributes: () => ({ ...started(), identity: workerIdentity, ...(result && { result: { payloads: [result] } }) }),
    ...resolution(activity, { completed: { result } }),
  });
}

export function closeFailed(
  server: Server,
  activity: ActivityTask,
  failure: Failure,
  retryState: RetryStateCode,
): void {
  const { run } = activity;
  const started = close(server, activity);
  const isTimeout = Boolean(failure.timeoutFailureInfo);
  const job = resolution(activity, {
    failed: {
      failure: ofActivity(
        activity,
        isTimeout ? 'Activity task timed out' : 'Activity task failed',
        failure,
        retryState,
      ),
    },
  });
  if (isTimeout)
    return happen(server, run, {
      name: 'ActivityTaskTimedOut',
      attributes: () => ({ ...started(), failure, retryState }),
      ...job,
    });
  happen(server, run, {
    name: 'ActivityTaskFailed',
    attributes: () => ({ ...started(), failure, retryState, identity: workerIdentity }),
    ...job,
  });
}

export function closeCanceled(
  server: Server,
  activity: ActivityTask,
  details: { payloads?: Payload[] | null } | null,
): void {
  const started = close(server, activity);
  happen(server, activity.run, {
    name: 'ActivityTaskCanceled',
    attributes: () => ({
      ...started(),
      latestCancelRequestedEventId: activity.cancelRequestedEventId ?? 0,
      ...(details && { details }),
    }),
    ...resolution(activity, canceledResolution(activity.command, details)),
  });
}

const resolution = (activity: ActivityTask, result: Resolution) => ({
  job: { resolveActivity: { seq: activity.command.seq, result } },
  isEnd: true,
});

export const ofActivity = (
  { command: { activityType, activityId } }: Pick<ActivityTask, 'command'>,
  message: string,
  cause: Failure,
  retryState: RetryStateCode,
): Failure => ({
  message,
  cause,
  activityFailureInfo: { activityType: { name: activityType }, activityId, retryState },
});

export const canceledResolution = (
  command: ActivityTask['command'],
  details: { payloads?: Payload[] | null } | null = null,
): Resolution => ({
  cancelled: {
    failure: ofActivity(
      { command },
      'Activity cancelled',
      { canceledFailureInfo: { ...(details && { details }) } },
      RetryState.RETRY_STATE_CANCEL_REQUESTED,
    ),
  },
});
