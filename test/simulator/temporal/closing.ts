import type { Attributes, EventName } from './history.ts';
import { flushBuffered, happen, record, writeTask } from './history.ts';
import { requestCancel } from './messages.ts';
import type { Run, RunStatus } from './run.ts';
import type { Failure, Payload } from './sdk.ts';
import { enums, namespace, ParentClosePolicy } from './sdk.ts';
import type { Server } from './server.ts';
import { isOpen, latency } from './server.ts';

/**
 * How runs close, and what that means for their children, their parent and those that have asked them for an update.
 */

export function terminateRun(
  server: Server,
  run: Run,
  reason: string,
  details: Payload[] = [],
  identity = 'simulation',
): void {
  const { task } = run;
  if (task?.state === 'started') {
    run.taskAttempt = 1;
    writeTask(server, run, task);
    const { scheduledEventId, startedEventId } = task;
    const cause = enums.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND;
    record(server, run, 'WorkflowTaskFailed', { scheduledEventId, startedEventId, cause });
    flushBuffered(run);
  }
  closeRun(server, run, 'TERMINATED', 'WorkflowExecutionTerminated', {
    reason,
    identity,
    ...(details.length > 0 && { details: { payloads: details } }),
  });
}

/** How a run has ended, for its parent. */
export type Ending = { result: Payload | null } | { failure: Failure } | null;

export function closeRun<Name extends EventName>(
  server: Server,
  run: Run,
  status: Exclude<RunStatus, 'RUNNING'>,
  name: Name,
  attributes: Attributes<Name>,
  ending: Ending = null,
): void {
  record(server, run, name, attributes);
  run.status = status;
  run.closeMs = server.clock.nowMs;
  server.clock.cancel(run.task?.timeout);
  run.task?.over.resolve();
  run.task = null;
  run.jobs = [];
  run.buffered = [];
  server.worker.evict(run);
  for (const { entry } of run.timers.values()) server.clock.cancel(entry);
  for (const activity of run.activities.values()) {
    activity.isClosed = true;
    for (const entry of [...activity.entries, ...activity.attemptEntries]) server.clock.cancel(entry);
  }
  abortUpdates(run, status);
  applyParentClosePolicies(server, run);
  if (status !== 'CONTINUED_AS_NEW' && run.parent !== null) tellParent(server, run, run.parent, status, ending);
  run.closed.resolve();
}

/** Accepted updates fail with the run; those that it has not seen are not found any more. */
function abortUpdates(run: Run, status: RunStatus): void {
  for (const update of run.updates.values()) {
    if (update.result !== null) continue;
    if (update.acceptedEventId === null) {
      update.accepted.reject(new UpdateAbortedError(status === 'CONTINUED_AS_NEW'));
      continue;
    }
    const failure = {
      message: 'Workflow Update failed because the Workflow completed before the Update completed.',
      applicationFailureInfo: { type: 'AcceptedUpdateCompletedWorkflow', nonRetryable: true },
    };
    update.result = { failure };
    update.outcome.resolve(update.result);
  }
}

/** The run has closed before it took the update. */
export class UpdateAbortedError extends Error {
  readonly mayTryAgain: boolean;
  constructor(mayTryAgain: boolean) {
    super(
      mayTryAgain
        ? 'workflow operation can not be applied because workflow is closing'
        : 'workflow execution already completed',
    );
    this.mayTryAgain = mayTryAgain;
  }
}

function applyParentClosePolicies(server: Server, run: Run): void {
  for (const { run: child, command } of run.children.values()) {
    if (child === null || command.parentClosePolicy === ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON) continue;
    server.soon(latency.message, () => {
      if (!isOpen(child)) return;
      if (command.parentClosePolicy === ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL)
        requestCancel(server, child, '', { run });
      else terminateRun(server, child, 'by parent close policy');
    });
  }
}

/** The end of a child is an event of its parent. */
function tellParent(
  server: Server,
  { workflowId, runId, type }: Run,
  { run: parent, seq, initiatedEventId }: NonNullable<Run['parent']>,
  status: RunStatus,
  ending: Ending,
): void {
  server.soon(latency.message, () => {
    const child = parent.children.get(seq);
    if (!isOpen(parent) || child === undefined) return;
    const about = {
      namespace,
      workflowExecution: { workflowId, runId },
      workflowType: { name: type },
      initiatedEventId,
    };
    const attributes = () => ({ ...about, startedEventId: child.startedEventId });
    const failed = (message: string, cause: Failure, retryState: number) => ({
      failure: {
        message,
        cause,
        childWorkflowExecutionFailureInfo: { ...about, startedEventId: child.startedEventId, retryState },
      },
    });
    const final = enums.RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
    const job = (result: object) => ({ resolveChildWorkflowExecution: { seq, result } });
    if (ending !== null && 'result' in ending) {
      const { result } = ending;
      return happen(server, parent, {
        name: 'ChildWorkflowExecutionCompleted',
        attributes: () => ({ ...attributes(), ...(result && { result: { payloads: [result] } }) }),
        job: job({ completed: { result } }),
        isEnd: true,
      });
    }
    if (ending !== null) {
      const retryState = enums.RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET;
      return happen(server, parent, {
        name: 'ChildWorkflowExecutionFailed',
        attributes: () => ({ ...attributes(), failure: ending.failure, retryState }),
        job: job({ failed: failed('Child Workflow execution failed', ending.failure, retryState) }),
        isEnd: true,
      });
    }
    if (status === 'CANCELED')
      return happen(server, parent, {
        name: 'ChildWorkflowExecutionCanceled',
        attributes,
        job: job({ cancelled: failed('Child Workflow execution cancelled', { canceledFailureInfo: {} }, final) }),
        isEnd: true,
      });
    return happen(server, parent, {
      name: 'ChildWorkflowExecutionTerminated',
      attributes,
      job: job({
        failed: failed(
          'Child Workflow execution terminated',
          { message: 'Terminated', terminatedFailureInfo: {} },
          final,
        ),
      }),
      isEnd: true,
    });
  });
}
