import { maxHeartbeatThrottleIntervalMs } from '../../../contracts/policies.ts';
import { recordHeartbeat } from './activity-tasks.ts';
import type { ActivityTask } from './run.ts';
import type { CancelReason, Payload } from './sdk.ts';
import { optionalTsToMs } from './sdk.ts';
import type { Server } from './server.ts';
import { latency } from './server.ts';
import type { WorkerHost } from './worker-process.ts';

/**
 * What Core does for an attempt of an activity: it sends heartbeats, hears of cancels by them, and keeps time
 * of its own.
 */

export interface Heartbeats {
  /** The activity heartbeats. */
  record(details: Payload | null): void;
  /** The last one, whether or not it was sent. */
  last(): Payload | null;
  /** The attempt has ended. Gives what was not sent; null: nothing. */
  stop(): { details: Payload | null } | null;
}

export interface HeartbeatOptions {
  server: Server;
  host: WorkerHost;
  activity: ActivityTask;
  /** Of the attempt. */
  token: object;
  cancel: (reason: CancelReason) => void;
}

/** Core waits so much longer than the server until it gives an attempt up by itself. */
const bufferMs = 5_000;
const defaultThrottleMs = 30_000;

/** The first goes at once; those that follow are kept for a while, and only the last of them goes. */
export function startHeartbeats({ server, host, activity, token, cancel }: HeartbeatOptions): Heartbeats {
  const { clock } = server;
  const { heartbeatTimeout, startToCloseTimeout } = activity.command;
  const limitMs = optionalTsToMs(heartbeatTimeout) ?? 0;
  const toCloseMs = optionalTsToMs(startToCloseTimeout) ?? 0;
  const throttleMs = Math.min(limitMs ? limitMs * 0.8 : defaultThrottleMs, maxHeartbeatThrottleIntervalMs);
  let last: Payload | null = null;
  let pending: { details: Payload | null } | null = null;
  let isThrottled = false;
  let hasStopped = false;
  const giveUp = (): void => cancel('TIMED_OUT');
  const whenOverdue = (ms: number): (() => void) =>
    ms === 0 ? () => undefined : clock.schedule(giveUp, ms + bufferMs);
  const stopToClose = whenOverdue(toCloseMs);
  let stopSilent = whenOverdue(limitMs);

  function send(details: Payload | null): void {
    isThrottled = true;
    pending = null;
    clock.soon(latency.heartbeat, () => {
      // One that is lost is not sent again.
      if (hasStopped || !host.isConnected()) return;
      const answer = recordHeartbeat(server, activity, token, details);
      stopSilent();
      stopSilent = whenOverdue(limitMs);
      if (answer !== 'ok')
        clock.soon(latency.heartbeat, () => !hasStopped && cancel(answer === 'cancel' ? 'CANCELLED' : 'NOT_FOUND'));
    });
    clock.after(throttleMs, () => {
      isThrottled = false;
      if (pending !== null && !hasStopped) send(pending.details);
    });
  }

  return {
    record(details) {
      last = details;
      if (isThrottled) pending = { details };
      else send(details);
    },
    last: () => last,
    stop() {
      hasStopped = true;
      stopToClose();
      stopSilent();
      return pending;
    },
  };
}
