import { happen, record } from './history.ts';
import type { Run } from './run.ts';
import { requestCancel, signalRun } from './messages.ts';
import type { CommandOf, Failure } from './sdk.ts';
import { enums, namespace } from './sdk.ts';
import type { Server } from './server.ts';
import { findRun, isOpen, latency } from './server.ts';

/** Signals and cancels from one run to another. */

const {
  CancelExternalWorkflowExecutionFailedCause: CancelFailed,
  SignalExternalWorkflowExecutionFailedCause: SignalFailed,
} = enums;

interface Delivery {
  find: () => Run | undefined;
  deliver: (target: Run) => void;
  /** Writes what has come of it. */
  answer: (isDelivered: boolean) => void;
}

function deliverLater(server: Server, run: Run, { find, deliver, answer }: Delivery): void {
  server.soon(latency.message, () => {
    // What a run sends with its last task is never delivered.
    if (!isOpen(run)) return;
    const target = find();
    const isDelivered = target !== undefined && isOpen(target);
    if (isDelivered) deliver(target);
    server.soon(latency.reply, () => {
      if (isOpen(run)) answer(isDelivered);
    });
  });
}

/** Of a child: Core asks for it by itself, and needs no answer. */
export function cancelChild(
  server: Server,
  run: Run,
  { childWorkflowSeq: seq, reason }: CommandOf<'cancelChildWorkflowExecution'>,
  workflowTaskCompletedEventId: number,
): void {
  const child = run.children.get(seq);
  if (child === undefined) return;
  const workflowExecution = { workflowId: child.command.workflowId, runId: child.run?.runId ?? '' };
  cancel(server, run, {
    workflowExecution,
    reason,
    childWorkflowOnly: true,
    workflowTaskCompletedEventId,
    find: () => child.run ?? undefined,
    seq: null,
  });
}

export function cancelExternal(
  server: Server,
  run: Run,
  { seq, workflowExecution: execution, reason: words }: CommandOf<'requestCancelExternalWorkflowExecution'>,
  workflowTaskCompletedEventId: number,
): void {
  const workflowExecution = { workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' };
  const reason = `Cancel requested by workflow with run id ${run.runId} with reason: ${words}`;
  const find = (): Run | undefined => findRun(server, workflowExecution.workflowId, workflowExecution.runId);
  cancel(server, run, { workflowExecution, reason, childWorkflowOnly: false, workflowTaskCompletedEventId, find, seq });
}

interface CancelRequest {
  workflowExecution: { workflowId: string; runId: string };
  reason: string;
  childWorkflowOnly: boolean;
  workflowTaskCompletedEventId: number;
  find: () => Run | undefined;
  /** Null: the run is not told. */
  seq: number | null;
}

function cancel(server: Server, run: Run, { find, seq, ...request }: CancelRequest): void {
  const initiatedEventId = record(server, run, 'RequestCancelExternalWorkflowExecutionInitiated', {
    namespace,
    ...request,
  });
  const about = { initiatedEventId, namespace, workflowExecution: request.workflowExecution };
  const job = (failure: Failure | null) =>
    seq === null ? {} : { job: { resolveRequestCancelExternalWorkflow: { seq, failure } } };
  deliverLater(server, run, {
    find,
    deliver: (target) => requestCancel(server, target, request.reason, { run, initiatedEventId }),
    answer(isDelivered) {
      if (isDelivered)
        return happen(server, run, {
          name: 'ExternalWorkflowExecutionCancelRequested',
          attributes: () => about,
          ...job(null),
        });
      const cause = CancelFailed.CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND;
      happen(server, run, {
        name: 'RequestCancelExternalWorkflowExecutionFailed',
        attributes: () => ({ ...about, cause }),
        ...job(notFound('cancel', 'not found')),
      });
    },
  });
}

export function signalExternal(
  server: Server,
  run: Run,
  {
    seq,
    workflowExecution: execution,
    childWorkflowId,
    signalName,
    args,
  }: CommandOf<'signalExternalWorkflowExecution'>,
  workflowTaskCompletedEventId: number,
): void {
  const workflowExecution = { workflowId: execution?.workflowId ?? childWorkflowId, runId: execution?.runId ?? '' };
  const initiatedEventId = record(server, run, 'SignalExternalWorkflowExecutionInitiated', {
    namespace,
    workflowExecution,
    signalName,
    input: { payloads: args },
    childWorkflowOnly: Boolean(childWorkflowId),
    header: {},
    workflowTaskCompletedEventId,
  });
  const about = { initiatedEventId, namespace, workflowExecution };
  deliverLater(server, run, {
    find: () => findRun(server, workflowExecution.workflowId, workflowExecution.runId),
    deliver: (target) => signalRun(server, target, signalName, args, { run }),
    answer(isDelivered) {
      if (isDelivered)
        return happen(server, run, {
          name: 'ExternalWorkflowExecutionSignaled',
          attributes: () => about,
          job: { resolveSignalExternalWorkflow: { seq } },
        });
      const cause = SignalFailed.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND;
      const failure = notFound('signal', 'it was not found');
      happen(server, run, {
        name: 'SignalExternalWorkflowExecutionFailed',
        attributes: () => ({ ...about, cause }),
        job: { resolveSignalExternalWorkflow: { seq, failure } },
      });
    },
  });
}

/** In Core's words. */
const notFound = (what: string, words: string): Failure => ({
  message: `Unable to ${what} external workflow because ${words}`,
  applicationFailureInfo: { type: 'ExternalWorkflowExecutionNotFound' },
});
