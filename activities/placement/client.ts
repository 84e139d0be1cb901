import type { z } from 'zod';

import type { KeystoneSession } from '../keystone/types.ts';
import { openEndpoint, type Endpoint } from '../openstack/endpoint.ts';
import type { Refusal } from '../openstack/faults.ts';
import type {
  AllocationCandidates,
  CandidatesQuery,
  Inventory,
  PlacementClient,
  ProviderFilter,
  ResourceProvider,
  Resources,
} from './types.ts';
import * as wire from './wire.ts';

/** Of Placement 9.0 (2023.1), as Nova of that release uses it: `required` with any-of and `in_tree` are all there. */
const microversion = '1.39';

/**
 * From 1.38 on a consumer has a type, which Placement returns as `unknown` for old ones and then accepts
 * from no client.
 */
const consumerMicroversion = '1.37';

/** Placement over HTTP. It holds no state. */
export function createPlacementClient(session: KeystoneSession): PlacementClient {
  const placement = openEndpoint(session, { service: 'Placement', type: 'placement' });
  const of = async <Wire>(uuid: string, part: string, answer: z.ZodType<Wire>, signal: AbortSignal): Promise<Wire> =>
    (
      await placement.call(
        {
          method: 'GET',
          path: `/resource_providers/${encodeURIComponent(uuid)}/${part}`,
          microversion,
          answer,
          refused: unknownProvider,
        },
        signal,
      )
    ).value;
  return {
    resourceProviders: (filter, signal) => readProviders(placement, filter, signal),
    providerByUuid: async (uuid, signal) => {
      const path = `/resource_providers/${encodeURIComponent(uuid)}`;
      const answer = await placement.find({ method: 'GET', path, microversion, answer: wire.providerAnswer }, signal);
      return answer === null ? null : toProvider(answer.value);
    },
    providerByName: async (name, signal) => (await readProviders(placement, { name }, signal))[0] ?? null,
    providerTraits: async (uuid, signal) => (await of(uuid, 'traits', wire.traitsAnswer, signal)).traits.toSorted(),
    traitsWithGeneration: async (uuid, signal) => {
      const { traits, resource_provider_generation: generation } = await of(
        uuid,
        'traits',
        wire.providerTraitsAnswer,
        signal,
      );
      return { generation, traits: traits.toSorted() };
    },
    ...traitCalls(placement),
    deleteProvider: async (uuid, signal) => {
      const { requestId } = await placement.call(
        {
          method: 'DELETE',
          path: `/resource_providers/${encodeURIComponent(uuid)}`,
          microversion,
          refused: deletionFaults,
        },
        signal,
      );
      return { requestId };
    },
    providerAggregates: async (uuid, signal) =>
      (await of(uuid, 'aggregates', wire.aggregatesAnswer, signal)).aggregates,
    providerAllocations: async (uuid, signal) =>
      amounts((await of(uuid, 'allocations', wire.allocationsAnswer, signal)).allocations),
    allocationsWithGeneration: async (uuid, signal) => {
      const { allocations, resource_provider_generation: generation } = await of(
        uuid,
        'allocations',
        wire.providerAllocationsAnswer,
        signal,
      );
      return { generation, allocations: amounts(allocations) };
    },
    inventories: async (uuid, signal) =>
      mapValues((await of(uuid, 'inventories', wire.inventoriesAnswer, signal)).inventories, toInventory),
    usages: async (uuid, signal) => (await of(uuid, 'usages', wire.usagesAnswer, signal)).usages,
    consumerAllocations: async (consumer, signal) => {
      const path = `/allocations/${encodeURIComponent(consumer)}`;
      return amounts(
        (await placement.call({ method: 'GET', path, microversion, answer: wire.allocationsAnswer }, signal)).value
          .allocations,
      );
    },
    ...consumerCalls(placement),
    allocationCandidates: (query, signal) => readCandidates(placement, query, signal),
  };
}

const traitCalls = (
  placement: Endpoint,
): Pick<PlacementClient, 'existingTraits' | 'createTrait' | 'replaceTraits'> => ({
  existingTraits: async (names, signal) => {
    if (names.length === 0) return [];
    const call = {
      method: 'GET',
      path: '/traits',
      query: [['name', `in:${names.join(',')}`]] as [string, string][],
      microversion,
      answer: wire.traitsAnswer,
    } as const;
    return (await placement.call(call, signal)).value.traits;
  },
  createTrait: async (name, signal) => {
    const { requestId } = await placement.call(
      { method: 'PUT', path: `/traits/${encodeURIComponent(name)}`, microversion },
      signal,
    );
    return { requestId };
  },
  replaceTraits: async (uuid, { generation, traits }, signal) => {
    const body = { resource_provider_generation: generation, traits };
    const path = `/resource_providers/${encodeURIComponent(uuid)}/traits`;
    const { requestId } = await placement.call(
      { method: 'PUT', path, microversion, body, refused: changeFaults },
      signal,
    );
    return { requestId };
  },
});

