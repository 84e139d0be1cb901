import { happen } from './history.ts';
import type { Child, Run } from './run.ts';
import { AlreadyStartedError, startRun } from './runs.ts';
import type { CommandOf, UserMetadata } from './sdk.ts';
import { enums, namespace, StartChildWorkflowExecutionFailedCause as StartFailedCause } from './sdk.ts';
import type { Server } from './server.ts';
import { isOpen, latency } from './server.ts';

/** What a run does to others: it starts children, signals and cancels. */

export function startChild(
  server: Server,
  run: Run,
  command: CommandOf<'startChildWorkflowExecution'>,
  { initiatedEventId, userMetadata }: { initiatedEventId: number; userMetadata: UserMetadata | null },
): void {
  const { seq, workflowId, workflowType, taskQueue, input, memo, searchAttributes, workflowIdReusePolicy } = command;
  const unsupported = (['retryPolicy', 'cronSchedule', 'workflowExecutionTimeout', 'workflowRunTimeout'] as const).find(
    (name) => command[name],
  );
  if (unsupported !== undefined)
    return server.fail(new Error(`The simulator does not support ${unsupported} of a child (${workflowId})`));
  const child: Child = { command, initiatedEventId, startedEventId: 0, run: null, isResolved: false };
  run.children.set(seq, child);
  const about = { initiatedEventId, namespace, workflowType: { name: workflowType } };
  server.soon(latency.message, () => {
    if (!isOpen(run)) return;
    try {
      const { run: started } = startRun(server, {
        workflowId,
        type: workflowType,
        taskQueue: taskQueue || run.taskQueue,
        input,
        memo: memo ?? {},
        attributes: searchAttributes?.indexedFields ?? {},
        userMetadata,
        reusePolicy: workflowIdReusePolicy,
        parent: { run, seq, initiatedEventId },
      });
      child.run = started;
    } catch (error) {
      if (!(error instanceof AlreadyStartedError)) throw error;
      const { StartChildWorkflowExecutionFailedCause: Cause } = enums;
      const cause = Cause.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS;
      return happen(server, run, {
        name: 'StartChildWorkflowExecutionFailed',
        attributes: () => ({ ...about, workflowId, cause }),
        job: {
          resolveChildWorkflowExecutionStart: {
            seq,
            failed: {
              workflowId,
              workflowType,
              cause: StartFailedCause.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS,
            },
          },
        },
      });
    }
    const { runId } = child.run;
    happen(server, run, {
      name: 'ChildWorkflowExecutionStarted',
      attributes: () => ({ ...about, workflowExecution: { workflowId, runId } }),
      job: { resolveChildWorkflowExecutionStart: { seq, succeeded: { runId } } },
      written: (eventId) => (child.startedEventId = eventId),
    });
  });
}
