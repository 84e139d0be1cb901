import { z } from 'zod';

/**
 * What Placement answers, as far as drover reads it. Unknown fields are ignored.
 *
 * @see Placement API reference, microversion 1.39
 */

const amounts = z.record(z.string(), z.number());

const provider = z.looseObject({
  uuid: z.string(),
  name: z.string(),
  parent_provider_uuid: z.string().nullable(),
  root_provider_uuid: z.string(),
});
export type WireProvider = z.infer<typeof provider>;
export const providerAnswer = provider;
export const providerList = z.object({ resource_providers: z.array(provider) });

export const traitsAnswer = z.looseObject({ traits: z.array(z.string()) });
export const providerTraitsAnswer = z.looseObject({
  traits: z.array(z.string()),
  resource_provider_generation: z.number(),
});
export const aggregatesAnswer = z.looseObject({ aggregates: z.array(z.string()) });
/** By consumer (of a provider) or by provider (of a consumer). */
export const allocationsAnswer = z.looseObject({
  allocations: z.record(z.string(), z.looseObject({ resources: amounts })),
});
export const providerAllocationsAnswer = allocationsAnswer.extend({ resource_provider_generation: z.number() });
/** Of a consumer that has nothing, Placement returns nothing else. */
export const consumerAnswer = allocationsAnswer.extend({
  consumer_generation: z.number().optional(),
  project_id: z.string().optional(),
  user_id: z.string().optional(),
});
export const usagesAnswer = z.looseObject({ usages: amounts });

const inventory = z.looseObject({
  total: z.number(),
  reserved: z.number(),
  min_unit: z.number(),
  max_unit: z.number(),
  step_size: z.number(),
  allocation_ratio: z.number(),
});
export type WireInventory = z.infer<typeof inventory>;
export const inventoriesAnswer = z.looseObject({ inventories: z.record(z.string(), inventory) });

const providerSummary = z.looseObject({
  resources: z.record(z.string(), z.looseObject({ capacity: z.number(), used: z.number() })),
  traits: z.array(z.string()),
  parent_provider_uuid: z.string().nullable(),
  root_provider_uuid: z.string(),
});
export const candidatesAnswer = z.looseObject({
  allocation_requests: z.array(
    z.looseObject({ allocations: z.record(z.string(), z.looseObject({ resources: amounts })) }),
  ),
  provider_summaries: z.record(z.string(), providerSummary),
});
