import type { Agent } from '../../../contracts/crds/agent.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { neighbourResources } from '../../../runtime/kubernetes/resources.ts';
import { announce } from '../../kubernetes/lib/write-event.ts';
import { mutate } from '../../lib/mutate.ts';
import type { AgentPoolTools } from './dependencies.ts';

/**
 * Deletes an Agent whose VM goes, on the version that was judged. One that is being deleted is left to that.
 *
 * @throws ObjectConflict: it has changed since it was judged, and may be bound
 */
export async function deleteAgent(
  tools: Pick<AgentPoolTools, 'client' | 'clock' | 'scope' | 'stopGate' | 'audit'>,
  pool: Pick<VsphereAgentPool, 'metadata'>,
  { metadata }: Pick<Agent, 'metadata'>,
  cause: string,
): Promise<void> {
  if (metadata.deletionTimestamp !== undefined) return;
  const { client, scope } = tools;
  const { namespace = '' } = pool.metadata;
  const { name, uid, resourceVersion } = metadata;
  const mutation = {
    action: 'deleteAgent',
    cause,
    object: `assisted-agent/${namespace}/${name}`,
    before: { uid },
    after: null,
  };
  await mutate(tools, mutation, () =>
    client.delete(neighbourResources.Agent, { namespace, name, uid, resourceVersion }, scope.signal),
  );
  await announce(
    tools,
    {
      regarding: { kind: 'VsphereAgentPool', namespace, name: pool.metadata.name, uid: pool.metadata.uid },
      type: 'Normal',
      reason: 'AgentDeleted',
      message: `Agent ${name} is deleted with its VM: ${cause}`,
    },
    [uid, 'AgentDeleted'],
  );
}
