import { z } from 'zod';

import { type Facts, type JudgedPool, judgePool } from '../../../contracts/agent-pool/judge-pool.ts';
import {
  readAgent,
  readAgentMachine,
  readMachine,
  readPool,
  readVsphereAgent,
} from '../../../contracts/agent-pool/pool-facts.ts';
import type { Agent } from '../../../contracts/crds/agent.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VsphereAgent } from '../../../contracts/crds/vsphere-agent.ts';
import { vsphereAgentPool } from '../../../contracts/kinds/resources.ts';
import { neighbourResources, resources, typed } from '../../../runtime/kubernetes/resources.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { readNodes } from './read-nodes.ts';

/** What there is, and what is to be done about it. */
export interface World {
  pool: VsphereAgentPool;
  /** Of every pool of the namespace. */
  vsphereAgents: VsphereAgent[];
  agents: Agent[];
  judged: JudgedPool;
}

export type OfPool = { namespace: string; name: string; uid: string };

/** Another pool may be anything: what it lacks makes it none of this NodePool. */
const anyPool = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    creationTimestamp: z.string(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z
    .object({ nodePoolRef: z.object({ name: z.string() }), controlPlaneNamespace: z.string() })
    .nullable()
    .catch(null),
});
const anyPools = typed(vsphereAgentPool, anyPool);
type AnyPool = z.output<typeof anyPool>;

/**
 * Everything that a pool is judged on, as it is in etcd now. A list that cannot be read whole is a failure: no Agent or
 * Machine is ever taken to be gone for that.
 *
 * @throws what the client throws (contracts/errors.ts)
 */
export async function readWorld(
  tools: Pick<AgentPoolTools, 'client' | 'scope' | 'clock' | 'openForeignCluster'>,
  pool: VsphereAgentPool,
  rules: Facts['rules'],
): Promise<World> {
  const { client, scope, clock } = tools;
  const { namespace = '' } = pool.metadata;
  const { controlPlaneNamespace } = pool.spec;
  const [pools, vsphereAgents, agentMachines, agents] = await Promise.all([
    client.list(anyPools, { namespace }, scope.signal),
    client.list(resources.VsphereAgent, { namespace }, scope.signal),
    client.list(neighbourResources.AgentMachine, { namespace: controlPlaneNamespace }, scope.signal),
    client.list(neighbourResources.Agent, { namespace }, scope.signal),
  ]);
  // Afterwards: the Machine of an AgentMachine that was read is there, unless it is gone.
  const machines = await client.list(
    neighbourResources.ClusterMachine,
    { namespace: controlPlaneNamespace },
    scope.signal,
  );
  const facts = readPool(pool);
  const of: Facts = {
    pool: facts,
    rival: findRival(pool, pools),
    agentMachines: agentMachines.map((one) => readAgentMachine(one, facts)),
    machines: machines.map(readMachine),
    agents: agents.map(readAgent),
    vms: vsphereAgents.map(readVsphereAgent),
    nodes: 'unasked',
    rules,
    nowMs: clock.now(),
  };
  const judged = judgePool(of);
  return {
    pool,
    vsphereAgents,
    agents,
    judged: judged.needsNodes ? judgePool({ ...of, nodes: await readNodes(tools, pool) }) : judged,
  };
}

/** The oldest of those that name the same NodePool has it. */
function findRival({ metadata, spec }: VsphereAgentPool, pools: readonly AnyPool[]): string | null {
  const [first] = pools
    .filter(
      (one) =>
        one.spec?.nodePoolRef.name === spec.nodePoolRef.name &&
        one.spec.controlPlaneNamespace === spec.controlPlaneNamespace &&
        (one.metadata.deletionTimestamp === undefined || one.metadata.uid === metadata.uid),
    )
    .toSorted((one, other) => {
      const [a, b] = [one, other].map((pool) => Date.parse(pool.metadata.creationTimestamp)) as [number, number];
      return a - b || (one.metadata.name < other.metadata.name ? -1 : 1);
    });
  return first === undefined || first.metadata.uid === metadata.uid ? null : first.metadata.name;
}

/** Null: there is no such pool any more. */
export async function findPool(
  { client, scope }: Pick<AgentPoolTools, 'client' | 'scope'>,
  { namespace, name, uid }: OfPool,
): Promise<VsphereAgentPool | null> {
  const pool = await client.get(resources.VsphereAgentPool, { namespace, name }, scope.signal);
  return pool?.metadata.uid === uid ? pool : null;
}
