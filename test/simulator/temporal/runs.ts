import { terminateRun } from './closing.ts';
import { record, wake } from './history.ts';
import { signalRun } from './messages.ts';
import type { Run } from './run.ts';
import type { Payload, Payloads, UserMetadata } from './sdk.ts';
import { enums, msToTs, namespace, workflowTaskTimeoutMs } from './sdk.ts';
import type { Server } from './server.ts';
import { findRun, isOpen } from './server.ts';

/** Starts, messages and ends of runs, as the server sees them. */

export interface StartRequest extends Pick<Run, 'workflowId' | 'type' | 'taskQueue' | 'input'> {
  memo?: Payloads;
  attributes?: Payloads;
  userMetadata?: UserMetadata | null;
  parent?: Run['parent'];
  continues?: Run;
  /** `temporal.api.enums.v1.WorkflowIdReusePolicy` and `…WorkflowIdConflictPolicy`. */
  reusePolicy?: number;
  conflictPolicy?: number;
  identity?: string;
  /** That it is started with, or gets where it is open. */
  signal?: { name: string; input: Payload[] };
}

/** The id is taken. */
export class AlreadyStartedError extends Error {
  readonly run: Run;
  constructor(run: Run) {
    super(`Workflow execution is already running. WorkflowId: ${run.workflowId}, RunId: ${run.runId}.`);
    this.run = run;
  }
}

const { WorkflowIdConflictPolicy: Conflict, WorkflowIdReusePolicy: Reuse } = enums;

/**
 * Starts a run, or gives the one that is open where the conflict policy says so.
 *
 * @throws AlreadyStartedError
 */
export function startRun(server: Server, request: StartRequest): { run: Run; isNew: boolean } {
  const { workflowId, reusePolicy = 0, conflictPolicy = 0, continues, signal } = request;
  const before = continues === undefined ? findRun(server, workflowId) : undefined;
  if (before !== undefined && isOpen(before)) {
    if (conflictPolicy === (Conflict.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING as number)) {
      if (signal !== undefined) signalRun(server, before, signal.name, signal.input, request.identity);
      return { run: before, isNew: false };
    }
    const replaces =
      conflictPolicy === (Conflict.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING as number) ||
      reusePolicy === (Reuse.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING as number);
    if (!replaces) throw new AlreadyStartedError(before);
    terminateRun(server, before, 'TerminateIfRunning WorkflowIdReusePolicy');
  } else if (before !== undefined && isRefused(before, reusePolicy)) throw new AlreadyStartedError(before);
  return { run: createRun(server, request), isNew: true };
}

function isRefused({ status }: Run, reusePolicy: number): boolean {
  if (reusePolicy === (Reuse.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE as number)) return true;
  return (
    reusePolicy === (Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY as number) && status === 'COMPLETED'
  );
}

function createRun(
  server: Server,
  {
    workflowId,
    type,
    taskQueue,
    input,
    memo = {},
    attributes = {},
    userMetadata = null,
    parent = null,
    continues,
    identity = 'simulation',
    signal,
  }: StartRequest,
): Run {
  server.counts.runs += 1;
  const runId = uuidOf(server.random);
  const rootOf = (run: Run): Run['root'] => run.root ?? { workflowId: run.workflowId, runId: run.runId };
  const run: Run = {
    workflowId,
    runId,
    type,
    taskQueue,
    input,
    userMetadata,
    parent,
    memo,
    attributes,
    startMemo: memo,
    startAttributes: attributes,
    firstRunId: continues?.firstRunId ?? runId,
    continuedFromRunId: continues?.runId ?? null,
    root: parent === null ? null : rootOf(parent.run),
    startMs: server.clock.nowMs,
    status: 'RUNNING',
    closeMs: null,
    closed: Promise.withResolvers(),
    next: null,
    cancelRequested: false,
    events: [],
    buffered: [],
    jobs: [],
    task: null,
    inTransaction: false,
    hasNews: true,
    stickyTo: null,
    isSticky: false,
    taskAttempt: 1,
    taskFailures: [],
    timers: new Map(),
    activities: new Map(),
    children: new Map(),
    updates: new Map(),
    cache: { sandbox: null, loading: null, activations: [], flags: new Set(), patches: [] },
  };
  server.runs.set(workflowId, [...(server.runs.get(workflowId) ?? []), run]);
  const parentExecution = parent === null ? null : { workflowId: parent.run.workflowId, runId: parent.run.runId };
  record(
    server,
    run,
    'WorkflowExecutionStarted',
    {
      workflowType: { name: type },
      taskQueue: { name: taskQueue },
      input: { payloads: input },
      workflowTaskTimeout: msToTs(workflowTaskTimeoutMs),
      workflowId,
      identity,
      attempt: 1,
      originalExecutionRunId: runId,
      firstExecutionRunId: run.firstRunId,
      memo: { fields: memo },
      searchAttributes: { indexedFields: attributes },
      header: {},
      ...(continues !== undefined && {
        continuedExecutionRunId: continues.runId,
        initiator: enums.ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW,
      }),
      ...(parent !== null && {
        parentWorkflowNamespace: namespace,
        parentWorkflowExecution: parentExecution,
        parentInitiatedEventId: parent.initiatedEventId,
        rootWorkflowExecution: run.root,
      }),
    },
    { userMetadata },
  );
  run.jobs.push({
    initializeWorkflow: {
      workflowType: type,
      workflowId,
      arguments: input,
      attempt: 1,
      identity,
      firstExecutionRunId: run.firstRunId,
      continuedFromExecutionRunId: run.continuedFromRunId ?? '',
      startTime: msToTs(run.startMs),
      workflowTaskTimeout: msToTs(workflowTaskTimeoutMs),
      memo: { fields: memo },
      searchAttributes: { indexedFields: attributes },
      ...(parentExecution !== null && {
        parentWorkflowInfo: { namespace, ...parentExecution },
        rootWorkflow: run.root,
      }),
    },
  });
  // The signal that it is started with comes before its first task.
  if (signal === undefined) wake(server, run);
  else signalRun(server, run, signal.name, signal.input, identity);
  return run;
}

export function uuidOf(random: () => number): string {
  const digits = Array.from({ length: 4 }, () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}
