import type { CommandContext } from '../command/context.ts';
import { describeObject } from '../command/describe-object.ts';
import { explainError } from '../command/explain-error.ts';
import type { ObjectAccess } from '../command/object-access.ts';
import type { ObjectReference } from '../command/object-reference.ts';
import { renderAgentPool } from '../render/agent-pool.ts';
import { agentAccess, agentsOf, poolAccess } from './agent-pool-access.ts';
import type { AgentPoolDescription } from './agent-pool-description.ts';
import type { AgentPoolObject, AgentPoolProgress, VsphereAgentObject } from './agent-pool-object.ts';

/** `drover describe pool`. */
export const describeAgentPool = (context: CommandContext, reference: ObjectReference, json: boolean): Promise<void> =>
  describeObject<AgentPoolObject, AgentPoolProgress, AgentPoolDescription>(
    context,
    {
      kind: 'VsphereAgentPool',
      heldBy: ['VsphereAgentPool', 'VsphereAgent'],
      access: poolAccess,
      async complete(description, { kubernetes, abort }) {
        const { object, run, problems } = description;
        const { agents, problem } = await findAgents(agentAccess(kubernetes, abort), description, abort);
        return {
          ...description,
          agents,
          held: run?.progress?.held ?? object?.held ?? [],
          problems: problem === null ? problems : [...problems, problem],
        };
      },
      render: renderAgentPool,
    },
    reference,
    json,
  );

async function findAgents(
  access: ObjectAccess<VsphereAgentObject>,
  pool: { namespace: string; name: string },
  abort: AbortSignal,
): Promise<{ agents: VsphereAgentObject[] | null; problem: string | null }> {
  try {
    return { agents: await agentsOf(access, pool), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { agents: null, problem: `Its VsphereAgents: ${explainError(error).message}` };
  }
}
