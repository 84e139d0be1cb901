import type { AgentPoolActivities, ReleasedAgent } from '../../../contracts/agent-pool/agent-pool.ts';
import { isBound } from '../../../contracts/agent-pool/match-agents.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import { deleteAgent } from './delete-agent.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { judgeStrays, lookAtVcenter } from './look-at-vcenter.ts';
import { findPool, readWorld, type World } from './read-world.ts';
import { firstRefusal } from './refusals.ts';

type Release = AgentPoolActivities['releaseVsphereAgents'];

/**
 * Those that are judged the same again. Before each its Agent goes, on the version that was judged: one that is bound
 * meanwhile is another version, and keeps its VM. Where only the Agent has gone, its VM has none, and goes for that.
 */
export async function releaseVsphereAgents(
  tools: AgentPoolTools,
  { agents, ...of }: Parameters<Release>[0],
): Promise<Awaited<ReturnType<Release>>> {
  const pool = await findPool(tools, of);
  const world = pool === null || tools.settings === null ? null : await readWorld(tools, pool, tools.settings.rules);
  const released: string[] = [];
  const kept: string[] = [];
  const refusal = await firstRefusal(agents, async ({ name, uid, cause }) => {
    const again = world?.judged.released.find((one) => one.name === name && one.uid === uid && one.cause === cause);
    const isGone = world !== null && again !== undefined && (await release(tools, world, again));
    (isGone ? released : kept).push(name);
  });
  return { released, kept, refused: refusal === null ? null : failureDetail(refusal).slice(0, 1_000) };
}

async function release(tools: AgentPoolTools, world: World, released: ReleasedAgent): Promise<boolean> {
  const { client, scope } = tools;
  const { namespace = '', name: poolName } = world.pool.metadata;
  const { name, uid, cause } = released;
  if (released.agent !== null && !(await deleteJudgedAgent(tools, world, released.agent, cause))) return false;
  const mutation = {
    action: 'releaseVsphereAgent',
    cause,
    object: `agent/${namespace}/${name}`,
    before: { pool: `${namespace}/${poolName}`, uid },
    after: null,
  };
  try {
    await mutate(tools, mutation, () => client.delete(resources.VsphereAgent, { namespace, name, uid }, scope.signal));
    await announceLeft(tools, world, released);
    return true;
  } catch (error) {
    if (!isFailure(error, 'ObjectConflict')) throw error;
    return false;
  }
}

/**
 * By force the VM of a Bound Agent goes, too. The Agent is its provider's until it is unbound, and no run looks
 * for it afterwards.
 */
async function announceLeft(
  tools: AgentPoolTools,
  { pool, judged }: World,
  { name, cause }: ReleasedAgent,
): Promise<void> {
  const { namespace = '', name: poolName, uid } = pool.metadata;
  const agent = judged.vms.find(({ vm }) => vm.name === name)?.agent ?? null;
  if (agent === null || !isBound(agent) || pool.spec.cleanupPolicy !== 'Delete') return;
  await announce(
    tools,
    {
      regarding: { kind: 'VsphereAgentPool', namespace, name: poolName, uid },
      type: 'Warning',
      reason: 'AgentDeleteDeferred',
      message: `Agent ${agent.name} is bound and stays, though VM ${name} goes (${cause}): delete it when its Machine is gone`,
    },
    [agent.uid, 'AgentDeleteDeferred'],
  );
}

/** @returns false: it has changed since it was judged */
async function deleteJudgedAgent(
  tools: AgentPoolTools,
  { pool, agents }: World,
  { name, uid }: { name: string; uid: string },
  cause: string,
): Promise<boolean> {
  const judged = agents.find(({ metadata }) => metadata.name === name && metadata.uid === uid);
  if (judged === undefined) return false;
  try {
    await deleteAgent(tools, pool, judged, cause);
  } catch (error) {
    if (!isFailure(error, 'ObjectConflict')) throw error;
    return false;
  }
  return true;
}

/** Those that are strays still, by what there is right now. */
export async function destroyStrays(
  tools: AgentPoolTools,
  { vms, ...of }: Parameters<AgentPoolActivities['destroyStrays']>[0],
): Promise<{ destroyed: string[] }> {
  const { client, clock, cluster, inventory, looks, scope } = tools;
  const pool = await findPool(tools, of);
  if (pool === null) return { destroyed: [] };
  const { seen } = await lookAtVcenter(tools, pool, false);
  if (seen === null) return { destroyed: [] };
  const vsphereAgents = await client.list(resources.VsphereAgent, { namespace: of.namespace }, scope.signal);
  const { strays } = judgeStrays(seen.vms, vsphereAgents, { pool, cluster, nowMs: clock.now() });
  const destroyed: string[] = [];
  for (const stray of strays.filter(({ vmId, uid }) => vms.some((vm) => vm.vmId === vmId && vm.uid === uid))) {
    looks.delete(of.uid);
    if (await inventory.destroy(tools, pool, stray, 'it has the mark of a pool, and no VsphereAgent'))
      destroyed.push(stray.name);
  }
  return { destroyed };
}
