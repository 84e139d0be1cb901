import type { AgentPoolActivities, WantedAgent } from '../../../contracts/agent-pool/agent-pool.ts';
import {
  agentPoolAnnotations,
  agentPoolLabels,
  surge,
  vsphereAgentFinalizer,
} from '../../../contracts/agent-pool/metadata.ts';
import { labelValue, templateDigest } from '../../../contracts/agent-pool/name-agents.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { failureDetail } from '../../../runtime/failure.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { findPool } from './read-world.ts';
import { firstRefusal } from './refusals.ts';

/** The Event is written here: before the status says what is planned, it is done. */
export async function createVsphereAgents(
  tools: AgentPoolTools,
  { agents, ...of }: Parameters<AgentPoolActivities['createVsphereAgents']>[0],
): Promise<{ refused: string | null }> {
  const pool = await findPool(tools, of);
  if (pool === null || pool.metadata.deletionTimestamp !== undefined) return { refused: null };
  const made: string[] = [];
  const refusal = await firstRefusal(agents, async (wanted) => {
    await create(tools, pool, wanted);
    made.push(wanted.name);
  });
  if (made.length > 0) await announceMade(tools, pool, made);
  return { refused: refusal === null ? null : failureDetail(refusal).slice(0, 1_000) };
}

const fewNames = 20;

async function announceMade(tools: AgentPoolTools, { metadata }: VsphereAgentPool, made: string[]): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  const names = `${made.slice(0, fewNames).join(', ')}${made.length > fewNames ? ', ...' : ''}`;
  await announce(
    tools,
    {
      regarding: { kind: 'VsphereAgentPool', namespace, name, uid },
      type: 'Normal',
      reason: 'PlanApplied',
      message: `created ${made.length} VsphereAgent(s): ${names}`,
    },
    [uid, String(tools.scope.scheduledMs), ...made],
  );
}

async function create(tools: AgentPoolTools, pool: VsphereAgentPool, wanted: WantedAgent): Promise<void> {
  const { namespace = '', name } = pool.metadata;
  const object = newAgent(pool, wanted);
  const mutation = {
    action: 'createVsphereAgent',
    cause:
      wanted.agentMachine === null
        ? 'it stands ready before a Machine of another template is deleted'
        : `AgentMachine ${wanted.agentMachine} waits for an Agent`,
    object: `agent/${namespace}/${wanted.name}`,
    before: null,
    after: { pool: `${namespace}/${name}`, vmName: wanted.vmName },
  };
  await mutate(tools, mutation, () => tools.client.create(resources.VsphereAgent, object, tools.scope.signal));
}

/** Whole at once: one that is only half there could lose its VM. */
const newAgent = (pool: VsphereAgentPool, { name, vmName, agentMachine }: WantedAgent) => ({
  metadata: {
    name,
    namespace: pool.metadata.namespace,
    labels: {
      [agentPoolLabels.pool]: labelValue(pool.metadata.name),
      ...(agentMachine === null
        ? { [agentPoolLabels.createdFor]: surge }
        : {
            [agentPoolLabels.createdFor]: 'agent-machine',
            [agentPoolLabels.agentMachine]: labelValue(agentMachine),
          }),
    },
    annotations: {
      [agentPoolAnnotations.vmName]: vmName,
      [agentPoolAnnotations.templateDigest]: templateDigest(pool.spec),
    },
    finalizers: [vsphereAgentFinalizer],
  },
  spec: { poolRef: { name: pool.metadata.name } },
});
