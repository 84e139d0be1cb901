import type { Client } from '@temporalio/client';
import { virtualMachineId, workflowTypes } from '../../contracts/ids.ts';
import { namespace } from './vms-world.ts';

/** The runs of each VM so far, and the events in their histories together. */
export async function readRuns(
  client: Client,
  names: readonly string[],
): Promise<{ name: string; runs: number; events: number }[]> {
  const nameOf = new Map(names.map((name) => [virtualMachineId(namespace, name), name]));
  const found = new Map(names.map((name) => [name, { name, runs: 0, events: 0 }]));
  for await (const { workflowId, historyLength } of client.workflow.list({
    query: `WorkflowType = "${workflowTypes.reconcileVirtualMachine}"`,
  })) {
    const of = found.get(nameOf.get(workflowId) ?? '');
    if (of === undefined) continue;
    of.runs += 1;
    of.events += historyLength;
  }
  const all = [...found.values()];
  const none = all.find(({ runs }) => runs === 0);
  if (none !== undefined) throw new Error(`Temporal lists no run of ${none.name}`);
  return all;
}

/** Runs of VMs that were started since then. @param sinceMs unix ms */
export const countRunsSince = async (client: Client, sinceMs: number): Promise<number> =>
  (
    await client.workflow.count(
      `WorkflowType = "${workflowTypes.reconcileVirtualMachine}" AND StartTime > "${new Date(sinceMs).toISOString()}"`,
    )
  ).count;
