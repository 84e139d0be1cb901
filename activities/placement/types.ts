import type { ActivityContext } from '../lib/context.ts';

/**
 * What drover asks of Placement. Every method ends when its signal is aborted, never tries again by itself (except one
 * new login when the token is refused), and throws failures of contracts/errors.ts: `CredentialRefused`,
 * `NotPermitted`, `EndpointNotFound`, `PlacementUnavailable`, `KeystoneUnavailable`, `RequestRefused`,
 * `AnswerMalformed`; `HostNotFound` where a provider that is asked about does not exist.
 *
 * @see Placement API reference, microversion 1.39
 */
export interface PlacementClient {
  resourceProviders(filter: ProviderFilter, signal: AbortSignal): Promise<ResourceProvider[]>;
  /** Null when there is none. The provider of a compute host has the hypervisor's UUID. */
  providerByUuid(uuid: string, signal: AbortSignal): Promise<ResourceProvider | null>;
  /** Null when there is none. The provider of a compute host has its hypervisor_hostname as name. */
  providerByName(name: string, signal: AbortSignal): Promise<ResourceProvider | null>;
  /** Sorted. `COMPUTE_STATUS_DISABLED` among them: the scheduler leaves the host out. */
  providerTraits(uuid: string, signal: AbortSignal): Promise<string[]>;
  /** As {@link providerTraits}, with the generation that a change must name. */
  traitsWithGeneration(uuid: string, signal: AbortSignal): Promise<ProviderTraits>;
  /** Of these traits, those that exist at all; a provider can only be given such. */
  existingTraits(names: readonly string[], signal: AbortSignal): Promise<string[]>;
  /** Makes a custom trait, unless it exists. @throws RequestRefused it is no name of a custom trait */
  createTrait(name: string, signal: AbortSignal): Promise<Accepted>;
  /**
   * Gives a provider exactly these traits.
   * @throws ProviderConflict it was changed since that generation
   */
  replaceTraits(uuid: string, traits: ProviderTraits, signal: AbortSignal): Promise<Accepted>;
  /**
   * Deletes a provider.
   * @throws ProviderInUse it has allocations, or providers below it
   */
  deleteProvider(uuid: string, signal: AbortSignal): Promise<Accepted>;
  /** UUIDs of the aggregates it is in, as Nova mirrors its own. */
  providerAggregates(uuid: string, signal: AbortSignal): Promise<string[]>;
  /** What each consumer (a server, or a migration that holds the source's share) has of this provider. */
  providerAllocations(uuid: string, signal: AbortSignal): Promise<Record<string, Resources>>;
  /** As {@link providerAllocations}, with the provider's generation: every change of its traits raises it. */
  allocationsWithGeneration(uuid: string, signal: AbortSignal): Promise<ProviderAllocations>;
  inventories(uuid: string, signal: AbortSignal): Promise<Record<string, Inventory>>;
  usages(uuid: string, signal: AbortSignal): Promise<Resources>;
  /** What a consumer (a server) has, by provider; empty when it has nothing. */
  consumerAllocations(consumer: string, signal: AbortSignal): Promise<Record<string, Resources>>;
  /** What a consumer (a server) has, with what a change of it must name; null when it has nothing. */
  consumer(consumer: string, signal: AbortSignal): Promise<Consumer | null>;
  /**
   * Writes what a consumer has: once more as it is, or less; with nothing left it is gone. Of several that have read
   * the same generation, one alone can.
   * @throws ConsumerConflict another client wrote it since
   * @throws RequestRefused what it has is more than the provider holds by now
   */
  rewriteConsumer(consumer: string, as: Consumer, signal: AbortSignal): Promise<Accepted>;
  /** Where something of that size and kind would fit now, as the scheduler asks it. */
  allocationCandidates(query: CandidatesQuery, signal: AbortSignal): Promise<AllocationCandidates>;
}

/** What Placement says to a mutating request. */
export interface Accepted {
  /** `x-openstack-request-id`. */
  requestId: string;
}

export interface Consumer {
  generation: number;
  /** By provider. */
  allocations: Record<string, Resources>;
  projectId: string;
  userId: string;
}

export interface ProviderAllocations {
  generation: number;
  /** By consumer. */
  allocations: Record<string, Resources>;
}

export interface ProviderTraits {
  generation: number;
  /** Sorted. */
  traits: string[];
}

/** Amounts by resource class: VCPU, PCPU, MEMORY_MB, DISK_GB, VGPU, CUSTOM_… */
export type Resources = Record<string, number>;

export interface ResourceProvider {
  uuid: string;
  name: string;
  /** Null for a root. */
  parentUuid: string | null;
  rootUuid: string;
}

/** All given conditions must hold. */
export interface ProviderFilter {
  name?: string;
  uuid?: string;
  /** Of each list, the provider is in at least one aggregate (UUIDs). */
  memberOf?: string[][];
  /** Traits it has. */
  required?: string[];
  /** Traits it has not. */
  forbidden?: string[];
  /** Providers of this tree only. */
  inTree?: string;
  /** It has room for all of this. */
  resources?: Resources;
}

export interface Inventory {
  total: number;
  reserved: number;
  minUnit: number;
  maxUnit: number;
  stepSize: number;
  allocationRatio: number;
}

export interface CandidatesQuery {
  resources: Resources;
  required?: string[];
  forbidden?: string[];
  /** Of each list, the provider is in at least one aggregate (UUIDs). */
  memberOf?: string[][];
  /** In this provider's tree only. */
  inTree?: string;
  /** At most that many candidates. */
  limit?: number;
}

export interface AllocationCandidates {
  /** Each a way to satisfy the query: what is taken of which provider. */
  candidates: { allocations: Record<string, Resources> }[];
  /** The providers that occur, and those of their trees. */
  providers: Record<string, ProviderSummary>;
}

export interface ProviderSummary {
  resources: Record<string, { capacity: number; used: number }>;
  traits: string[];
  parentUuid: string | null;
  rootUuid: string;
}

/** What a verb that changes Placement needs of one execution. */
export type PlacementTools = ActivityContext & { placement: PlacementClient };
