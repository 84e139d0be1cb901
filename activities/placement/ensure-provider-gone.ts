import { droverFailure } from '../../runtime/failure.ts';
import { record } from '../nova/dependencies.ts';
import { codeOf } from '../nova/failures.ts';
import type { PlacementTools } from './dependencies.ts';
import type { PlacementClient, ResourceProvider } from './types.ts';

/** How many consumers a failure names. */
const mostNamed = 5;

/**
 * Deletes the resource provider of a host that Nova does not have any more, with those below it. Never one with allocations: they may be a
 * server's that runs somewhere (design section 2, rule 16). Safe to repeat and to run twice at once.
 *
 * @param request.providerId the id of the host's hypervisor, as it was registered
 * @throws ProviderInUse there are allocations; some consumers are named; Stopped
 * @see Placement API, "Delete resource provider"
 */
export async function ensureProviderGone(tools: PlacementTools, { providerId }: { providerId: string }): Promise<void> {
  const { placement, scope } = tools;
  const found = await placement.providerByUuid(providerId, scope.signal);
  if (found === null) return;
  const tree = await placement.resourceProviders({ inTree: providerId }, scope.signal);
  const doomed = leavesFirst(found, tree);
  for (const provider of doomed) await refuseIfUsed(placement, provider, scope.signal);
  for (const provider of doomed) await deleteOne(tools, provider);
}

/** The provider and all below it, each before the one above it. A tree may hold others than those. */
export function leavesFirst(top: ResourceProvider, tree: readonly ResourceProvider[]): ResourceProvider[] {
  const below = tree.filter(({ parentUuid, uuid }) => parentUuid === top.uuid && uuid !== top.uuid);
  return [...below.flatMap((child) => leavesFirst(child, tree.filter(({ uuid }) => uuid !== top.uuid))), top];
}

async function refuseIfUsed(placement: PlacementClient, { uuid, name }: ResourceProvider, signal: AbortSignal): Promise<void> {
  const consumers = Object.keys((await unlessGone(placement.providerAllocations(uuid, signal))) ?? {});
  if (consumers.length === 0) return;
  const named = consumers.slice(0, mostNamed).join(', ');
  throw droverFailure('ProviderInUse', `Resource provider ${uuid} (${name}) has allocations of ${consumers.length}: ${named}${consumers.length > mostNamed ? ', …' : ''}`);
}

async function deleteOne(tools: PlacementTools, provider: ResourceProvider): Promise<void> {
  const { placement, scope, stopGate } = tools;
  await stopGate(scope.signal);
  const answer = await unlessGone(placement.deleteProvider(provider.uuid, scope.signal));
  if (answer === null) return;
  await record(tools, {
    action: 'ensureProviderGone',
    cause: 'its host is decommissioned',
    object: `resource-provider/${provider.uuid}`,
    before: { name: provider.name },
    after: null,
    requestId: answer.requestId,
  });
}

/** Somebody else may delete it at the same time. */
async function unlessGone<Result>(answer: Promise<Result>): Promise<Result | null> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === 'HostNotFound') return null;
    throw error;
  }
}
