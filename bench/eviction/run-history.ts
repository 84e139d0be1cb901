import type { Client, WorkflowHandle } from '@temporalio/client';

/** Temporal's own event. */
export type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** @param runId default: the last run under the id */
export async function readHistory(client: Client, workflowId: string, runId?: string): Promise<HistoryEvent[]> {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
}

/** Unix ms, with the fraction. */
export function timeOf({ eventTime }: HistoryEvent): number {
  return Number(String(eventTime?.seconds ?? 0)) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}

/** Whether it is the event that carries these attributes. */
export const carries = (event: HistoryEvent, attributes: keyof HistoryEvent): boolean =>
  event[attributes] !== null && event[attributes] !== undefined;

/** When an activity of that type was first scheduled, when its last attempt began and when it was done. */
export function timesOfActivity(
  events: readonly HistoryEvent[],
  type: string,
): { scheduledMs: number; startedMs: number; doneMs: number } | null {
  const scheduled = events.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === type);
  if (scheduled === undefined) return null;
  const id = String(scheduled.eventId);
  const started = events.find((event) => String(event.activityTaskStartedEventAttributes?.scheduledEventId) === id);
  const done = events.find((event) => String(event.activityTaskCompletedEventAttributes?.scheduledEventId) === id);
  return started === undefined || done === undefined
    ? null
    : { scheduledMs: timeOf(scheduled), startedMs: timeOf(started), doneMs: timeOf(done) };
}
