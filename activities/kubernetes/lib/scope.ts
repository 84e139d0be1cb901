import { Context } from '@temporalio/activity';

import type { Clock } from '../../../runtime/clock.ts';
import { currentScope } from '../../nova/scope.ts';
import type { ActivityScope } from '../../nova/scope.ts';

/** What these activities know of their own execution. Injectable, so that they run in tests without a worker. */
export interface KubernetesScope extends ActivityScope {
  /** When the activity was asked for, whatever attempt this is; milliseconds since the epoch. */
  scheduledMs: number;
  /** How long ago that was when this attempt was asked for, by Temporal's clock alone. */
  waitedMs: number;
  /** A line in the worker's log. */
  warn(message: string): void;
}

export function currentKubernetesScope(clock: Clock): KubernetesScope {
  const { info, log } = Context.current();
  return {
    ...currentScope(clock),
    scheduledMs: info.scheduledTimestampMs,
    waitedMs: info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs,
    warn: (message) => log.warn(message),
  };
}
