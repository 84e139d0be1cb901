import { terminateRun } from '../closing.ts';
import { requestCancel, signalRun } from '../messages.ts';
import type { Run } from '../run.ts';
import type { StartRequest } from '../runs.ts';
import { AlreadyStartedError, startRun } from '../runs.ts';
import { enums } from '../sdk.ts';
import type { Server } from '../server.ts';
import { grpcStatus, refuse } from './grpc.ts';
import { openRun } from './lookup.ts';
import type { RequestOf, Service } from './calls.ts';

/** The calls that start runs and tell them something. */

/** What a request to start says, whichever call it is part of. */
export type StartFields = Pick<
  NonNullable<RequestOf<'startWorkflowExecution'>>,
  | 'workflowId'
  | 'workflowType'
  | 'taskQueue'
  | 'input'
  | 'memo'
  | 'searchAttributes'
  | 'userMetadata'
  | 'workflowIdReusePolicy'
  | 'workflowIdConflictPolicy'
  | 'identity'
>;

export type Start = (request: StartFields, signal?: StartRequest['signal']) => { run: Run; isNew: boolean };

const { WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING: useExisting } = enums.WorkflowIdConflictPolicy;

export function createStartCalls(server: Server): { start: Start; calls: Service } {
  const start: Start = (request, signal) => {
    // Where the call is to signal an open run anyway.
    const conflictPolicy = request.workflowIdConflictPolicy || (signal === undefined ? 0 : useExisting);
    const reusePolicy = request.workflowIdReusePolicy ?? 0;
    try {
      return startRun(server, { ...startRequest(request), reusePolicy, conflictPolicy, ...(signal && { signal }) });
    } catch (error) {
      if (error instanceof AlreadyStartedError) return refuse(grpcStatus.alreadyExists, error.message);
      throw error;
    }
  };
  const calls: Service = {
    startWorkflowExecution: (request) => ({ runId: start(request).run.runId, started: true }),
    signalWithStartWorkflowExecution(request) {
      const signal = { name: request.signalName ?? '', input: request.signalInput?.payloads ?? [] };
      const { run, isNew } = start(request, signal);
      return { runId: run.runId, started: isNew };
    },
    signalWorkflowExecution({ workflowExecution, signalName, input, identity }) {
      const run = openRun(server, workflowExecution);
      signalRun(server, run, signalName ?? '', input?.payloads ?? [], identity ?? '');
      return {};
    },
    requestCancelWorkflowExecution({ workflowExecution, reason }) {
      requestCancel(server, openRun(server, workflowExecution), reason ?? '');
      return {};
    },
    terminateWorkflowExecution({ workflowExecution, reason, details, identity }) {
      terminateRun(
        server,
        openRun(server, workflowExecution),
        reason || 'terminated by user via frontend',
        details?.payloads ?? [],
        identity ?? '',
      );
      return {};
    },
  };
  return { start, calls };
}

const unsupportedFields = [
  'retryPolicy',
  'cronSchedule',
  'workflowExecutionTimeout',
  'workflowRunTimeout',
  'workflowStartDelay',
];

/** @throws GrpcError, INVALID_ARGUMENT: for what the simulator does not support */
function startRequest(request: StartFields): StartRequest {
  const { workflowId, workflowType, taskQueue, input, memo, searchAttributes, userMetadata, identity } = request;
  const unsupported = unsupportedFields.find((name) => (request as Record<string, unknown>)[name]);
  if (unsupported !== undefined)
    refuse(grpcStatus.invalidArgument, `the simulator does not support ${unsupported} of a run (${workflowId ?? ''})`);
  return {
    workflowId: workflowId ?? '',
    type: workflowType?.name ?? '',
    taskQueue: taskQueue?.name ?? '',
    input: input?.payloads ?? [],
    memo: memo?.fields ?? {},
    attributes: searchAttributes?.indexedFields ?? {},
    userMetadata: userMetadata ?? null,
    identity: identity ?? '',
  };
}
