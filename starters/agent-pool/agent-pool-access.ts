import { type ObjectAccess, objectAccess, type ObjectCalls } from '../command/object-access.ts';
import type { AgentPoolObject, VsphereAgentObject } from './agent-pool-object.ts';
import { shownAgents, shownPools } from './agent-pool-objects.ts';

/** Agent pools as commands use them. */
export const poolAccess = (kubernetes: ObjectCalls, abort: AbortSignal): ObjectAccess<AgentPoolObject> =>
  objectAccess(kubernetes, { noun: 'pool', resource: shownPools }, abort);

/** VsphereAgents as commands use them. */
export const agentAccess = (kubernetes: ObjectCalls, abort: AbortSignal): ObjectAccess<VsphereAgentObject> =>
  objectAccess(kubernetes, { noun: 'agent', resource: shownAgents }, abort);

export const agentsOf = async (
  access: ObjectAccess<VsphereAgentObject>,
  { namespace, name }: { namespace: string; name: string },
): Promise<VsphereAgentObject[]> => (await access.list(namespace)).found.filter(({ pool }) => pool === name);
