import type { Client, WorkflowHandle } from '@temporalio/client';

/** drover's workflows with whatever serves their activities, on a Temporal: a real one, or a simulated one. */
export interface FailureBase {
  client: Client;
  /** Fails where the history of the run does not lead to the same commands again. */
  replay(handle: ReplayedRun): Promise<void>;
  close(): Promise<void>;
}

type ReplayedRun = Pick<WorkflowHandle, 'workflowId' | 'fetchHistory'>;

/** What serves a queue. */
export interface ServedActivities {
  taskQueue: string;
  activities: object;
}
