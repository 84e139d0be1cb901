import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { queuedFailure } from '../contracts/allowance.ts';
import { isErrorCode } from '../contracts/errors.ts';
import { waitingFailure } from '../contracts/policies.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** Counts and times every attempt of an activity. */
export const observeSteps =
  (metrics: Metrics): ActivityInterceptorsFactory =>
  ({ info, cancellationSignal }) => ({
    inbound: {
      async execute(input, next) {
        const { activityType: step } = info;
        const startedMs = performance.now();
        const end = (outcome: string): void => {
          metrics.count('steps', { step, outcome });
          metrics.observe('stepSeconds', { step }, (performance.now() - startedMs) / 1_000);
        };
        try {
          const result = await next(input);
          end('completed');
          return result;
        } catch (error) {
          end(outcomeOf(error, cancellationSignal.aborted));
          throw error;
        }
      },
    },
  });

/** A row of the error table where there is one, or that the run is in a queue or waits: nothing else may become a label. */
export function outcomeOf(error: unknown, isCancelled: boolean): string {
  if (isCancelled || error instanceof CancelledFailure) return 'cancelled';
  if (error instanceof ApplicationFailure && error.type === queuedFailure) return 'queued';
  if (error instanceof ApplicationFailure && error.type === waitingFailure) return 'waiting';
  return error instanceof ApplicationFailure && isErrorCode(error.type) ? error.type : 'Unexpected';
}
