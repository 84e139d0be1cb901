import type { AgentPoolActivities } from '../../../contracts/agent-pool/agent-pool.ts';
import { agentPoolFinalizer } from '../../../contracts/agent-pool/metadata.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { patchFinalizer } from '../../kubernetes/lib/patch-finalizer.ts';
import { contextOf } from '../../lib/context.ts';
import { whileBeating } from '../../lib/wait.ts';
import { createVsphereAgents } from './create-agents.ts';
import { deleteMachines } from './delete-machines.ts';
import type { AgentPoolDependencies, AgentPoolTools, Looks } from './dependencies.ts';
import { observeAgentPool } from './observe.ts';
import { pinAgentMachines, prepareAgents } from './prepare-agents.ts';
import { publishAgentPool } from './publish.ts';
import { destroyStrays, releaseVsphereAgents } from './release-agents.ts';

/** Activities on VsphereAgentPools, queue `agents`. They heartbeat, so that a worker that dies is replaced soon. */
export function createAgentPoolActivities(
  dependencies: AgentPoolDependencies,
): Omit<AgentPoolActivities, 'refreshIso' | 'removeIsos'> {
  const looks: Looks = new Map();
  const tools = (): AgentPoolTools => ({ ...contextOf(dependencies), looks });
  const beating = <Result>(work: (own: AgentPoolTools) => Promise<Result>): Promise<Result> => {
    const own = tools();
    return whileBeating(
      own,
      () => undefined,
      () => work(own),
    );
  };
  return {
    observeAgentPool: (input) => beating((own) => observeAgentPool(own, input)),
    patchAgentPoolFinalizer: ({ namespace, name, uid, present }) =>
      patchFinalizer(tools(), resources.VsphereAgentPool, {
        key: { namespace, name },
        uid,
        finalizer: agentPoolFinalizer,
        present,
        action: 'patchAgentPoolFinalizer',
        object: `agent-pool/${namespace}/${name}`,
      }),
    createVsphereAgents: (request) => beating((own) => createVsphereAgents(own, request)),
    prepareAgents: (request) => beating((own) => prepareAgents(own, request)),
    releaseVsphereAgents: (request) => beating((own) => releaseVsphereAgents(own, request)),
    deleteMachines: (request) => beating((own) => deleteMachines(own, request)),
    pinAgentMachines: (request) => beating((own) => pinAgentMachines(own, request)),
    destroyStrays: (request) => beating((own) => destroyStrays(own, request)),
    publishAgentPool: (request) => beating((own) => retryConflicts(() => publishAgentPool(own, request))),
  };
}
