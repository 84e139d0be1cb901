import type {
  HypervisorObservation,
  LoneService,
  NovaHost,
  ObservedAggregate,
  ObservedProvider,
} from '../../contracts/hypervisor/hypervisor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ActivityScope } from '../lib/context.ts';
import { type Registration, findRegistration } from '../nova/find-registration.ts';
import { findUnconfirmedResizes, migrationsOf } from '../nova/observe-host.ts';
import { withoutAbandoned } from '../nova/judge-migration.ts';
import type { RegionReads } from '../nova/region-reads.ts';
import { isSmokeServer } from '../nova/smoke-server.ts';
import type { NovaClient } from '../nova/types.ts';
import type { ProviderObservation, ProviderReads } from '../placement/provider-reads.ts';

export interface RegionTools {
  nova: NovaClient;
  region: RegionReads;
  providers: ProviderReads;
  scope: ActivityScope;
  clock: Clock;
}

/** What is asked about a host in Nova and Placement. */
export interface RegionQuestion {
  /** Name of the Hypervisor. */
  hypervisor: string;
  /** Names of aggregates that matter besides those that the host is in. */
  aggregates: readonly string[];
  /** The provider to read where Nova has no hypervisor (any more). */
  formerProviderId: string | null;
}

/** What OpenStack says of a host. */
export type ObservedRegion = Pick<
  HypervisorObservation,
  'nova' | 'loneService' | 'aggregates' | 'provider' | 'testServers'
>;

/** How many consumers of a provider are named: a host in service has hundreds. */
const mostNamed = 5;

/** What is said where OpenStack is not asked. */
export const nothingOfRegion: ObservedRegion = {
  nova: null,
  loneService: null,
  aggregates: [],
  provider: null,
  testServers: [],
};

/**
 * Observes a host: two requests of its own, and its share of the lists of the region. Where the service is disabled,
 * one for each server whose resize waits for its confirmation.
 *
 * @param trustedMs how long ago the lists may have been read
 */
export async function observeRegion(
  tools: RegionTools,
  question: RegionQuestion,
  trustedMs: number,
): Promise<ObservedRegion> {
  const { region, providers, scope } = tools;
  const find = (ms: number) => findRegistration(tools, question.hypervisor, ms, scope.signal);
  const found = await find(trustedMs);
  // That Nova has no such host, or no hypervisor of it, is only said of what it has now.
  const registration = (found?.hypervisor ?? null) !== null || trustedMs === 0 ? found : await find(0);
  const host = registration?.host ?? question.hypervisor;
  const providerId = registration?.hypervisor?.id ?? question.formerProviderId;
  const [all, provided, testServers, loneService] = await Promise.all([
    region.aggregates(trustedMs, scope.signal),
    providerId === null ? null : providers.observe(providerId, registration?.serviceId ?? null, scope.signal),
    registration === null ? [] : region.testServers(trustedMs, scope.signal),
    describeLoneService(tools, registration),
  ]);
  const provider = providerId === null || provided === null ? null : describeProvider(providerId, provided);
  const aggregates = all
    .filter(({ name, hosts }) => hosts.includes(host) || question.aggregates.includes(name))
    .map(({ id, uuid, name, metadata, hosts }): ObservedAggregate => ({
      id,
      uuid,
      name,
      metadata,
      hasHost: hosts.includes(host),
    }));
  return {
    nova: await describeHost(tools, registration, provider?.consumers ?? 0, trustedMs),
    loneService,
    aggregates,
    provider,
    testServers: testServers
      .filter((server) => isSmokeServer(server, host) && server.taskState !== 'deleting')
      .map(({ id }) => id),
  };
}

/** Whether a host is empty matters only while no guest can come. */
async function describeHost(
  { nova, region, scope, clock }: RegionTools,
  registration: Registration | null,
  allocations: number,
  trustedMs: number,
): Promise<NovaHost | null> {
  const hypervisor = registration?.hypervisor ?? null;
  if (registration === null || hypervisor === null) return null;
  const { host, serviceId, service } = registration;
  const known = { host, hypervisorId: hypervisor.id, serviceId, service, servers: hypervisor.servers };
  if (service.status === 'enabled') return { ...known, migrations: 0, unconfirmedResizes: 0, allocations: 0 };
  const inProgress = migrationsOf(host, await region.migrations(trustedMs, scope.signal));
  const migrations = await withoutAbandoned(nova, inProgress, clock.now(), scope.signal);
  const unconfirmedResizes = await findUnconfirmedResizes(nova, host, migrations, scope.signal);
  return {
    ...known,
    migrations: migrations.length - unconfirmedResizes.length,
    unconfirmedResizes: unconfirmedResizes.length,
    allocations,
  };
}

function describeProvider(uuid: string, { generation, traits, consumers }: ProviderObservation): ObservedProvider {
  return {
    uuid,
    generation,
    traits,
    consumers: consumers.length,
    someConsumers: consumers.toSorted().slice(0, mostNamed),
  };
}

/** Null: there is no service, or it has its hypervisor. */
async function describeLoneService(
  { nova, scope }: Pick<RegionTools, 'nova' | 'scope'>,
  registration: Registration | null,
): Promise<LoneService | null> {
  if (registration === null || registration.hypervisor !== null) return null;
  const { host, serviceId, service } = registration;
  return { host, serviceId, service, servers: (await nova.servers({ host }, scope.signal)).length };
}
