import type { Client, WorkflowClient } from '@temporalio/client';

import { orphanSweepId, workflowTypes } from '../../contracts/ids.ts';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { readRuns } from './read-runs.ts';
import { limited, type OwnLimits } from './temporal.ts';

const defaultTimeoutMs = 10_000;

/** Runs of other clusters and other drovers are among them. */
const pageSize = 100;

/**
 * Of which namespaces a sweep waits for a user to approve of its deletions, by one list of Temporal's.
 *
 * @throws what Temporal fails with
 */
export async function readWaitingApprovals(
  client: Client,
  { namespaces, cluster }: { namespaces: readonly string[]; cluster: string },
  limits: OwnLimits,
): Promise<Set<string>> {
  const query = `WorkflowType = '${workflowTypes.sweepOrphans}' AND ExecutionStatus = 'Running' AND ${searchAttributes.reason} = 'ApprovalNeeded'`;
  const list = async (workflow: WorkflowClient): Promise<Set<string>> => {
    const ids = new Set<string>();
    for await (const { workflowId } of workflow.list({ query, pageSize })) ids.add(workflowId);
    return ids;
  };
  const waiting = await limited(client, { timeoutMs: defaultTimeoutMs, ...limits }, () => readRuns(client, list));
  return new Set(namespaces.filter((namespace) => waiting.has(orphanSweepId(namespace, cluster))));
}
