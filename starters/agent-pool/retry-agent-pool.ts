import { agentPoolConditions } from '../../contracts/agent-pool/metadata.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { CommandContext } from '../command/context.ts';
import { fullName, type ObjectReference } from '../command/object-reference.ts';
import { retryObject } from '../command/retry-object.ts';
import { agentAccess, poolAccess } from './agent-pool-access.ts';
import type { AgentPoolObject } from './agent-pool-object.ts';

const readyOf = ({ conditions }: Pick<AgentPoolObject, 'conditions'>) =>
  findCondition(conditions, agentPoolConditions.ready);

/** `drover retry pool`. */
export const retryAgentPool = (context: CommandContext, reference: ObjectReference, by: string): Promise<void> =>
  retryObject(
    context,
    {
      noun: 'pool',
      access: poolAccess,
      standing: readyOf,
      shows: (pool) => `drover describe pool ${fullName(pool)}`,
    },
    reference,
    by,
  );

/** `drover retry agent`. */
export const retryVsphereAgent = (context: CommandContext, reference: ObjectReference, by: string): Promise<void> =>
  retryObject(
    context,
    {
      noun: 'agent',
      access: agentAccess,
      standing: readyOf,
      shows: ({ namespace, name }) => `kubectl describe va -n ${namespace} ${name}`,
    },
    reference,
    by,
  );
