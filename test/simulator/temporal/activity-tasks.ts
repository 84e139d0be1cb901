import { grpcStatus, refuse } from './api/grpc.ts';
import { closeCanceled, closeCompleted, closeFailed } from './activity-ends.ts';
import { record } from './history.ts';
import type { ActivityTask, Run } from './run.ts';
import type {
  ActivityResult,
  CommandOf,
  Failure,
  Payload,
  RetryState as RetryStateCode,
  TimeoutType as TimeoutTypeCode,
} from './sdk.ts';
import { enums, msToTs, optionalTsToMs, toPayload } from './sdk.ts';
import type { Server } from './server.ts';
import { isOpen } from './server.ts';

/** Activities as the server sees them: attempts, time-outs, retries, heartbeats, cancels. */

const { RetryState, TimeoutType } = enums;

/** What a heartbeat is answered. */
export type HeartbeatAnswer = 'ok' | 'cancel' | 'notFound';

export function scheduleActivity(
  server: Server,
  run: Run,
  command: CommandOf<'scheduleActivity'>,
  scheduledEventId: number,
): void {
  const { scheduleToCloseTimeout, scheduleToStartTimeout } = command;
  const policy = retryPolicyOf(command);
  const activity: ActivityTask = {
    run,
    command,
    scheduledEventId,
    scheduledMs: server.clock.nowMs,
    retry: {
      initialMs: optionalTsToMs(policy.initialInterval) ?? 0,
      maximumMs: optionalTsToMs(policy.maximumInterval) ?? 0,
      coefficient: policy.backoffCoefficient,
      attempts: policy.maximumAttempts || Infinity,
      nonRetryableTypes: policy.nonRetryableErrorTypes,
    },
    attempt: 1,
    attemptScheduledMs: server.clock.nowMs,
    startedMs: null,
    token: null,
    heartbeatMs: null,
    heartbeat: null,
    cancelRequestedEventId: null,
    lastFailure: null,
    entries: [],
    attemptEntries: [],
    isClosed: false,
    isResolved: false,
  };
  run.activities.set(command.seq, activity);
  const toCloseMs = optionalTsToMs(scheduleToCloseTimeout);
  const toStartMs = optionalTsToMs(scheduleToStartTimeout);
  if (toCloseMs)
    activity.entries.push(
      server.after(toCloseMs, () => timeOut(server, activity, TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE)),
    );
  if (toStartMs)
    activity.entries.push(
      server.after(
        toStartMs,
        () =>
          activity.startedMs === null &&
          activity.attempt === 1 &&
          timeOut(server, activity, TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START),
      ),
    );
  server.worker.offerActivityTask(activity);
}

/** With the time-outs that the server adds: where there is one of all, it is that of each part. */
export function withDefaultTimeouts(command: CommandOf<'scheduleActivity'>): CommandOf<'scheduleActivity'> {
  const { scheduleToCloseTimeout: whole } = command;
  const isSet = (duration: typeof whole): boolean => Boolean(optionalTsToMs(duration));
  if (!isSet(whole)) return command;
  const part = (duration: typeof whole) => (isSet(duration) ? duration : whole);
  return {
    ...command,
    scheduleToStartTimeout: part(command.scheduleToStartTimeout),
    startToCloseTimeout: part(command.startToCloseTimeout),
  };
}

/** With what the server adds to it. */
export function retryPolicyOf({ retryPolicy }: CommandOf<'scheduleActivity'>) {
  const initialMs = optionalTsToMs(retryPolicy?.initialInterval) || 1_000;
  return {
    initialInterval: msToTs(initialMs),
    backoffCoefficient: retryPolicy?.backoffCoefficient || 2,
    maximumInterval: msToTs(optionalTsToMs(retryPolicy?.maximumInterval) || 100 * initialMs),
    maximumAttempts: retryPolicy?.maximumAttempts ?? 0,
    nonRetryableErrorTypes: retryPolicy?.nonRetryableErrorTypes ?? [],
  };
}

