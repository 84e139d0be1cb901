import { requestCancelActivity, retryPolicyOf, scheduleActivity, withDefaultTimeouts } from './activity-tasks.ts';
import { startChild } from './children.ts';
import { cancelChild, cancelExternal, signalExternal } from './external.ts';
import { record } from './history.ts';
import type { Run } from './run.ts';
import { closeRun } from './closing.ts';
import { startRun } from './runs.ts';
import type { Command, Payloads } from './sdk.ts';
import { enums, msToTs, toPayload, workflowTaskTimeoutMs } from './sdk.ts';
import type { Server } from './server.ts';
import { cancelTimer, startTimer } from './timers.ts';
import { respondToUpdate } from './updates.ts';

const { ParentClosePolicy: Policy } = enums;

/** Whether the command closes the run. */
export const isClosing = (command: Command): boolean =>
  Boolean(
    command.completeWorkflowExecution ??
    command.failWorkflowExecution ??
    command.cancelWorkflowExecution ??
    command.continueAsNewWorkflowExecution,
  );

/** What the server does with a command of a workflow task that has completed. */
export interface CommandContext {
  server: Server;
  run: Run;
  /** Event of the task that the command came with. */
  completedEventId: number;
  /** Event before the task: updates are ordered by it. */
  scheduledEventId: number;
}

type Execute<Name extends keyof Command> = (
  context: CommandContext,
  command: NonNullable<Command[Name]>,
  whole: Command,
) => void;

