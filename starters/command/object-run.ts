import { type Kind, kindTable } from '../../contracts/kinds/table.ts';
import { progressQuery } from '../../contracts/messages.ts';
import type { RunProgress, RunResult } from '../../contracts/runs.ts';
import { createDataConverters } from '../../runtime/temporal/data-converter.ts';
import { readRuns } from '../../runtime/temporal/read-runs.ts';
import type { RunStatus } from '../eviction/eviction-objects.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import type { HistoryEvent, RunStep } from './run-steps.ts';
import { payloadReader, readSteps } from './run-steps.ts';
import { runStatus } from './runs.ts';
import type { TemporalAccess } from './temporal-access.ts';
import { answered, withTemporal } from './temporal-access.ts';
import type { CommandContext } from './context.ts';
import { fullName } from './object-reference.ts';
import { webUiLink } from './web-ui.ts';

/** The run that drives an object of a namespace now, or the last that did. Times are RFC 3339. */
export interface ObjectRun<Progress extends RunProgress> {
  workflowId: string;
  runId: string;
  status: RunStatus;
  startedAt: string;
  /** Null while it is open. */
  endedAt: string | null;
  /** What it answers; null: it has ended, or no worker answers. */
  progress: Progress | null;
  /** How it ended; null while it is open. */
  ending: { outcome: string; message: string } | null;
  /** Its last calls, the first one first. */
  steps: RunStep[];
  webUi: string | null;
}

/** A worker may be gone. */
const progressTimeoutMs = 5_000;

/** With what is wrong where it cannot be read: an object is worth describing without. */
export async function findRun<Progress extends RunProgress>(
  context: CommandContext,
  kind: Kind,
  object: { namespace: string; name: string },
  abort: AbortSignal,
): Promise<{ run: ObjectRun<Progress> | null; problem: string | null }> {
  try {
    return await withTemporal(context, abort, async (temporal) => ({
      run: await readRun<Progress>(temporal, kind, object),
      problem: null,
    }));
  } catch (error) {
    abort.throwIfAborted();
    return { run: null, problem: `The run that drives it: ${explainError(error).message}` };
  }
}

/** Null: Temporal knows of none. */
async function readRun<Progress extends RunProgress>(
  temporal: TemporalAccess,
  kind: Kind,
  object: { namespace: string; name: string },
): Promise<ObjectRun<Progress> | null> {
  const row = kindTable[kind];
  const workflowId = row.workflowId(fullName(object), temporal.config.cluster);
  const described = await readRuns(temporal.client, (workflow) =>
    answered(temporal, () => workflow.getHandle(workflowId).describe()),
  ).catch((error: unknown) => {
    if (explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  });
  if (described === null || described.type !== row.workflowType) return null;
  const { runId, startTime, closeTime, raw } = described;
  const status = runStatus(described.status.name);
  const isOpen = status === 'Running';
  const [progress, ending, events] = await Promise.all([
    isOpen ? askProgress<Progress>(temporal, workflowId, runId) : null,
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

async function askProgress<Progress extends RunProgress>(
  temporal: TemporalAccess,
  workflowId: string,
  runId: string,
): Promise<Progress | null> {
  try {
    return await answered(
      temporal,
      () => temporal.client.workflow.getHandle(workflowId, runId).query(progressQuery<Progress>()),
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
): Promise<ObjectRun<RunProgress>['ending']> {
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
