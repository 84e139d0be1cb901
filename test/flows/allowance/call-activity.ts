import { proxyActivities } from '@temporalio/workflow';
import { workflowQueue } from '../../../contracts/ids.ts';
import { shortCall } from '../../../contracts/policies.ts';

/** Calls one activity of queue `drover` as a workflow does, and resolves to its answer. */
export async function callActivity(name: string, input: unknown): Promise<unknown> {
  const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>({
    ...shortCall,
    taskQueue: workflowQueue(''),
  });
  return await activities[name]!(input);
}
