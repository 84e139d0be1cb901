import { explainError } from '../command/explain-error.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import type { CommandContext } from '../command/context.ts';
import type { ObjectReference } from '../command/object-reference.ts';
import { findRun } from '../command/object-run.ts';
import { printJson } from '../command/terminal.ts';
import { findHoldingStops } from '../operate/holding-stops.ts';
import { renderAgentPool } from '../render/agent-pool.ts';
import { type AgentPoolAccess, agentPoolAccess } from './agent-pool-access.ts';
import type { AgentPoolDescription } from './agent-pool-description.ts';
import type { AgentPoolObject, AgentPoolProgress, VsphereAgentObject } from './agent-pool-object.ts';

/** `drover describe pool`. Kubernetes and Temporal each do without the other. */
export const describeAgentPool = (context: CommandContext, reference: ObjectReference, json: boolean): Promise<void> =>
  interruptible(context, async (abort) => {
    const { terminal, clock } = context;
    const { config } = await context.loadConfig();
    await withKubernetes({ context, config, abort }, async (kubernetes) => {
      const access = agentPoolAccess(kubernetes, abort);
      const { namespace, name, object, problem } = await find(access, reference, abort);
      const [{ run, problem: ofRun }, agents, stops] = await Promise.all([
        findRun<AgentPoolProgress>(context, 'VsphereAgentPool', { namespace, name }, abort),
        findAgents(access, { namespace, name }, abort),
        findHoldingStops(kubernetes, { config, abort }, ['VsphereAgentPool', 'VsphereAgent']),
      ]);
      // It is not there, which this says, with the one that may have been meant.
      if (object === null && problem === null && run === null) await access.read({ namespace, name });
      const description: AgentPoolDescription = {
        namespace,
        name,
        object,
        agents: agents.agents,
        run,
        held: run?.progress?.held ?? object?.held ?? [],
        stops: stops.sentences,
        problems: [problem, agents.problem, ofRun, stops.problem].filter((sentence) => sentence !== null),
      };
      if (json) return printJson(terminal, description);
      for (const line of renderAgentPool(description, clock.now(), terminal.paint, terminal.widthColumns()))
        terminal.print(line);
    });
  });

interface Found {
  namespace: string;
  name: string;
  object: AgentPoolObject | null;
  problem: string | null;
}

/** With its namespace given, its run can be described without Kubernetes, and after its object is gone. */
async function find(access: AgentPoolAccess, { namespace, name }: ObjectReference, abort: AbortSignal): Promise<Found> {
  if (namespace === null) {
    const object = await access.read({ namespace, name });
    return { namespace: object.namespace, name, object, problem: null };
  }
  try {
    return { namespace, name, object: await access.find(namespace, name), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { namespace, name, object: null, problem: explainError(error).message };
  }
}

async function findAgents(
  access: AgentPoolAccess,
  pool: { namespace: string; name: string },
  abort: AbortSignal,
): Promise<{ agents: VsphereAgentObject[] | null; problem: string | null }> {
  try {
    return { agents: await access.agentsOf(pool), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { agents: null, problem: `Its VsphereAgents: ${explainError(error).message}` };
  }
}
