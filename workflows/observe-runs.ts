import { ApplicationFailure, ContinueAsNew, isCancellation, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { kindOf } from '../contracts/kinds/table.ts';
import { count, observe } from './lib/metrics.ts';

/**
 * Counts and measures every run when it ends, whatever its type, and fails it where its code does: the module that the
 * bundle calls for interceptors of workflows.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      async execute(input, next) {
        try {
          const result = await next(input);
          ended(resultOf(result));
          return result;
        } catch (error) {
          ended(error instanceof ContinueAsNew ? null : isCancellation(error) ? 'Cancelled' : 'Failed');
          throw asFailure(error);
        }
      },
    },
  ],
});

/**
 * A mistake in workflow code, such as a TypeError of a planner, fails the run: users and alerts see it, and resync
 * starts the run again. The SDK alone would retry the workflow task for ever, and say so in the worker's log only.
 * Non-determinism stays a failed task: the release that wrote the history can still complete it.
 */
const asFailure = (error: unknown): unknown =>
  error instanceof TemporalFailure || error instanceof ContinueAsNew || (error as Error).name.includes('Determinism')
    ? error
    : ApplicationFailure.create({
        type: 'Unexpected',
        message: `drover has a defect: ${String(error)}. Please report it with the history of this run.`,
        nonRetryable: true,
        cause: error as Error,
      });

/** @param result null: it continues as new */
function ended(result: string | null): void {
  const { workflowType, startTime, historyLength } = workflowInfo();
  const kind = kindOf(workflowType);
  observe('runHistoryEvents', { kind }, historyLength);
  if (result === null) return;
  count('runs', { kind, result });
  observe('runSeconds', { kind }, (Date.now() - startTime.getTime()) / 1_000);
}

/** The results of runs have an outcome, one of few words; what has none has just completed. */
function resultOf(result: unknown): string {
  const { outcome } = (result ?? {}) as { outcome?: unknown };
  return typeof outcome === 'string' ? outcome : 'Completed';
}
