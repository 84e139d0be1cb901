import { Context } from '@temporalio/activity';
import type { Clock } from '../../runtime/clock.ts';

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
  heartbeat(details?: unknown): void;
}

/** A wait ends by itself this long before Temporal's time-out, which could not say why. */
const marginMs = 1_000;

export function currentScope(clock: Clock): ActivityScope {
  const { cancellationSignal: signal, heartbeat, info } = Context.current();
  return {
    signal,
    deadlineMs: clock.now() + info.startToCloseTimeoutMs - marginMs,
    heartbeatDetails: info.heartbeatDetails,
    run: info.workflowExecution ?? null,
    heartbeat,
  };
}
