import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { readRuns } from './read-runs.ts';
import { limited, type OwnLimits } from './temporal.ts';

/** Whether a run under that id is open. @throws what Temporal fails with */
export async function isRunOpen(
  client: Client,
  workflowId: string,
  { timeoutMs = 5_000, ...limits }: OwnLimits,
): Promise<boolean> {
  try {
    const { status } = await readRuns(client, (workflow) =>
      limited(client, { timeoutMs, ...limits }, () => workflow.getHandle(workflowId).describe()),
    );
    return status.name === 'RUNNING' || status.name === 'PAUSED';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
