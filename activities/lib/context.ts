import { Context } from '@temporalio/activity';

import type { Clock } from '../../runtime/clock.ts';
import type { StopGate } from '../../runtime/stop.ts';
import type { Audit } from '../../runtime/telemetry/audit.ts';

/** What an activity knows of its own execution. Injectable, so that activities run in tests without a worker. */
export interface ActivityScope {
  /** Aborted when the activity is cancelled or the worker stops. */
  signal: AbortSignal;
  /** When Temporal gives this attempt up; milliseconds since the epoch by the injected clock. */
  deadlineMs: number;
  /** What the last attempt left behind; a hint that may be missing or seconds old. */
  heartbeatDetails: unknown;
  /** The run that asked; null outside of one. */
  run: { workflowId: string; runId: string } | null;
  /** When the activity was asked for, whatever attempt this is; milliseconds since the epoch. */
  scheduledMs: number;
  /** How long ago that was when this attempt was asked for, by Temporal's clock alone. */
  waitedMs: number;
  heartbeat(details?: unknown): void;
  /** A line in the worker's log. */
  warn(message: string): void;
}

/** A wait ends by itself this long before Temporal's time-out, which could not say why. */
const marginMs = 1_000;

/** Of the activity that Temporal runs right now. */
export function currentScope(clock: Clock): ActivityScope {
  const { cancellationSignal: signal, heartbeat, info, log } = Context.current();
  return {
    signal,
    deadlineMs: clock.now() + info.startToCloseTimeoutMs - marginMs,
    heartbeatDetails: info.heartbeatDetails,
    run: info.workflowExecution ?? null,
    scheduledMs: info.scheduledTimestampMs,
    waitedMs: info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs,
    heartbeat,
    warn: (message) => log.warn(message),
  };
}

/** What an activity that waits or reads works with. */
export interface Execution {
  scope: ActivityScope;
  clock: Clock;
}

/** What an activity that changes something works with. */
export interface ActivityContext extends Execution {
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: StopGate;
  audit: Audit;
}

/** The same as the composition root gives it: the scope is that of each execution. */
export type ForActivities<Context extends Execution> = Omit<Context, 'scope'> & {
  /** Of the running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
};

/** The dependencies of one execution. */
export const contextOf = <Dependencies extends ForActivities<Execution>>(
  dependencies: Dependencies,
): Omit<Dependencies, 'scope'> & Execution => ({
  ...dependencies,
  scope: (dependencies.scope ?? currentScope)(dependencies.clock),
});
