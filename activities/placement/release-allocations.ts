import { failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { PlacementTools } from './dependencies.ts';
import { providersBelow } from './provider-tree.ts';
import type { Consumer, ResourceProvider } from './types.ts';

export interface AllocationsRelease {
  /** The id of the host's hypervisor, as it was registered. */
  providerId: string;
  /** Who consented, and when: `name 2026-01-31T12:00:00Z`. */
  consentBy: string;
}

/**
 * Takes away what consumers still have of a resource provider and of those below it, because a person said so (design section 2, rule 16):
 * it may be a server's that runs somewhere, so each consumer is named in the audit log, and what it has of other providers stays. Safe to
 * repeat and to run twice at once.
 *
 * @throws ConsumerConflict somebody wrote the consumer meanwhile; RequestRefused what is left of it no longer fits where it is; Stopped
 * @see Placement API, "Update allocations", microversion 1.28: what is empty is deleted, and only in the generation that was read
 */
export async function releaseAllocations(
  tools: PlacementTools,
  { providerId, consentBy }: AllocationsRelease,
): Promise<void> {
  await releaseFrom(tools, await providersBelow(tools.placement, providerId, tools.scope.signal), consentBy);
}

/** As {@link releaseAllocations}, of providers that were looked up. */
export async function releaseFrom(
  tools: PlacementTools,
  found: readonly ResourceProvider[],
  consentBy: string,
): Promise<void> {
  const providers = found.map(({ uuid }) => uuid);
  const consumers = new Set<string>();
  for (const uuid of providers)
    for (const consumer of Object.keys(await allocationsOf(tools, uuid))) consumers.add(consumer);
  for (const consumer of consumers) await releaseOne(tools, consumer, providers, consentBy);
}

/** Nothing where the provider is gone. */
export async function allocationsOf(
  { placement, scope }: Pick<PlacementTools, 'placement' | 'scope'>,
  uuid: string,
): Promise<Record<string, object>> {
  try {
    return await placement.providerAllocations(uuid, scope.signal);
  } catch (error) {
    if (failureCode(error) === 'HostNotFound') return {};
    throw error;
  }
}

async function releaseOne(
  tools: PlacementTools,
  consumer: string,
  providers: readonly string[],
  consentBy: string,
): Promise<void> {
  const { placement, scope } = tools;
  const before = await placement.consumer(consumer, scope.signal);
  if (before === null) return;
  const [released, kept] = divide(before.allocations, providers);
  if (Object.keys(released).length === 0) return;
  const mutation = {
    action: 'releaseAllocations',
    cause: `its host is decommissioned; consented by ${consentBy}`,
    object: `allocations/${consumer}`,
    before: released,
    after: Object.keys(kept).length === 0 ? null : kept,
  };
  await mutate(tools, mutation, () =>
    placement.rewriteConsumer(consumer, { ...before, allocations: kept }, scope.signal),
  );
}

type Allocations = Consumer['allocations'];

/** Of those providers, and of all others. */
function divide(allocations: Allocations, providers: readonly string[]): [released: Allocations, kept: Allocations] {
  const of = (isReleased: boolean): Allocations =>
    Object.fromEntries(Object.entries(allocations).filter(([uuid]) => providers.includes(uuid) === isReleased));
  return [of(true), of(false)];
}
