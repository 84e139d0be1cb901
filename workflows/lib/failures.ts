import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TimeoutFailure } from '@temporalio/workflow';
import type { ErrorCode } from '../../contracts/errors.ts';
import { errors, isErrorCode } from '../../contracts/errors.ts';

/** A failure as a person should read it. */
export interface Problem {
  /** Row of the error table; null for what has none, such as a time-out of Temporal's. */
  code: ErrorCode | null;
  /** A condition reason. */
  reason: string;
  message: string;
}

/** Finds the row of the error table behind what an activity or a child failed with. */
export function explain(error: unknown): Problem {
  const cause = rootCause(error);
  if (cause instanceof ApplicationFailure && isErrorCode(cause.type)) {
    return { code: cause.type, reason: errors[cause.type].reason, message: cause.message };
  }
  if (cause instanceof TimeoutFailure) {
    return {
      code: null,
      reason: 'TimedOut',
      message: `No answer in time (${cause.timeoutType}). Is a worker of that queue running? \`drover doctor\` says.`,
    };
  }
  return { code: null, reason: 'Unexpected', message: cause instanceof Error ? cause.message : String(cause) };
}

/**
 * Of an activity: the time for all its attempts is over. Where only the next attempt would be too late, Temporal shows
 * what the last one failed with.
 */
export const isOutOfTime = (error: unknown): boolean =>
  error instanceof ActivityFailure && (error.cause instanceof TimeoutFailure || error.retryState === 'TIMEOUT');

/** False for an activity that no worker took up within the time that it was given for that: nothing was done. */
export function wasTakenUp(error: unknown): boolean {
  const cause = rootCause(error);
  return !(cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START');
}

/** What an activity has left for its run, last of the details of its failure, or of its heartbeats. */
export function lastDetail(error: unknown): unknown {
  const cause = rootCause(error);
  if (cause instanceof ApplicationFailure) return cause.details?.at(-1);
  return cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
}

/** Temporal wraps what was thrown once per activity and once per child. */
function rootCause(error: unknown): unknown {
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  return wrapped && error.cause !== undefined ? rootCause(error.cause) : error;
}

/** Ends a run that was started with an input that names nothing. */
export const invalidInput = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'InvalidInput', message, nonRetryable: true });
