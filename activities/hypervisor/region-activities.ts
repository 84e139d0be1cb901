import type { HypervisorRegionActivities } from '../../contracts/hypervisor/activities.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import type { NovaDependencies } from '../nova/dependencies.ts';
import { addToAggregates, removeFromAggregates } from '../nova/ensure-in-aggregates.ts';
import { ensureServiceDeleted } from '../nova/ensure-service.ts';
import { createSharedRead } from '../nova/follow-migration.ts';
import { ensureSmokeServerGone } from '../nova/smoke-server.ts';
import { ensureProviderGone, releaseAllocations } from '../placement/ensure-provider-gone.ts';
import { ensureTraits } from '../placement/ensure-traits.ts';
import type { PlacementClient } from '../placement/types.ts';
import { type DriftTools, findDrift } from './find-drift.ts';

export interface RegionDependencies extends NovaDependencies {
  placement: PlacementClient;
  /** Of the kind Hypervisor. */
  mode: DriftTools['mode'];
  listHypervisors: DriftTools['listHypervisors'];
  isFailureRunOpen: DriftTools['isFailureRunOpen'];
  signal: DriftTools['signal'];
}

/**
 * What the run of a hypervisor changes in Nova and Placement, besides what evictions have too; queue `nova:<region>`.
 */
export function createHypervisorRegionActivities(
  deps: RegionDependencies,
): Omit<HypervisorRegionActivities, 'ensureServiceDisabled' | 'ensureServiceEnabled'> {
  const { clock, scope = currentScope } = deps;
  const sharedRead = createSharedRead(deps.nova, clock);
  const tools = () => ({ ...deps, sharedRead, scope: scope(clock) });
  return {
    findDrift: () => {
      const all = tools();
      return whileBeating(
        all,
        () => undefined,
        () => findDrift({ ...all, nowMs: clock.now() }),
      );
    },
    async changeAggregates({ host, changes }) {
      for (const { kind, aggregates } of changes)
        await (kind === 'add' ? addToAggregates : removeFromAggregates)(tools(), { host, aggregates });
    },
    ensureSmokeServerGone: (request) => ensureSmokeServerGone(tools(), request),
    ensureServiceDeleted: (request) => ensureServiceDeleted(tools(), request),
    updateTraits: async ({ providerId, add, remove }) =>
      void (await ensureTraits(tools(), { providerId, wanted: add, owned: remove })),
    ensureProviderGone: ({ providerId, consentBy }) => ensureProviderGone(tools(), { providerId, consentBy }),
    releaseAllocations: (request) => releaseAllocations(tools(), request),
  };
}
