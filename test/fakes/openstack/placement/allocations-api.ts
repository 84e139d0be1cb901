import type { Provider, Resources } from '../model.ts';
import type { Routes } from '../wire.ts';
import { concurrentUpdate, noContent, ok, refused, type PlacementCall } from './call.ts';
import { conditionsOf, meets } from './conditions.ts';
import { capacityOf, dropConsumer, usedOf, writeAllocations } from './state.ts';

interface AllocationsBody {
  allocations: Record<string, { resources: Resources }>;
  consumer_generation: number | null;
  project_id: string;
  user_id: string;
  consumer_type?: string;
}

function showConsumer(call: PlacementCall, id: string) {
  const { placement } = call.cloud.model;
  const consumer = placement.consumers.get(id);
  if (consumer === undefined) return ok({ allocations: {} });
  const allocations = Object.entries(consumer.allocations).map(([uuid, resources]) => [
    uuid,
    { generation: placement.providers.get(uuid)?.generation ?? 0, resources },
  ]);
  return ok({
    allocations: Object.fromEntries(allocations) as object,
    project_id: consumer.projectId,
    user_id: consumer.userId,
    consumer_generation: consumer.generation,
    ...(call.request.minor >= 38 ? { consumer_type: consumer.type } : {}),
  });
}

function putConsumer(call: PlacementCall, id: string) {
  const { placement } = call.cloud.model;
  const body = call.request.body as AllocationsBody;
  const before = placement.consumers.get(id);
  if ((before?.generation ?? null) !== body.consumer_generation) {
    const reason =
      before === undefined
        ? `expected null but got ${body.consumer_generation}`
        : `expected ${before.generation} but got ${body.consumer_generation ?? 'None'}`;
    throw refused(call, 409, `consumer generation conflict - ${reason}`, concurrentUpdate);
  }
  const allocations = Object.fromEntries(
    Object.entries(body.allocations).map(([uuid, { resources }]) => [uuid, resources]),
  );
  for (const [uuid, resources] of Object.entries(allocations)) {
    const provider = placement.providers.get(uuid);
    if (provider === undefined)
      throw refused(call, 400, `Allocation for resource provider '${uuid}' that does not exist.`);
    needRoom(call, provider, resources, before?.allocations[uuid] ?? {});
  }
  const type = body.consumer_type ?? before?.type ?? 'unknown';
  writeAllocations(placement, id, allocations, { projectId: body.project_id, userId: body.user_id, type });
  return noContent;
}

/** What the consumer had of it is free for it. */
function needRoom(call: PlacementCall, provider: Provider, wanted: Resources, had: Resources): void {
  const used = usedOf(call.cloud.model.placement, provider.uuid);
  for (const [name, amount] of Object.entries(wanted)) {
    const inventory = provider.inventories[name];
    const on = `on resource provider '${provider.uuid}'`;
    if (inventory === undefined)
      throw refused(
        call,
        409,
        `Unable to allocate inventory: Unable to create allocation for '${name}' ${on}. The requested amount would exceed the capacity.`,
      );
    if (amount < inventory.min_unit || amount > inventory.max_unit || amount % inventory.step_size !== 0) {
      throw refused(
        call,
        409,
        `Unable to allocate inventory: Unable to create allocation for '${name}' ${on}. The requested amount would violate inventory constraints.`,
      );
    }
    if ((used[name] ?? 0) - (had[name] ?? 0) + amount > capacityOf(inventory)) {
      throw refused(
        call,
        409,
        `Unable to allocate inventory: Unable to create allocation for '${name}' ${on}. The requested amount would exceed the capacity.`,
      );
    }
  }
}

/**
 * Each tree of providers can be one way: every class of resources from the first of its providers that has room for it.
 */
