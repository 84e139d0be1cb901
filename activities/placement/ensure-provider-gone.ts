import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { PlacementTools } from './dependencies.ts';
import { providersBelow } from './provider-tree.ts';
import { allocationsOf, releaseFrom } from './release-allocations.ts';
import type { ResourceProvider } from './types.ts';

/** How many consumers a failure names. */
const mostNamed = 5;

export interface ProviderDeletion {
  /** The id of the host's hypervisor, as it was registered. */
  providerId: string;
  /** Who consented that what consumers still have of it is taken away, and when; null or absent: nobody, and one with allocations stays. */
  consentBy?: string | null;
}

/**
 * Deletes the resource provider of a host that Nova does not have any more, with those below it. One with allocations only by a person's
 * consent: they may be a server's that runs somewhere (design section 2, rule 16). Safe to repeat and to run twice at once.
 *
 * @throws ProviderInUse there are allocations; some consumers are named; what `releaseAllocations` throws; Stopped
 * @see Placement API, "Delete resource provider"
 */
export async function ensureProviderGone(
  tools: PlacementTools,
  { providerId, consentBy = null }: ProviderDeletion,
): Promise<void> {
  const { placement, scope } = tools;
  const doomed = await providersBelow(placement, providerId, scope.signal);
  if (consentBy !== null) await releaseFrom(tools, doomed, consentBy);
  // Also then: what came meanwhile was not there when it was consented to.
  for (const provider of doomed) await refuseIfUsed(tools, provider);
  for (const provider of doomed) await deleteOne(tools, provider);
}

async function refuseIfUsed(tools: PlacementTools, { uuid, name }: ResourceProvider): Promise<void> {
  const consumers = Object.keys(await allocationsOf(tools, uuid));
  if (consumers.length === 0) return;
  const named = consumers.slice(0, mostNamed).join(', ');
  throw droverFailure(
    'ProviderInUse',
    `Resource provider ${uuid} (${name}) has allocations of ${consumers.length}: ${named}${consumers.length > mostNamed ? ', …' : ''}`,
  );
}

async function deleteOne(tools: PlacementTools, provider: ResourceProvider): Promise<void> {
  const { placement, scope } = tools;
  const mutation = {
    action: 'ensureProviderGone',
    cause: 'its host is decommissioned',
    object: `resource-provider/${provider.uuid}`,
    before: { name: provider.name },
    after: null,
  };
  try {
    await mutate(tools, mutation, () => placement.deleteProvider(provider.uuid, scope.signal));
  } catch (error) {
    // Somebody else may delete it at the same time.
    if (failureCode(error) !== 'HostNotFound') throw error;
  }
}
