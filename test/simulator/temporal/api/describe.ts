import type { ActivityTask, Run } from '../run.ts';
import { enums, msToTs, workflowTaskTimeoutMs } from '../sdk.ts';

/** Runs as `describe` and `list` show them. */

const { PendingActivityState, PendingWorkflowTaskState, WorkflowExecutionStatus } = enums;

const tsOf = (ms: number | null) => (ms === null ? null : msToTs(Math.floor(ms)));

/** `temporal.api.workflow.v1.WorkflowExecutionInfo` */
export function executionInfo(run: Run): object {
  const {
    workflowId,
    runId,
    type,
    startMs,
    closeMs,
    status,
    events,
    parent,
    root,
    memo,
    attributes,
    taskQueue,
    firstRunId,
  } = run;
  return {
    execution: { workflowId, runId },
    type: { name: type },
    startTime: tsOf(startMs),
    executionTime: tsOf(startMs),
    ...(closeMs !== null && { closeTime: tsOf(closeMs), executionDuration: msToTs(Math.floor(closeMs - startMs)) }),
    status: WorkflowExecutionStatus[`WORKFLOW_EXECUTION_STATUS_${status}`],
    historyLength: events.length,
    historySizeBytes: 0,
    memo: { fields: memo },
    searchAttributes: { indexedFields: attributes },
    taskQueue,
    firstRunId,
    rootExecution: root ?? { workflowId, runId },
    ...(parent !== null && {
      parentNamespaceId: 'default',
      parentExecution: { workflowId: parent.run.workflowId, runId: parent.run.runId },
    }),
  };
}

/** `temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse` */
export function describeExecution(run: Run): object {
  const { taskQueue, userMetadata, activities, children, task, taskAttempt } = run;
  return {
    executionConfig: {
      taskQueue: { name: taskQueue },
      defaultWorkflowTaskTimeout: msToTs(workflowTaskTimeoutMs),
      userMetadata,
    },
    workflowExecutionInfo: executionInfo(run),
    pendingActivities: [...activities.values()].filter(({ isClosed }) => !isClosed).map(pendingActivity),
    pendingChildren: [...children.values()].flatMap(({ run: child, initiatedEventId, command }) =>
      child?.status === 'RUNNING'
        ? [
            {
              workflowId: child.workflowId,
              runId: child.runId,
              workflowTypeName: child.type,
              initiatedId: initiatedEventId,
              parentClosePolicy: command.parentClosePolicy,
            },
          ]
        : [],
    ),
    ...(task !== null && {
      pendingWorkflowTask: {
        state:
          task.state === 'started'
            ? PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_STARTED
            : PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED,
        scheduledTime: tsOf(task.scheduledMs),
        attempt: taskAttempt,
        ...(task.state === 'started' && { startedTime: tsOf(task.startedMs) }),
      },
    }),
  };
}

function pendingActivity({
  command,
  attempt,
  attemptScheduledMs,
  token,
  startedMs,
  heartbeat,
  heartbeatMs,
  retry,
  lastFailure,
  cancelRequestedEventId,
}: ActivityTask): object {
  const isCancelled = cancelRequestedEventId !== null;
  return {
    activityId: command.activityId,
    activityType: { name: command.activityType },
    attempt,
    scheduledTime: tsOf(attemptScheduledMs),
    lastStartedTime: tsOf(startedMs),
    lastHeartbeatTime: tsOf(heartbeatMs),
    state: isCancelled
      ? PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
      : token === null
        ? PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        : PendingActivityState.PENDING_ACTIVITY_STATE_STARTED,
    ...(heartbeat !== null && { heartbeatDetails: { payloads: [heartbeat] } }),
    maximumAttempts: retry.attempts === Infinity ? 0 : retry.attempts,
    lastFailure,
  };
}
