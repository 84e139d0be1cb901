import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { messages, type ObjectChanged } from '../contracts/messages.ts';
import { readPayload } from '../runtime/temporal/read-payload.ts';
import { readRuns } from '../runtime/temporal/read-runs.ts';
import { type CallLimits, limited } from '../runtime/temporal/temporal.ts';
import type { LastRun } from './decide-delivery.ts';

/** How a person ended a run. */
export interface PersonsStop {
  runId: string;
  how: 'cancelled' | 'terminated';
  /** As Temporal knows them; null where unknown. */
  by: string | null;
  reason: string | null;
  /** RFC 3339. */
  at: string;
}

export interface FoundRun {
  lastRun: LastRun;
  /** Set where the last run was cancelled or terminated. */
  stop: PersonsStop | null;
}

const pageSize = 200;
/** A history ends at 51,200 events; what matters stands near its end. */
const mostPages = 50;

type HistoryPage = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistoryReverse']>>;
type HistoryEvent = NonNullable<NonNullable<HistoryPage['history']>['events']>[number];

/**
 * Looks up the last run under an id, and, where a person ended it, who that was and which generation of the object
 * `uid` it had been signalled of: signals carry both, so the history is exact where clocks are not.
 */
export async function findLastRun(
  client: Client,
  workflowId: string,
  uid: string,
  limits: CallLimits,
): Promise<FoundRun> {
  const run = await describeRun(client, workflowId, limits);
  if (run === null) return { lastRun: { status: 'NONE' }, stop: null };
  const { runId, startTime, closeTime, status } = run;
  if (status.name === 'COMPLETED' || status.name === 'FAILED' || status.name === 'TIMED_OUT')
    return { lastRun: { status: status.name, toldGeneration: null }, stop: null };
  if (status.name !== 'CANCELLED' && status.name !== 'TERMINATED') return { lastRun: { status: 'OPEN' }, stop: null };
  const { toldGeneration, by, reason } = await readEnd(client, { workflowId, runId }, uid, limits);
  const how = status.name === 'CANCELLED' ? 'cancelled' : 'terminated';
  return {
    lastRun: { status: status.name, toldGeneration },
    stop: { runId, how, by, reason, at: (closeTime ?? startTime).toISOString() },
  };
}

/** The last run under an id; null: Temporal has none. */
export async function describeRun(client: Client, workflowId: string, limits: CallLimits) {
  try {
    return await readRuns(client, (workflow) =>
      limited(client, limits, () => workflow.getHandle(workflowId).describe()),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

interface End {
  by: string | null;
  reason: string | null;
  toldGeneration: number | null;
}

/** Reads a history from its end until everything is found. */
async function readEnd(
  client: Client,
  execution: { workflowId: string; runId: string },
  uid: string,
  limits: CallLimits,
): Promise<End> {
  const end: End = { by: null, reason: null, toldGeneration: null };
  let foundStop = false;
  let nextPageToken: Uint8Array | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const request = {
      namespace: client.options.namespace,
      execution,
      maximumPageSize: pageSize,
      ...(nextPageToken !== null && { nextPageToken }),
    };
    const answer: HistoryPage = await limited(client, limits, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse(request),
    );
    for (const event of answer.history?.events ?? []) {
      const stop = event.workflowExecutionTerminatedEventAttributes ?? cancelOf(event);
      if (!foundStop && stop) {
        foundStop = true;
        Object.assign(end, { by: stop.identity || null, reason: stop.reason || null });
      }
      end.toldGeneration ??= await generationTold(client, event, uid);
    }
    if (end.toldGeneration !== null && foundStop) break;
    nextPageToken = answer.nextPageToken ?? null;
    if (!nextPageToken?.length) break;
  }
  return end;
}

const cancelOf = ({ workflowExecutionCancelRequestedEventAttributes: cancel }: HistoryEvent) =>
  cancel && { identity: cancel.identity, reason: cancel.cause };

/** The generation in a signal of the bridge about the object; null where the event is none, or cannot be read. */
async function generationTold(client: Client, event: HistoryEvent, uid: string): Promise<number | null> {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName !== messages.objectChanged.name) return null;
  const signalled = (await readPayload(client, signal.input?.payloads ?? [])) as Partial<ObjectChanged> | null;
  return signalled?.uid === uid && typeof signalled.generation === 'number' ? signalled.generation : null;
}

/** For the condition: who knows, and how to go on. */
export function describePersonsStop({ runId, how, by, reason, at }: PersonsStop, subject: string): string {
  const because = reason === null ? '' : ` (${reason})`;
  return (
    `Run ${runId} was ${how} by ${by ?? 'an unnamed client'} at ${at}${because}, before it could end by itself: ` +
    `what it had under way was left as it was. \`drover retry ${subject}\` goes on, and so does a changed spec; drover does not by itself.`
  );
}
