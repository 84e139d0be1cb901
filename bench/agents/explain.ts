import type { Client } from '@temporalio/client';
import { agentPoolId, workflowTypes } from '../../contracts/ids.ts';
import { agentFixture } from '../../lab/agents.ts';
import type { KubernetesObjects } from '../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../../runtime/kubernetes/resources.ts';

interface Sources {
  objects: KubernetesObjects;
  client: Client;
}

/**
 * What drover says and does while a VM is missing: a wait in vain is explained by this, and by nothing that is left.
 */
export async function explainAgents({ objects, client }: Sources, signal: AbortSignal): Promise<string> {
  const { namespace, controlPlaneNamespace } = agentFixture;
  const [pools, agents, machines] = await Promise.all([
    objects.list(resources.VsphereAgentPool, { namespace }, signal),
    objects.list(resources.VsphereAgent, { namespace }, signal),
    objects.list(neighbourResources.AgentMachine, { namespace: controlPlaneNamespace }, signal),
  ]);
  const silent = machines.filter(({ status }) => (status?.conditions ?? []).length === 0);
  const running = `(WorkflowType = "${workflowTypes.reconcileAgent}" OR WorkflowId = "${agentPoolId(namespace, agentFixture.pool)}") AND ExecutionStatus = "Running"`;
  const runs: string[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: running })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const [{ raw }, progress] = await Promise.all([
      handle.describe(),
      handle.query<unknown>('progress').catch((error: unknown) => String(error)),
    ]);
    const pending = (raw.pendingActivities ?? []).map(
      ({ activityType, attempt, lastFailure }) =>
        `${activityType?.name} attempt ${attempt} ${lastFailure?.message ?? ''}`,
    );
    runs.push(`  ${workflowId}: ${JSON.stringify(progress)}; pending: ${pending.join(', ') || 'none'}`);
  }
  return [
    ...pools.map(({ status }) => `pool: ${JSON.stringify({ ...status, ownedVMs: status?.ownedVMs?.length })}`),
    `${machines.length} AgentMachines, ${silent.length} of them without conditions`,
    `${agents.length} VsphereAgents; phases: ${JSON.stringify(
      Object.groupBy(agents, ({ status }) => status?.vm?.phase ?? 'none'),
      (_, value) => (Array.isArray(value) ? value.length : value),
    )}`,
    ...agents
      .filter(({ status }) => (status?.conditions ?? []).some((one) => one.status === 'False'))
      .map(({ metadata, status }) => `  ${metadata.name}: ${JSON.stringify(status)}`),
    `${runs.length} open runs`,
    ...runs,
  ].join('\n');
}
