import type { EvacuationRequest, EvacuationWait, ForcedDownRequest } from '../../contracts/node-failure/fencing.ts';
import { currentScope } from '../lib/context.ts';
import {
  type AllocationsRelease,
  type ProviderDeletion,
  ensureProviderGone,
  releaseAllocations,
} from '../placement/ensure-provider-gone.ts';
import { type TraitsRequest, ensureTraits } from '../placement/ensure-traits.ts';
import type { PlacementClient } from '../placement/types.ts';
import { awaitEvacuation } from './await-migration.ts';
import type { NovaDependencies } from './dependencies.ts';
import {
  type MembershipRequest,
  addToAggregates,
  ensureInAggregates,
  removeFromAggregates,
} from './ensure-in-aggregates.ts';
import { ensureServiceDeleted } from './ensure-service-deleted.ts';
import { ensureForcedDown, ensureServiceDisabled, ensureServiceEnabled } from './ensure-service.ts';
import { findRegistration } from './find-registration.ts';
import { type SmokeCheckRequest, runSmokeCheck } from './run-smoke-check.ts';
import { createSharedLook } from './shared-look.ts';
import { type SmokeServersGone, ensureSmokeServerGone, findSmokeServers } from './smoke-server.ts';
import { startEvacuation } from './start-evacuation.ts';

export interface HypervisorDependencies extends NovaDependencies {
  placement: PlacementClient;
}

/** What the lifecycle of a hypervisor changes in Nova and Placement, queue `nova:<region>`. Arguments and results are plain data. */
export function createHypervisorActivities(deps: HypervisorDependencies) {
  const { clock, scope = currentScope } = deps;
  const sharedLook = createSharedLook(deps.nova, clock);
  const tools = () => ({ ...deps, sharedLook, scope: scope(clock) });
  return {
    findRegistration: ({ hypervisor }: { hypervisor: string }) =>
      findRegistration(deps.nova, hypervisor, tools().scope.signal),
    ensureServiceDisabled: (request: { host: string; reason: string }) => ensureServiceDisabled(tools(), request),
    ensureServiceEnabled: (request: { host: string; carrying?: string | null }) =>
      ensureServiceEnabled(tools(), request),
    ensureForcedDown: (request: ForcedDownRequest) => ensureForcedDown(tools(), request),
    ensureServiceDeleted: (request: { host: string; serviceId: string }) => ensureServiceDeleted(tools(), request),
    addToAggregates: (request: MembershipRequest) => addToAggregates(tools(), request),
    removeFromAggregates: (request: MembershipRequest) => removeFromAggregates(tools(), request),
    ensureInAggregates: (request: { host: string; names: readonly string[] }) => ensureInAggregates(tools(), request),
    startEvacuation: (request: EvacuationRequest) => startEvacuation(tools(), request),
    awaitEvacuation: (request: EvacuationWait) => awaitEvacuation(tools(), request),
    findSmokeServers: async ({ host }: { host: string }) => (await findSmokeServers(tools(), host)).map(({ id }) => id),
    runSmokeCheck: (request: SmokeCheckRequest) => runSmokeCheck(tools(), request),
    ensureSmokeServerGone: (request: SmokeServersGone) => ensureSmokeServerGone(tools(), request),
    ensureTraits: (request: TraitsRequest) => ensureTraits(tools(), request),
    ensureProviderGone: (request: ProviderDeletion) => ensureProviderGone(tools(), request),
    releaseAllocations: (request: AllocationsRelease) => releaseAllocations(tools(), request),
  };
}
