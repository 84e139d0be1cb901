import { virtualMachineId, workflowTypes } from '../../contracts/ids.ts';
import { progressQuery } from '../../contracts/messages.ts';
import type { RunResult } from '../../contracts/runs.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import { createDataConverters } from '../../runtime/temporal/data-converter.ts';
import type { RunStatus } from '../eviction/eviction-objects.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { HistoryEvent, RunStep } from '../command/run-steps.ts';
import { payloadReader, readSteps } from '../command/run-steps.ts';
import { runStatus } from '../command/runs.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { answered } from '../command/temporal-access.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { webUiLink } from '../command/web-ui.ts';

/** The run that drives a virtual machine now, or the last that did. Times are RFC 3339. */
export interface VirtualMachineRun {
  workflowId: string;
  runId: string;
  status: RunStatus;
  startedAt: string;
  /** Null while it is open. */
  endedAt: string | null;
  /** What it answers; null: it has ended, or no worker answers. */
  progress: VirtualMachineProgress | null;
  /** How it ended; null while it is open. */
  ending: { outcome: string; message: string } | null;
  /** Its last calls, the first one first. */
  steps: RunStep[];
  webUi: string | null;
}

/** A worker may be gone. */
const progressTimeoutMs = 5_000;

/** Null: Temporal knows of none. */
export async function readVirtualMachineRun(
  temporal: TemporalAccess,
  { namespace, name }: Pick<VirtualMachineObject, 'namespace' | 'name'>,
): Promise<VirtualMachineRun | null> {
  const workflowId = virtualMachineId(namespace, name, temporal.config.cluster);
  const described = await answered(temporal, () => temporal.client.workflow.getHandle(workflowId).describe()).catch(
    (error: unknown) => {
      if (explainError(error).exitCode === exitCodes.notFound) return null;
      throw error;
    },
  );
  if (described === null || described.type !== workflowTypes.reconcileVirtualMachine) return null;
  const { runId, startTime, closeTime, raw } = described;
  const status = runStatus(described.status.name);
  const isOpen = status === 'Running';
  const [progress, ending, events] = await Promise.all([
    isOpen ? askProgress(temporal, workflowId, runId) : null,
    isOpen ? null : readEnding(temporal, workflowId, runId, status),
    readLastEvents(temporal, workflowId, runId),
  ]);
  const { client: converter } = createDataConverters(temporal.config.temporal.payloadKeys);
  const steps = await readSteps(events, raw.pendingActivities ?? [], payloadReader(converter));
  return {
    workflowId,
    runId,
    status,
    startedAt: startTime.toISOString(),
    endedAt: closeTime?.toISOString() ?? null,
    progress,
    ending,
    steps: steps.slice(-mostSteps),
    webUi: webUiLink(temporal.namespace, workflowId, runId, temporal.context.env),
  };
}

async function askProgress(
  temporal: TemporalAccess,
  workflowId: string,
  runId: string,
): Promise<VirtualMachineProgress | null> {
  try {
    return await answered(
      temporal,
      () => temporal.client.workflow.getHandle(workflowId, runId).query(progressQuery<VirtualMachineProgress>()),
      progressTimeoutMs,
    );
  } catch {
    temporal.abort.throwIfAborted();
    return null;
  }
}

async function readEnding(
  temporal: TemporalAccess,
  workflowId: string,
  runId: string,
  status: RunStatus,
): Promise<VirtualMachineRun['ending']> {
  try {
    const { outcome, message } = await answered(
      temporal,
      () => temporal.client.workflow.getHandle(workflowId, runId, { followRuns: false }).result() as Promise<RunResult>,
    );
    return { outcome, message };
  } catch (error) {
    temporal.abort.throwIfAborted();
    const cause = error instanceof Error && error.name === 'WorkflowFailedError' ? error.cause : null;
    // Of a run that is cancelled or terminated, Temporal keeps no words of drover's: the object has them.
    return { outcome: status, message: status === 'Failed' && cause instanceof Error ? cause.message : '' };
  }
}

const mostSteps = 15;
const pageEvents = 100;
/** A run that has done nothing but wait for this many events has no steps to show. */
const mostPages = 5;

/** The newest events, until they hold enough steps. Where the history is gone, none. */
async function readLastEvents(temporal: TemporalAccess, workflowId: string, runId: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  let nextPageToken: Uint8Array | undefined;
  try {
    for (let pages = 0; pages < mostPages; pages += 1) {
      const request = {
        namespace: temporal.namespace,
        execution: { workflowId, runId },
        maximumPageSize: pageEvents,
        ...(nextPageToken && { nextPageToken }),
      };
      const page = await answered(temporal, () =>
        temporal.client.workflowService.getWorkflowExecutionHistoryReverse(request),
      );
      events.push(...(page.history?.events ?? []));
      nextPageToken = page.nextPageToken ?? undefined;
      const steps = events.filter(
        ({ activityTaskScheduledEventAttributes }) => activityTaskScheduledEventAttributes,
      ).length;
      if (steps >= mostSteps || nextPageToken === undefined || nextPageToken.length === 0) break;
    }
  } catch {
    temporal.abort.throwIfAborted();
  }
  return events;
}
