import type { Client } from '@temporalio/client';
import { agentPoolId, workflowTypes } from '../../contracts/ids.ts';
import { agentFixture } from '../../lab/agents.ts';
import { mapConcurrently } from '../load/concurrency.ts';

/** Events of the runs of VsphereAgents, all of them together. */
export interface AgentRuns {
  runs: number;
  /** Of runs that make VMs. */
  onEvents: number;
  /** Of runs that take an ISO out of a drive. */
  ejectEvents: number;
}

const ejects = 'ejectAgentIso';

/** The runs that have ended, of those that were started since then. @param sinceMs unix ms */
export async function readAgentRuns(client: Client, sinceMs: number): Promise<AgentRuns> {
  const since = new Date(sinceMs).toISOString();
  const found: { workflowId: string; runId: string }[] = [];
  for await (const { workflowId, runId } of client.workflow.list({
    query: `WorkflowType = "${workflowTypes.reconcileAgent}" AND StartTime >= "${since}"`,
  }))
    found.push({ workflowId, runId });
  const sum: AgentRuns = { runs: found.length, onEvents: 0, ejectEvents: 0 };
  await mapConcurrently(found, 8, async ({ workflowId, runId }) => {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const all = events ?? [];
    const isEject = all.some((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === ejects);
    sum[isEject ? 'ejectEvents' : 'onEvents'] += all.length;
  });
  return sum;
}

/** Events of all runs of the pool so far. */
export async function countPoolEvents(client: Client): Promise<number> {
  const workflowId = agentPoolId(agentFixture.namespace, agentFixture.pool);
  let events = 0;
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
    // What is listed of an open run says nothing of its length.
    events += (await client.workflow.getHandle(workflowId, runId).describe()).historyLength;
  return events;
}