/** A row for each command that the SDK knows; those that are missing are not supported. */
const rows: { [Name in keyof Command]?: Execute<Name> } = {
  startTimer: ({ server, run, completedEventId }, command, { userMetadata }) =>
    startTimer(server, run, command, completedEventId, userMetadata),
  cancelTimer: ({ server, run, completedEventId }, command) => cancelTimer(server, run, command, completedEventId),

  scheduleActivity({ server, run, completedEventId }, given, { userMetadata }) {
    const command = withDefaultTimeouts(given);
    const { activityId, activityType, arguments: input, taskQueue } = command;
    const { scheduleToCloseTimeout, scheduleToStartTimeout, startToCloseTimeout, heartbeatTimeout } = command;
    const scheduledEventId = record(
      server,
      run,
      'ActivityTaskScheduled',
      {
        activityId,
        activityType: { name: activityType },
        taskQueue: { name: taskQueue || run.taskQueue },
        input: { payloads: input },
        header: {},
        scheduleToCloseTimeout,
        scheduleToStartTimeout,
        startToCloseTimeout,
        heartbeatTimeout,
        retryPolicy: retryPolicyOf(command),
        workflowTaskCompletedEventId: completedEventId,
      },
      { userMetadata },
    );
    scheduleActivity(server, run, command, scheduledEventId);
  },

  requestCancelActivity: ({ server, run, completedEventId }, { seq }) =>
    requestCancelActivity(server, run.activities.get(seq), completedEventId),

  startChildWorkflowExecution({ server, run, completedEventId }, command, { userMetadata }) {
    const {
      workflowId,
      workflowType,
      taskQueue,
      input,
      memo,
      searchAttributes,
      workflowIdReusePolicy,
      parentClosePolicy,
    } = command;
    const initiatedEventId = record(
      server,
      run,
      'StartChildWorkflowExecutionInitiated',
      {
        namespace: 'default',
        workflowId,
        workflowType: { name: workflowType },
        taskQueue: { name: taskQueue || run.taskQueue },
        input: { payloads: input },
        header: {},
        parentClosePolicy: parentClosePolicyOf(parentClosePolicy) ?? Policy.PARENT_CLOSE_POLICY_TERMINATE,
        workflowIdReusePolicy:
          workflowIdReusePolicy || enums.WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
        workflowTaskTimeout: msToTs(workflowTaskTimeoutMs),
        memo: { fields: memo as Run['memo'] },
        searchAttributes,
        workflowTaskCompletedEventId: completedEventId,
      },
      { userMetadata },
    );
    startChild(server, run, command, { initiatedEventId, userMetadata: userMetadata ?? null });
  },

  cancelChildWorkflowExecution: ({ server, run, completedEventId }, command) =>
    cancelChild(server, run, command, completedEventId),
  signalExternalWorkflowExecution: ({ server, run, completedEventId }, command) =>
    signalExternal(server, run, command, completedEventId),
  requestCancelExternalWorkflowExecution: ({ server, run, completedEventId }, command) =>
    cancelExternal(server, run, command, completedEventId),
  updateResponse: ({ server, run, scheduledEventId }, command) =>
    respondToUpdate(server, run, command, scheduledEventId),

  upsertWorkflowSearchAttributes({ server, run, completedEventId }, { searchAttributes }) {
    record(server, run, 'UpsertWorkflowSearchAttributes', {
      searchAttributes,
      workflowTaskCompletedEventId: completedEventId,
    });
    // A new object: that of the start is replayed.
    run.attributes = { ...run.attributes, ...searchAttributes?.indexedFields };
  },

  modifyWorkflowProperties({ server, run, completedEventId }, { upsertedMemo }) {
    record(server, run, 'WorkflowPropertiesModified', {
      upsertedMemo,
      workflowTaskCompletedEventId: completedEventId,
    });
    const merged = Object.entries({ ...run.memo, ...upsertedMemo?.fields });
    // Null removes.
    run.memo = Object.fromEntries(
      merged.filter(([, { metadata }]) => Buffer.from(metadata?.['encoding'] ?? []).toString() !== 'binary/null'),
    );
  },

  /** Core adds to the marker a search attribute of all patches so far. */
  setPatchMarker({ server, run, completedEventId }, { patchId, deprecated }) {
    const workflowTaskCompletedEventId = completedEventId;
    const details = { 'patch-data': { payloads: [toPayload({ id: patchId, deprecated })] } };
    record(server, run, 'MarkerRecorded', { markerName: 'core_patch', details, workflowTaskCompletedEventId });
    const patches = [...new Set([...run.cache.patches, patchId])].toSorted();
    run.cache.patches = patches;
    const { metadata, data } = toPayload(patches);
    const indexedFields: Payloads = {
      TemporalChangeVersion: { metadata: { ...metadata, type: Buffer.from('KeywordList') }, data: data ?? null },
    };
    record(server, run, 'UpsertWorkflowSearchAttributes', {
      searchAttributes: { indexedFields },
      workflowTaskCompletedEventId,
    });
    run.attributes = { ...run.attributes, ...indexedFields };
  },

  completeWorkflowExecution({ server, run, completedEventId }, { result }) {
    const attributes = {
      workflowTaskCompletedEventId: completedEventId,
      ...(result && { result: { payloads: [result] } }),
    };
    closeRun(server, run, 'COMPLETED', 'WorkflowExecutionCompleted', attributes, { result });
  },

  failWorkflowExecution({ server, run, completedEventId }, { failure }) {
    const attributes = {
      failure,
      retryState: enums.RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET,
      workflowTaskCompletedEventId: completedEventId,
    };
    closeRun(server, run, 'FAILED', 'WorkflowExecutionFailed', attributes, { failure: failure ?? {} });
  },

  cancelWorkflowExecution({ server, run, completedEventId }) {
    closeRun(server, run, 'CANCELED', 'WorkflowExecutionCanceled', {
      workflowTaskCompletedEventId: completedEventId,
    });
  },

  /**
   * As Core has it: the memo of the start and the search attributes of now go on with the next run, but for what it has
   * of patches.
   */
  continueAsNewWorkflowExecution({ server, run, completedEventId }, command) {
    const { workflowId, parent, userMetadata } = run;
    const type = command.workflowType || run.type;
    const taskQueue = command.taskQueue || run.taskQueue;
    const memo = Object.keys(command.memo ?? {}).length > 0 ? (command.memo as Run['memo']) : run.startMemo;
    const { TemporalChangeVersion: _, ...current } = run.attributes;
    const attributes = command.searchAttributes?.indexedFields ?? current;
    const next = startRun(server, {
      workflowId,
      type,
      taskQueue,
      input: command.arguments,
      parent,
      memo,
      attributes,
      userMetadata,
      continues: run,
    }).run;
    run.next = next;
    const child = parent?.run.children.get(parent.seq);
    if (child !== undefined) child.run = next;
    closeRun(server, run, 'CONTINUED_AS_NEW', 'WorkflowExecutionContinuedAsNew', {
      newExecutionRunId: next.runId,
      workflowType: { name: type },
      taskQueue: { name: taskQueue },
      input: { payloads: command.arguments },
      memo: { fields: memo },
      searchAttributes: { indexedFields: attributes },
      workflowTaskTimeout: msToTs(workflowTaskTimeoutMs),
      workflowTaskCompletedEventId: completedEventId,
    });
  },
};

/** @throws Error for what the simulator does not support: local activities, Nexus */
export function executeCommand(context: CommandContext, command: Command): void {
  const name = (command.variant ?? '') as keyof typeof rows;
  const execute = rows[name] as ((context: CommandContext, command: unknown, whole: Command) => void) | undefined;
  if (execute === undefined)
    throw new Error(
      `The simulator does not support the command ${name} (${context.run.type} ${context.run.workflowId})`,
    );
  execute(context, command[name], command);
}

/** Of the API, by Core's. One that is not given is TERMINATE. */
const parentClosePolicyOf = (policy: number) =>
  [
    Policy.PARENT_CLOSE_POLICY_TERMINATE,
    Policy.PARENT_CLOSE_POLICY_TERMINATE,
    Policy.PARENT_CLOSE_POLICY_ABANDON,
    Policy.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
  ][policy];
