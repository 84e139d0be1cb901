import type { Consumer, Inventory, PlacementState, Provider, Resources } from '../model.ts';

/** What can be taken of a class of resources. */
export const capacityOf = ({ total, reserved, allocation_ratio: ratio }: Inventory): number =>
  Math.floor((total - reserved) * ratio);

/** What consumers have of a provider. */
export function usedOf({ consumers }: PlacementState, provider: string): Resources {
  const used: Resources = {};
  for (const { allocations } of consumers.values()) {
    for (const [name, amount] of Object.entries(allocations[provider] ?? {})) used[name] = (used[name] ?? 0) + amount;
  }
  return used;
}

/** Whether a provider can give that much more. */
export function hasRoom(
  state: PlacementState,
  provider: Provider,
  wanted: Resources,
  used = usedOf(state, provider.uuid),
): boolean {
  return Object.entries(wanted).every(([name, amount]) => {
    const inventory = provider.inventories[name];
    if (inventory === undefined) return false;
    const fits = amount >= inventory.min_unit && amount <= inventory.max_unit && amount % inventory.step_size === 0;
    return fits && (used[name] ?? 0) + amount <= capacityOf(inventory);
  });
}

/**
 * Writes what a consumer has, all of it. Providers' generations go up, those that it had something of and those that it
 * has something of. Nothing left: the consumer is gone.
 */
export function writeAllocations(
  state: PlacementState,
  consumerId: string,
  allocations: Record<string, Resources>,
  as: Pick<Consumer, 'projectId' | 'userId' | 'type'>,
): void {
  const before = state.consumers.get(consumerId);
  for (const uuid of new Set([...Object.keys(before?.allocations ?? {}), ...Object.keys(allocations)])) {
    const provider = state.providers.get(uuid);
    if (provider !== undefined) provider.generation += 1;
  }
  if (Object.keys(allocations).length === 0) state.consumers.delete(consumerId);
  else state.consumers.set(consumerId, { ...as, generation: (before?.generation ?? 0) + 1, allocations });
}

/** Of one more provider, besides what the consumer has. */
export function addAllocation(
  state: PlacementState,
  consumerId: string,
  provider: string,
  resources: Resources,
  as: Pick<Consumer, 'projectId' | 'userId'>,
): void {
  const before = state.consumers.get(consumerId)?.allocations ?? {};
  const had = before[provider] ?? {};
  const sum = Object.fromEntries(
    [...new Set([...Object.keys(had), ...Object.keys(resources)])].map((name) => [
      name,
      (had[name] ?? 0) + (resources[name] ?? 0),
    ]),
  );
  writeAllocations(state, consumerId, { ...before, [provider]: sum }, { ...as, type: 'INSTANCE' });
}

/** Takes what a consumer has of a provider, and leaves the rest. */
export function dropAllocation(state: PlacementState, consumerId: string, provider: string): void {
  const before = state.consumers.get(consumerId);
  if (before?.allocations[provider] === undefined) return;
  const { [provider]: _, ...rest } = before.allocations;
  writeAllocations(state, consumerId, rest, before);
}

export function dropConsumer(state: PlacementState, consumerId: string): void {
  const before = state.consumers.get(consumerId);
  if (before !== undefined) writeAllocations(state, consumerId, {}, before);
}

/** What one consumer has becomes the other's. */
export function moveAllocations(state: PlacementState, from: string, to: string, type: string): void {
  const before = state.consumers.get(from);
  if (before === undefined) return;
  writeAllocations(state, from, {}, before);
  writeAllocations(state, to, before.allocations, { ...before, type });
}

export const childrenOf = ({ providers }: PlacementState, uuid: string): Provider[] =>
  [...providers.values()].filter(({ parentUuid }) => parentUuid === uuid);

export const consumersOf = ({ consumers }: PlacementState, provider: string): [string, Consumer][] =>
  [...consumers].filter(([, { allocations }]) => allocations[provider] !== undefined);
