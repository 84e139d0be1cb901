import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { Consumer, PlacementClient, PlacementTools, ResourceProvider } from './types.ts';

/** How many consumers a failure names. */
const mostNamed = 5;

export interface ProviderDeletion {
  /** The id of the host's hypervisor, as it was registered. */
  providerId: string;
  /**
   * Who consented that what consumers still have of it is taken away, and when; null or absent: no user, and one with
   * allocations stays.
   */
  consentBy?: string | null;
}

/**
 * Deletes the resource provider of a host that Nova does not have any more, with those below it. One with allocations
 * only by a person's consent: they may be a server's that runs somewhere (docs/rules.md#consent). Safe to repeat and to
 * run twice at once.
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
    // Another client may delete it at the same time.
    if (failureCode(error) !== 'HostNotFound') throw error;
  }
}

export interface AllocationsRelease {
  /** The id of the host's hypervisor, as it was registered. */
  providerId: string;
  /** Who consented, and when: `name 2026-01-31T12:00:00Z`. */
  consentBy: string;
}

/**
 * Takes away what consumers still have of a resource provider and of those below it, because a person said so
 * (docs/rules.md#consent): it may be a server's that runs somewhere, so each consumer is named in the audit log, and
 * what it has of other providers stays. Safe to repeat and to run twice at once.
 *
 * @throws ConsumerConflict another client wrote the consumer meanwhile; RequestRefused what is left of it no longer
 * fits where it is; Stopped
 * @see Placement API, "Update allocations", microversion 1.28: what is empty is deleted, and only in the generation
 * that was read
 */
export async function releaseAllocations(
  tools: PlacementTools,
  { providerId, consentBy }: AllocationsRelease,
): Promise<void> {
  await releaseFrom(tools, await providersBelow(tools.placement, providerId, tools.scope.signal), consentBy);
}

/** As {@link releaseAllocations}, of providers that were looked up. */
async function releaseFrom(
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
async function allocationsOf(
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

/** A provider and all below it, each before the one above it; empty where there is none. */
async function providersBelow(
  placement: PlacementClient,
  providerId: string,
  signal: AbortSignal,
): Promise<ResourceProvider[]> {
  const found = await placement.providerByUuid(providerId, signal);
  return found === null ? [] : leavesFirst(found, await placement.resourceProviders({ inTree: providerId }, signal));
}

/** Pure. A tree may hold others than those. */
export function leavesFirst(top: ResourceProvider, tree: readonly ResourceProvider[]): ResourceProvider[] {
  const below = tree.filter(({ parentUuid, uuid }) => parentUuid === top.uuid && uuid !== top.uuid);
  return [
    ...below.flatMap((child) =>
      leavesFirst(
        child,
        tree.filter(({ uuid }) => uuid !== top.uuid),
      ),
    ),
    top,
  ];
}
