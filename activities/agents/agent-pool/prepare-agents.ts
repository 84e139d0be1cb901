import type { AgentPoolActivities, UnpreparedAgent } from '../../../contracts/agent-pool/agent-pool.ts';
import { isBound } from '../../../contracts/agent-pool/match-agents.ts';
import { agentPoolLabels, neighbours } from '../../../contracts/agent-pool/metadata.ts';
import { pinOf } from '../../../contracts/agent-pool/judge-demand.ts';
import { readAgent, readAgentMachine } from '../../../contracts/agent-pool/pool-facts.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { findPool, type OfPool, readWorld, type World } from './read-world.ts';
import { firstRefusal } from './refusals.ts';

/** As it is now; null: nothing is to be done for it any more. */
async function readLive(tools: AgentPoolTools, of: OfPool): Promise<World | null> {
  const pool = await findPool(tools, of);
  if (pool === null || pool.metadata.deletionTimestamp !== undefined || tools.settings === null) return null;
  return await readWorld(tools, pool, tools.settings.rules);
}

/** Those that are judged the same again: an Agent may have turned out to be another VM. */
export async function prepareAgents(
  tools: AgentPoolTools,
  { agents, ...of }: Parameters<AgentPoolActivities['prepareAgents']>[0],
): Promise<void> {
  const world = await readLive(tools, of);
  if (world === null) return;
  const asked = world.judged.unprepared.filter((one) =>
    agents.some(({ agent, uid, vmName }) => agent === one.agent && uid === one.uid && vmName === one.vmName),
  );
  const refusal = await firstRefusal(asked, (one) => retryConflicts(() => prepare(tools, world.pool, one)));
  if (refusal !== null) throw refusal;
}

/** On the version that was read: one that is bound meanwhile is left alone. */
async function prepare(
  tools: AgentPoolTools,
  { metadata: { namespace = '', name }, spec }: VsphereAgentPool,
  { agent, uid, vmName }: UnpreparedAgent,
): Promise<void> {
  const { client, scope } = tools;
  const found = await client.get(neighbourResources.Agent, { namespace, name: agent }, scope.signal);
  if (found?.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined || isBound(readAgent(found)))
    return;
  const { role, approve } = spec.agent;
  const labels = {
    ...spec.agent.labels,
    [neighbours.nodePoolRole]: role,
    [agentPoolLabels.agentMachine]: vmName,
  };
  const change = { metadata: { labels }, spec: { role, hostname: vmName, ...(approve && { approved: true }) } };
  const { approved = false, hostname = null, role: before = null } = found.spec ?? {};
  const mutation = {
    action: 'prepareAgent',
    cause: `it is VM ${vmName} of pool ${namespace}/${name}`,
    object: `assisted-agent/${namespace}/${agent}`,
    before: { labels: found.metadata.labels ?? {}, approved, hostname, role: before },
    after: change,
  };
  try {
    await mutate(tools, mutation, () => client.patch(neighbourResources.Agent, found.metadata, change, scope.signal));
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}

/** AgentMachines take the Agent of one host, and no other. */
export async function pinAgentMachines(
  tools: AgentPoolTools,
  { agentMachines, ...of }: Parameters<AgentPoolActivities['pinAgentMachines']>[0],
): Promise<void> {
  const world = await readLive(tools, of);
  if (world === null) return;
  const asked = world.judged.unpinned.filter(({ agentMachine }) => agentMachines.includes(agentMachine));
  const refusal = await firstRefusal(asked, (one) => retryConflicts(() => pin(tools, world.pool, one)));
  if (refusal !== null) throw refusal;
}

async function pin(
  tools: AgentPoolTools,
  { metadata, spec }: VsphereAgentPool,
  { agentMachine, vmName }: World['judged']['unpinned'][number],
): Promise<void> {
  const { client, scope } = tools;
  const { controlPlaneNamespace: namespace } = spec;
  const found = await client.get(neighbourResources.AgentMachine, { namespace, name: agentMachine }, scope.signal);
  if (found === null || found.metadata.deletionTimestamp !== undefined) return;
  const fact = readAgentMachine(found, { namespace: metadata.namespace ?? '' });
  if (!fact.isWaiting || fact.hasAgent) return;
  const mutation = {
    action: 'pinAgentMachine',
    cause: `VM ${vmName} of pool ${metadata.namespace ?? ''}/${metadata.name} was made for it`,
    object: `agentmachine/${namespace}/${agentMachine}`,
    before: pinOf(fact),
    after: vmName,
  };
  const change = { spec: { agentLabelSelector: { matchLabels: { [agentPoolLabels.agentMachine]: vmName } } } };
  try {
    await mutate(tools, mutation, () =>
      client.patch(neighbourResources.AgentMachine, found.metadata, change, scope.signal),
    );
  } catch (error) {
    if (!isFailure(error, 'ObjectNotFound')) throw error;
  }
}
