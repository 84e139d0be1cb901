import type { PlacementClient, ResourceProvider } from './types.ts';

/** A provider and all below it, each before the one above it; empty where there is none. */
export async function providersBelow(
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
