import pLimit, { type LimitFunction } from 'p-limit';

import type { AgentPoolActivities } from '../../../contracts/agent-pool/agent-pool.ts';
import { type ActivityContext, type ForActivities, contextOf } from '../../lib/context.ts';
import type { IsoPorts, IsoTools } from './iso-tools.ts';
import { refreshIso } from './refresh-iso.ts';
import { removeIsos } from './remove-isos.ts';

/** What the composition root gives to the activities that refresh and remove ISOs. */
export type IsoDependencies = ForActivities<ActivityContext> & IsoPorts;

/** Queue `agents`. One for each worker: it downloads one ISO at a time. */
export function createIsoActivities(
  dependencies: IsoDependencies,
): Pick<AgentPoolActivities, 'refreshIso' | 'removeIsos'> {
  const turns = new Map<string, LimitFunction>();
  const scannedMs = new Map<string, number>();
  const turnOf = (store: string): LimitFunction => {
    const turn = turns.get(store) ?? pLimit(1);
    turns.set(store, turn);
    return turn;
  };
  const tools = (): IsoTools => ({ ...contextOf(dependencies), turnOf, scannedMs });
  return {
    refreshIso: (request) => refreshIso(tools(), request),
    removeIsos: (request) => removeIsos(tools(), request),
  };
}
