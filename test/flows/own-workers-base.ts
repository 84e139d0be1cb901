import type { Client, WorkflowHandle } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import type { QueueReport } from '../../contracts/allowance.ts';

/** A Temporal, workers in the test's own program, and a client: all real, or with DROVER_SIMULATED a simulation. */
export interface OwnWorkers {
  client: Client;
  /** Serves a task queue with as many activities at once as are asked for. */
  start(taskQueue: string, activities: object): Promise<void>;
  /** What the run has written, after Temporal's own replayer has agreed with it. */
  historyOf(handle: WorkflowHandle): Promise<History>;
  close(): Promise<void>;
}

/** Runs that have no object say nothing of their queue. */
export const noObjects: Record<QueueReport['publish'], () => Promise<void>> = {
  publishVirtualMachine: () => Promise.resolve(),
  publishDataVolume: () => Promise.resolve(),
  publishVsphereAgent: () => Promise.resolve(),
};