const consumerCalls = (placement: Endpoint): Pick<PlacementClient, 'consumer' | 'rewriteConsumer'> => ({
  consumer: async (consumer, signal) => {
    const call = {
      method: 'GET',
      path: `/allocations/${encodeURIComponent(consumer)}`,
      microversion: consumerMicroversion,
      answer: wire.consumerAnswer,
    } as const;
    const {
      allocations,
      consumer_generation: generation,
      project_id: projectId,
      user_id: userId,
    } = (await placement.call(call, signal)).value;
    if (generation === undefined || projectId === undefined || userId === undefined) return null;
    return { generation, allocations: amounts(allocations), projectId, userId };
  },
  rewriteConsumer: async (consumer, { generation, allocations, projectId, userId }, signal) => {
    const body = {
      allocations: mapValues(allocations, (resources) => ({ resources })),
      consumer_generation: generation,
      project_id: projectId,
      user_id: userId,
    };
    const call = {
      method: 'PUT',
      path: `/allocations/${encodeURIComponent(consumer)}`,
      microversion: consumerMicroversion,
      body,
      refused: consumerFaults,
    } as const;
    const { requestId } = await placement.call(call, signal);
    return { requestId };
  },
});

/** 409 is also what Placement says of a provider that is too small by now for what the consumer has. */
const consumerFaults = ({ status, words }: Refusal) =>
  status === 409 && /generation conflict|changed while attempting/iu.test(words) ? 'ConsumerConflict' : undefined;

/**
 * A change that names a generation: 409 is `placement.concurrent_update`; of two at the same moment, Placement
 * answers 500 to one.
 */
const changeFaults = (refusal: Refusal) =>
  refusal.status === 409 || (refusal.status === 500 && /concurrently updated/iu.test(refusal.words))
    ? 'ProviderConflict'
    : unknownProvider(refusal);

/** 409: allocations, or providers below it. */
const deletionFaults = (refusal: Refusal) => (refusal.status === 409 ? 'ProviderInUse' : unknownProvider(refusal));

const unknownProvider = ({ status, documented }: Refusal) =>
  status === 404 && documented ? 'HostNotFound' : undefined;

async function readProviders(
  placement: Endpoint,
  filter: ProviderFilter,
  signal: AbortSignal,
): Promise<ResourceProvider[]> {
  const query: [string, string][] = [
    ...one('name', filter.name),
    ...one('uuid', filter.uuid),
    ...one('in_tree', filter.inTree),
    ...kinds(filter),
  ];
  const { value } = await placement.call(
    { method: 'GET', path: '/resource_providers', query, microversion, answer: wire.providerList },
    signal,
  );
  return value.resource_providers.map(toProvider);
}

async function readCandidates(
  placement: Endpoint,
  query: CandidatesQuery,
  signal: AbortSignal,
): Promise<AllocationCandidates> {
  const parameters: [string, string][] = [
    ...kinds(query),
    ...one('in_tree', query.inTree),
    ...one('limit', query.limit),
  ];
  const call = {
    method: 'GET',
    path: '/allocation_candidates',
    query: parameters,
    microversion,
    answer: wire.candidatesAnswer,
  } as const;
  const { value } = await placement.call(call, signal);
  return {
    candidates: value.allocation_requests.map(({ allocations }) => ({ allocations: amounts(allocations) })),
    providers: mapValues(value.provider_summaries, ({ resources, traits, ...rest }) => ({
      resources: mapValues(resources, ({ capacity, used }) => ({ capacity, used })),
      traits,
      parentUuid: rest.parent_provider_uuid,
      rootUuid: rest.root_provider_uuid,
    })),
  };
}

/**
 * What both listings are filtered by. A resource of which nothing is wanted must not be named: Placement refuses zero.
 */
function kinds(
  filter: Pick<CandidatesQuery, 'required' | 'forbidden' | 'memberOf'> & { resources?: Resources },
): [string, string][] {
  const resources = Object.entries(filter.resources ?? {}).filter(([, amount]) => amount > 0);
  const traits = [...(filter.required ?? []), ...(filter.forbidden ?? []).map((trait) => `!${trait}`)];
  return [
    ...one(
      'resources',
      resources.length === 0 ? undefined : resources.map(([name, amount]) => `${name}:${amount}`).join(','),
    ),
    ...one('required', traits.length === 0 ? undefined : traits.join(',')),
    ...(filter.memberOf ?? []).map((aggregates): [string, string] => ['member_of', `in:${aggregates.join(',')}`]),
  ];
}

const one = (name: string, value: string | number | undefined): [string, string][] =>
  value === undefined ? [] : [[name, String(value)]];

const toProvider = (found: wire.WireProvider): ResourceProvider => ({
  uuid: found.uuid,
  name: found.name,
  parentUuid: found.parent_provider_uuid,
  rootUuid: found.root_provider_uuid,
});

const toInventory = (found: wire.WireInventory): Inventory => ({
  total: found.total,
  reserved: found.reserved,
  minUnit: found.min_unit,
  maxUnit: found.max_unit,
  stepSize: found.step_size,
  allocationRatio: found.allocation_ratio,
});

const amounts = (allocations: Record<string, { resources: Resources }>): Record<string, Resources> =>
  mapValues(allocations, ({ resources }) => resources);

const mapValues = <From, To>(record: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
