import type { z } from 'zod';

import type { KeystoneSession } from '../keystone/types.ts';
import { openEndpoint, type Endpoint } from '../openstack/endpoint.ts';
import type { Refusal } from '../openstack/faults.ts';
import type { AllocationCandidates, CandidatesQuery, Inventory, PlacementClient, ProviderFilter, ResourceProvider, Resources } from './types.ts';
import * as wire from './wire.ts';

/** Of Placement 9.0 (2023.1), as Nova of that release uses it: `required` with any-of and `in_tree` are all there. */
const microversion = '1.39';

/** Placement over HTTP. Reads only, so it holds no state. */
export function createPlacementClient(session: KeystoneSession): PlacementClient {
  const placement = openEndpoint(session, { service: 'Placement', type: 'placement' });
  const of = async <Wire>(uuid: string, part: string, answer: z.ZodType<Wire>, signal: AbortSignal): Promise<Wire> =>
    (await placement.call({ method: 'GET', path: `/resource_providers/${encodeURIComponent(uuid)}/${part}`, microversion, answer, refused: unknownProvider }, signal)).value;
  return {
    resourceProviders: (filter, signal) => readProviders(placement, filter, signal),
    providerByUuid: async (uuid, signal) => {
      const path = `/resource_providers/${encodeURIComponent(uuid)}`;
      const answer = await placement.find({ method: 'GET', path, microversion, answer: wire.providerAnswer }, signal);
      return answer === null ? null : toProvider(answer.value);
    },
    providerByName: async (name, signal) => (await readProviders(placement, { name }, signal))[0] ?? null,
    providerTraits: async (uuid, signal) => (await of(uuid, 'traits', wire.traitsAnswer, signal)).traits.toSorted(),
    providerAggregates: async (uuid, signal) => (await of(uuid, 'aggregates', wire.aggregatesAnswer, signal)).aggregates,
    providerAllocations: async (uuid, signal) => amounts((await of(uuid, 'allocations', wire.allocationsAnswer, signal)).allocations),
    inventories: async (uuid, signal) => mapValues((await of(uuid, 'inventories', wire.inventoriesAnswer, signal)).inventories, toInventory),
    usages: async (uuid, signal) => (await of(uuid, 'usages', wire.usagesAnswer, signal)).usages,
    consumerAllocations: async (consumer, signal) => {
      const path = `/allocations/${encodeURIComponent(consumer)}`;
      return amounts((await placement.call({ method: 'GET', path, microversion, answer: wire.allocationsAnswer }, signal)).value.allocations);
    },
    allocationCandidates: (query, signal) => readCandidates(placement, query, signal),
  };
}

const unknownProvider = ({ status, documented }: Refusal) => (status === 404 && documented ? 'HostNotFound' : undefined);

async function readProviders(placement: Endpoint, filter: ProviderFilter, signal: AbortSignal): Promise<ResourceProvider[]> {
  const query: [string, string][] = [
    ...one('name', filter.name),
    ...one('uuid', filter.uuid),
    ...one('in_tree', filter.inTree),
    ...kinds(filter),
  ];
  const { value } = await placement.call({ method: 'GET', path: '/resource_providers', query, microversion, answer: wire.providerList }, signal);
  return value.resource_providers.map(toProvider);
}

async function readCandidates(placement: Endpoint, query: CandidatesQuery, signal: AbortSignal): Promise<AllocationCandidates> {
  const parameters: [string, string][] = [...kinds(query), ...one('in_tree', query.inTree), ...one('limit', query.limit)];
  const call = { method: 'GET', path: '/allocation_candidates', query: parameters, microversion, answer: wire.candidatesAnswer } as const;
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

/** What both listings are filtered by. A resource of which nothing is wanted must not be named: Placement refuses zero. */
function kinds(filter: Pick<CandidatesQuery, 'required' | 'forbidden' | 'memberOf'> & { resources?: Resources }): [string, string][] {
  const resources = Object.entries(filter.resources ?? {}).filter(([, amount]) => amount > 0);
  const traits = [...(filter.required ?? []), ...(filter.forbidden ?? []).map((trait) => `!${trait}`)];
  return [
    ...one('resources', resources.length === 0 ? undefined : resources.map(([name, amount]) => `${name}:${amount}`).join(',')),
    ...one('required', traits.length === 0 ? undefined : traits.join(',')),
    ...(filter.memberOf ?? []).map((aggregates): [string, string] => ['member_of', `in:${aggregates.join(',')}`]),
  ];
}

const one = (name: string, value: string | number | undefined): [string, string][] => (value === undefined ? [] : [[name, String(value)]]);

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

const amounts = (allocations: Record<string, { resources: Resources }>): Record<string, Resources> => mapValues(allocations, ({ resources }) => resources);

const mapValues = <From, To>(record: Record<string, From>, to: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
