import { systemClock } from '../../runtime/clock.ts';
import { connectClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';

/** A run that an earlier demo left may be of other code than the worker that is about to start. */
export async function endRuns(exports: Readonly<Record<string, string>>): Promise<void> {
  const client = await connectClient(readTemporalSettings(exports), { clock: systemClock });
  try {
    for await (const { workflowId, runId } of client.workflow.list({ query: 'ExecutionStatus="Running"' })) {
      await client.workflow.getHandle(workflowId, runId).terminate('the demo begins anew');
    }
  } finally {
    await client.connection.close();
  }
}