/**
 * A worker has taken the task. Returns the token by which it speaks of this attempt; null: it is not to be
 * had any more.
 */
export function startAttempt(server: Server, activity: ActivityTask): object | null {
  if (activity.isClosed || activity.token !== null) return null;
  const token = {};
  Object.assign(activity, { token, startedMs: server.clock.nowMs, heartbeatMs: null });
  const limitMs = optionalTsToMs(activity.command.startToCloseTimeout);
  if (limitMs)
    activity.attemptEntries.push(
      server.after(limitMs, () => timeOut(server, activity, TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE)),
    );
  awaitHeartbeat(server, activity, token);
  return token;
}

function awaitHeartbeat(server: Server, activity: ActivityTask, token: object): void {
  const limitMs = optionalTsToMs(activity.command.heartbeatTimeout);
  if (!limitMs) return;
  const check = (): void => {
    if (activity.token !== token) return;
    const silentSinceMs = activity.heartbeatMs ?? activity.startedMs ?? 0;
    if (server.clock.nowMs >= silentSinceMs + limitMs)
      return timeOut(server, activity, TimeoutType.TIMEOUT_TYPE_HEARTBEAT);
    activity.attemptEntries.push(server.after(silentSinceMs + limitMs - server.clock.nowMs, check));
  };
  activity.attemptEntries.push(server.after(limitMs, check));
}

export function recordHeartbeat(
  server: Server,
  activity: ActivityTask,
  token: object,
  details: Payload | null,
): HeartbeatAnswer {
  if (activity.isClosed || activity.token !== token) return 'notFound';
  Object.assign(activity, { heartbeat: details, heartbeatMs: server.clock.nowMs });
  return activity.cancelRequestedEventId === null ? 'ok' : 'cancel';
}

/**
 * How an attempt ended, as its worker says. A word of an attempt that the server does not wait for any more is refused.
 */
export function respond(
  server: Server,
  activity: ActivityTask,
  token: object,
  { completed, failed, cancelled }: ActivityResult,
  lastHeartbeat: Payload | null,
): void {
  if (activity.isClosed || activity.token !== token) return;
  if (completed) return closeCompleted(server, activity, completed.result ?? null);
  if (cancelled && activity.cancelRequestedEventId !== null)
    return closeCanceled(server, activity, cancelled.failure?.canceledFailureInfo?.details ?? null);
  // The server refuses the word of a cancel that was not asked for; Core then has nothing more to say, and a time-out
  // ends the attempt.
  if (cancelled) return;
  if (lastHeartbeat !== null) activity.heartbeat = lastHeartbeat;
  const failure = failed?.failure ?? {};
  const retryState = endAttempt(server, activity, failure);
  if (retryState !== null) closeFailed(server, activity, failure, retryState);
}

/**
 * It is completed from outside, whether an attempt is running, or waits to be repeated.
 * @throws GrpcError, NOT_FOUND
 */
export function completeActivity(server: Server, run: Run, activityId: string, result: Payload | null): void {
  const activity = [...run.activities.values()].find((one) => one.command.activityId === activityId && !one.isClosed);
  if (activity === undefined)
    return refuse(
      grpcStatus.notFound,
      'invalid activityID or activity already timed out or invoking workflow is completed',
    );
  activity.startedMs ??= server.clock.nowMs;
  closeCompleted(server, activity, result);
}

/** As the server's messages have them. */
const timeoutNames: Readonly<Record<TimeoutTypeCode, string>> = {
  0: '',
  1: 'StartToClose',
  2: 'ScheduleToStart',
  3: 'ScheduleToClose',
  4: 'Heartbeat',
};

function timeOut(server: Server, activity: ActivityTask, timeoutType: TimeoutTypeCode): void {
  if (activity.isClosed) return;
  const isOfAttempt =
    timeoutType === TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE || timeoutType === TimeoutType.TIMEOUT_TYPE_HEARTBEAT;
  const failure = timeoutFailure(`activity ${timeoutNames[timeoutType]} timeout`, timeoutType);
  const retryState = isOfAttempt ? endAttempt(server, activity, failure) : RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
  if (retryState !== null) closeTimedOut(server, activity, failure, retryState);
}

