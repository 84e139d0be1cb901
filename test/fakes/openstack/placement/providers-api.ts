import type { Inventory, Provider } from '../model.ts';
import type { Routes } from '../wire.ts';
import { concurrentUpdate, findProvider, needGeneration, noContent, ok, refused, type PlacementCall } from './call.ts';
import { conditionsOf, meets } from './conditions.ts';
import { childrenOf, consumersOf, usedOf } from './state.ts';

const viewProvider = ({ uuid, name, generation, parentUuid, rootUuid }: Provider): object => ({
  uuid,
  name,
  generation,
  parent_provider_uuid: parentUuid,
  root_provider_uuid: rootUuid,
  links: [],
});

const viewInventories = ({ inventories, generation }: Provider): object => ({
  inventories,
  resource_provider_generation: generation,
});

const viewTraits = ({ traits, generation }: Provider): object => ({
  traits: [...traits],
  resource_provider_generation: generation,
});

const viewAggregates = ({ aggregates, generation }: Provider): object => ({
  aggregates: [...aggregates],
  resource_provider_generation: generation,
});

function create(call: PlacementCall) {
  const { providers } = call.cloud.model.placement;
  const {
    name,
    uuid = call.cloud.uuid(),
    parent_provider_uuid: parentUuid = null,
  } = call.request.body as { name: string; uuid?: string; parent_provider_uuid?: string | null };
  if ([...providers.values()].some((one) => one.uuid === uuid || one.name === name))
    throw refused(call, 409, `Conflicting resource provider name: ${name} already exists.`, 'placement.duplicate_name');
  const parent = parentUuid === null ? null : providers.get(parentUuid);
  if (parent === undefined)
    throw refused(
      call,
      400,
      `Unable to create resource provider "${name}", ${uuid}: Object action create failed because: parent provider UUID does not exist.`,
    );
  const provider: Provider = {
    uuid,
    name,
    generation: 0,
    parentUuid,
    rootUuid: parent?.rootUuid ?? uuid,
    inventories: {},
    traits: new Set(),
    aggregates: new Set(),
  };
  providers.set(uuid, provider);
  return ok(viewProvider(provider));
}

function remove(call: PlacementCall, uuid: string) {
  const { placement } = call.cloud.model;
  if (!placement.providers.has(uuid))
    throw refused(call, 404, `No resource provider with uuid ${uuid} found for delete`);
  if (childrenOf(placement, uuid).length > 0) {
    throw refused(
      call,
      409,
      `Unable to delete parent resource provider ${uuid}: It has child resource providers.`,
      'placement.resource_provider.cannot_delete_parent',
    );
  }
  if (consumersOf(placement, uuid).length > 0) {
    throw refused(
      call,
      409,
      `Unable to delete resource provider ${uuid}: Resource provider has allocations.`,
      'placement.resource_provider.inuse',
    );
  }
  placement.providers.delete(uuid);
  return noContent;
}

type PartialInventory = Partial<Inventory> & Pick<Inventory, 'total'>;

function putInventories(call: PlacementCall, uuid: string) {
  const provider = findProvider(call, uuid);
  const { inventories, resource_provider_generation: generation } = call.request.body as {
    inventories: Record<string, PartialInventory>;
    resource_provider_generation?: number;
  };
  if (generation !== provider.generation)
    throw refused(call, 409, 'resource provider generation conflict', concurrentUpdate);
  const used = usedOf(call.cloud.model.placement, uuid);
  const missing = Object.keys(used).filter((name) => (used[name] ?? 0) > 0 && inventories[name] === undefined);
  if (missing.length > 0)
    throw refused(
      call,
      409,
      `update conflict: Inventory for '${missing.join(', ')}' on resource provider '${uuid}' in use.`,
      'placement.inventory.inuse',
    );
  provider.inventories = Object.fromEntries(
    Object.entries(inventories).map(([name, one]) => [
      name,
      { reserved: 0, min_unit: 1, max_unit: 2_147_483_647, step_size: 1, allocation_ratio: 1, ...one },
    ]),
  );
  provider.generation += 1;
  return ok(viewInventories(provider));
}

function putTraits(call: PlacementCall, uuid: string) {
  const provider = findProvider(call, uuid);
  const { traits, resource_provider_generation: generation } = call.request.body as {
    traits: string[];
    resource_provider_generation?: number;
  };
  needGeneration(call, provider, generation);
  const unknown = traits.filter((trait) => !call.cloud.model.placement.traits.has(trait));
  if (unknown.length > 0) throw refused(call, 400, `No such trait ${unknown.join(', ')}`);
  const isSame = traits.length === provider.traits.size && traits.every((trait) => provider.traits.has(trait));
  if (!isSame) {
    provider.traits = new Set(traits);
    provider.generation += 1;
  }
  return ok(viewTraits(provider));
}

function putAggregates(call: PlacementCall, uuid: string) {
  const provider = findProvider(call, uuid);
  const { aggregates, resource_provider_generation: generation } = call.request.body as {
    aggregates: string[];
    resource_provider_generation?: number;
  };
  needGeneration(call, provider, generation);
  provider.aggregates = new Set(aggregates);
  provider.generation += 1;
  return ok(viewAggregates(provider));
}

export const providerRoutes: Routes<PlacementCall> = {
  'GET /resource_providers': (call) => {
    const conditions = conditionsOf(call);
    const { query } = call.request;
    const [name, uuid] = [query.get('name'), query.get('uuid')];
    const found = [...call.cloud.model.placement.providers.values()].filter(
      (one) => (name === null || one.name === name) && (uuid === null || one.uuid === uuid),
    );
    return ok({
      resource_providers: found.filter((one) => meets(call.cloud.model.placement, one, conditions)).map(viewProvider),
    });
  },
  'POST /resource_providers': create,
  'GET /resource_providers/{}': (call, uuid) => ok(viewProvider(findProvider(call, uuid ?? ''))),
  'DELETE /resource_providers/{}': (call, uuid) => remove(call, uuid ?? ''),
  'GET /resource_providers/{}/inventories': (call, uuid) => ok(viewInventories(findProvider(call, uuid ?? ''))),
  'PUT /resource_providers/{}/inventories': (call, uuid) => putInventories(call, uuid ?? ''),
  'GET /resource_providers/{}/usages': (call, uuid) => {
    const provider = findProvider(call, uuid ?? '');
    const used = usedOf(call.cloud.model.placement, provider.uuid);
    return ok({
      resource_provider_generation: provider.generation,
      usages: Object.fromEntries(Object.keys(provider.inventories).map((name) => [name, used[name] ?? 0])),
    });
  },
  'GET /resource_providers/{}/traits': (call, uuid) => ok(viewTraits(findProvider(call, uuid ?? ''))),
  'PUT /resource_providers/{}/traits': (call, uuid) => putTraits(call, uuid ?? ''),
  'GET /resource_providers/{}/aggregates': (call, uuid) => ok(viewAggregates(findProvider(call, uuid ?? ''))),
  'PUT /resource_providers/{}/aggregates': (call, uuid) => putAggregates(call, uuid ?? ''),
  'GET /resource_providers/{}/allocations': (call, uuid) => {
    const provider = findProvider(call, uuid ?? '');
    const allocations = consumersOf(call.cloud.model.placement, provider.uuid).map(([id, consumer]) => [
      id,
      { resources: consumer.allocations[provider.uuid], consumer_generation: consumer.generation },
    ]);
    return ok({
      allocations: Object.fromEntries(allocations) as object,
      resource_provider_generation: provider.generation,
    });
  },
};
