import { happen } from './history.ts';
import type { Run } from './run.ts';
import type { Payload } from './sdk.ts';
import type { Server } from './server.ts';
import { isOpen } from './server.ts';

/** Signals and cancels, as a run gets them. */

/** A run that sends a signal or a cancel to another, and the event of its own that it did so with. */
export interface Sender {
  run: Run;
  initiatedEventId?: number;
}

const senderOf = ({ run: { workflowId, runId }, initiatedEventId }: Sender) => ({
  externalWorkflowExecution: { workflowId, runId },
  ...(initiatedEventId !== undefined && { externalInitiatedEventId: initiatedEventId }),
});

export function signalRun(
  server: Server,
  run: Run,
  signalName: string,
  input: Payload[],
  by: Sender | string = 'simulation',
): void {
  const [identity, sender] = typeof by === 'string' ? [by, {}] : ['history-service', senderOf(by)];
  happen(server, run, {
    name: 'WorkflowExecutionSignaled',
    attributes: () => ({ signalName, input: { payloads: input }, identity, header: {}, ...sender }),
    job: { signalWorkflow: { signalName, input, identity } },
  });
}

/** Repeated requests change nothing. */
export function requestCancel(server: Server, run: Run, reason: string, by: Sender | null = null): void {
  if (!isOpen(run) || run.cancelRequested) return;
  run.cancelRequested = true;
  happen(server, run, {
    name: 'WorkflowExecutionCancelRequested',
    attributes: () => ({ cause: reason, ...(by !== null && senderOf(by)) }),
    job: { cancelWorkflow: { reason } },
  });
}