function candidates(call: PlacementCall) {
  const { placement } = call.cloud.model;
  const conditions = conditionsOf(call);
  const most = Number(call.request.query.get('limit') ?? Infinity);
  const roots = [...placement.providers.values()].filter(({ parentUuid }) => parentUuid === null);
  const found: Record<string, { resources: Resources }>[] = [];
  const summaries: Record<string, object> = {};
  for (const root of roots) {
    if (found.length >= most) break;
    const tree = [...placement.providers.values()].filter(({ rootUuid }) => rootUuid === root.uuid);
    const allocations = allocate(call, root, tree, conditions);
    if (allocations === null) continue;
    found.push(allocations);
    for (const provider of tree) summaries[provider.uuid] = summaryOf(call, provider);
  }
  return ok({
    allocation_requests: found.map((allocations) => ({ allocations, mappings: { '': Object.keys(allocations) } })),
    provider_summaries: summaries,
  });
}

function allocate(
  { cloud }: PlacementCall,
  root: Provider,
  tree: readonly Provider[],
  conditions: ReturnType<typeof conditionsOf>,
): Record<string, { resources: Resources }> | null {
  const { placement } = cloud.model;
  // Traits and aggregates are the root's; resources may lie below it.
  if (!meets(placement, root, { ...conditions, resources: {} })) return null;
  const allocations: Record<string, { resources: Resources }> = {};
  for (const [name, amount] of Object.entries(conditions.resources)) {
    const giver = tree.find((provider) =>
      meets(placement, provider, {
        resources: { [name]: amount },
        required: [],
        forbidden: [],
        memberOf: [],
        inTree: null,
      }),
    );
    if (giver === undefined) return null;
    allocations[giver.uuid] = { resources: { ...allocations[giver.uuid]?.resources, [name]: amount } };
  }
  return allocations;
}

function summaryOf({ cloud }: PlacementCall, { uuid, inventories, traits, parentUuid, rootUuid }: Provider): object {
  const used = usedOf(cloud.model.placement, uuid);
  const resources = Object.fromEntries(
    Object.entries(inventories).map(([name, one]) => [name, { capacity: capacityOf(one), used: used[name] ?? 0 }]),
  );
  return { resources, traits: [...traits], parent_provider_uuid: parentUuid, root_provider_uuid: rootUuid };
}

function listTraits({ cloud, request }: PlacementCall) {
  const name = request.query.get('name');
  const all = [...cloud.model.placement.traits].toSorted();
  if (name === null) return ok({ traits: all });
  const value = name.slice(name.indexOf(':') + 1);
  const isWanted = (trait: string): boolean =>
    name.startsWith('in:') ? value.split(',').includes(trait) : trait.startsWith(value);
  return ok({ traits: all.filter(isWanted) });
}

const customTrait = /^CUSTOM_[A-Z0-9_]{1,248}$/u;

export const allocationRoutes: Routes<PlacementCall> = {
  'GET /allocations/{}': (call, id) => showConsumer(call, id ?? ''),
  'PUT /allocations/{}': (call, id) => putConsumer(call, id ?? ''),
  'DELETE /allocations/{}': (call, id) => {
    if (!call.cloud.model.placement.consumers.has(id ?? ''))
      throw refused(call, 404, `No allocations for consumer '${id}'`);
    dropConsumer(call.cloud.model.placement, id ?? '');
    return noContent;
  },
  'GET /allocation_candidates': candidates,
  'GET /traits': listTraits,
  'GET /traits/{}': (call, name) => {
    if (!call.cloud.model.placement.traits.has(name ?? '')) throw refused(call, 404, `No such trait(s): ${name}.`);
    return noContent;
  },
  'PUT /traits/{}': (call, name) => {
    const { traits } = call.cloud.model.placement;
    if (!customTrait.test(name ?? '')) {
      const reason =
        'The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"';
      throw refused(call, 400, reason);
    }
    const isNew = !traits.has(name ?? '');
    traits.add(name ?? '');
    return { status: isNew ? 201 : 204 };
  },
  'DELETE /traits/{}': (call, name) => {
    const { placement } = call.cloud.model;
    if (!placement.traits.has(name ?? '')) throw refused(call, 404, `No such trait(s): ${name}.`);
    if (!(name ?? '').startsWith('CUSTOM_')) throw refused(call, 400, `Cannot delete standard trait ${name}.`);
    if ([...placement.providers.values()].some(({ traits }) => traits.has(name ?? '')))
      throw refused(call, 409, `The trait ${name} is in use by a resource provider.`);
    placement.traits.delete(name ?? '');
    return noContent;
  },
};
