import type { Client } from '@temporalio/client';

/** The parts of a history that show how long an activity has run. */
interface TimedEvent {
  eventTime?: { seconds?: unknown; nanos?: number | null } | null;
  activityTaskStartedEventAttributes?: { scheduledEventId?: unknown } | null;
  activityTaskCompletedEventAttributes?: { scheduledEventId?: unknown } | null;
}

const timeMs = ({ eventTime }: TimedEvent): number =>
  Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000;

/** How many activities all runs of that id have completed, and how long they were at work together. */
export async function timeSteps(client: Client, workflowId: string): Promise<{ steps: number; sumMs: number }> {
  let [steps, sumMs] = [0, 0];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const startedMs = new Map<string, number>();
    for (const event of (events ?? []) as TimedEvent[]) {
      const { activityTaskStartedEventAttributes: started, activityTaskCompletedEventAttributes: completed } = event;
      if (started) startedMs.set(String(started.scheduledEventId), timeMs(event));
      if (completed) {
        steps += 1;
        sumMs += timeMs(event) - (startedMs.get(String(completed.scheduledEventId)) ?? timeMs(event));
      }
    }
  }
  return { steps, sumMs };
}
