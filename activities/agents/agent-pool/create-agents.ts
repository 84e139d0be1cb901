import type { ApplicationFailure } from '@temporalio/common';

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
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import type { AgentPoolTools } from './dependencies.ts';
import { findPool } from './read-world.ts';

/**
 * One after another, as the first that is refused says why the others would be. The Event is written here: before the
 * status says what is planned, it is done.
 */
export async function createVsphereAgents(
  tools: AgentPoolTools,
  { agents, ...of }: Parameters<AgentPoolActivities['createVsphereAgents']>[0],
): Promise<{ refused: string | null }> {
  const pool = await findPool(tools, of);
  if (pool === null || pool.metadata.deletionTimestamp !== undefined) return { refused: null };
  const made: string[] = [];
  let refused: string | null = null;
  for (const wanted of agents) {
    refused = await create(tools, pool, wanted);
    if (refused !== null) break;
    made.push(wanted.name);
  }
  if (made.length > 0) await announceMade(tools, pool, made);
  return { refused };
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

async function create(tools: AgentPoolTools, pool: VsphereAgentPool, wanted: WantedAgent): Promise<string | null> {
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
  try {
    await mutate(tools, mutation, () => tools.client.create(resources.VsphereAgent, object, tools.scope.signal));
    return null;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return failureDetail(error).slice(0, 1_000);
  }
}

/** By a quota, or by an admission webhook or policy; what drover lacks is a failure of the run. */
function isRefused(error: unknown): error is ApplicationFailure {
  if (isFailure(error, 'ObjectRefused')) return true;
  return isFailure(error, 'KubernetesForbidden') && !/cannot create resource/u.test(error.message);
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