const timeoutFailure = (message: string, timeoutType: TimeoutTypeCode): Failure => ({
  message,
  source: 'Server',
  timeoutFailureInfo: { timeoutType },
});

/** What made the attempt before fail says more than that time ran out. */
function closeTimedOut(server: Server, activity: ActivityTask, failure: Failure, retryState: RetryStateCode): void {
  const { heartbeat, lastFailure: cause } = activity;
  const { message, timeoutFailureInfo } =
    retryState === RetryState.RETRY_STATE_TIMEOUT
      ? timeoutFailure(noTimeLeft, TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE)
      : failure;
  const lastHeartbeatDetails = heartbeat === null ? null : { payloads: [heartbeat] };
  const whole = {
    ...failure,
    message: message ?? '',
    timeoutFailureInfo: { ...timeoutFailureInfo, lastHeartbeatDetails },
  };
  closeFailed(server, activity, { ...whole, ...(cause && { cause }) }, retryState);
}

const noTimeLeft = 'Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying';

/** The attempt has failed. Null: there will be another one; else why not. */
function endAttempt(server: Server, activity: ActivityTask, failure: Failure): RetryStateCode | null {
  const { retry, attempt, command, scheduledMs } = activity;
  for (const entry of activity.attemptEntries.splice(0)) server.clock.cancel(entry);
  const { applicationFailureInfo: info, canceledFailureInfo, terminatedFailureInfo, timeoutFailureInfo } = failure;
  const type =
    info?.type ??
    (timeoutFailureInfo
      ? `TemporalTimeout:${timeoutNames[timeoutFailureInfo.timeoutType ?? TimeoutType.TIMEOUT_TYPE_UNSPECIFIED]}`
      : '');
  const isFinal =
    info?.nonRetryable === true ||
    Boolean(canceledFailureInfo) ||
    Boolean(terminatedFailureInfo) ||
    retry.nonRetryableTypes.includes(type);
  if (activity.cancelRequestedEventId !== null) return RetryState.RETRY_STATE_CANCEL_REQUESTED;
  if (isFinal) return RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
  if (attempt >= retry.attempts) return RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED;
  const pauseMs =
    optionalTsToMs(info?.nextRetryDelay) ||
    Math.min(retry.maximumMs, retry.initialMs * retry.coefficient ** (attempt - 1));
  const toCloseMs = optionalTsToMs(command.scheduleToCloseTimeout);
  if (toCloseMs && server.clock.nowMs + pauseMs > scheduledMs + toCloseMs) return RetryState.RETRY_STATE_TIMEOUT;
  const attemptScheduledMs = server.clock.nowMs + pauseMs;
  Object.assign(activity, {
    attempt: attempt + 1,
    token: null,
    startedMs: null,
    lastFailure: failure,
    attemptScheduledMs,
  });
  activity.attemptEntries.push(server.after(pauseMs, () => server.worker.offerActivityTask(activity)));
  return null;
}

/** The run does not want it any more. An attempt hears of that with its next heartbeat. */
export function requestCancelActivity(
  server: Server,
  activity: ActivityTask | undefined,
  completedEventId: number,
): void {
  if (activity === undefined || activity.cancelRequestedEventId !== null || !isOpen(activity.run)) return;
  // The request of a run that could not know yet that it has ended is written all the same.
  const isUnheard = activity.run.buffered.some(({ job }) => job?.resolveActivity?.seq === activity.command.seq);
  if (activity.isClosed && !isUnheard) return;
  const scheduledEventId = activity.scheduledEventId;
  activity.cancelRequestedEventId = record(server, activity.run, 'ActivityTaskCancelRequested', {
    scheduledEventId,
    workflowTaskCompletedEventId: completedEventId,
  });
  if (activity.token === null && !activity.isClosed)
    closeCanceled(server, activity, { payloads: [toPayload('ACTIVITY_ID_NOT_STARTED')] });
}
