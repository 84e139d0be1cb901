import type {
  HypervisorObservation,
  NovaHost,
  ObservedAggregate,
  ObservedProvider,
} from '../../contracts/hypervisor/hypervisor.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { ActivityScope } from '../lib/context.ts';
import { findHost } from '../nova/find-host.ts';
import { type Registration, findRegistration } from '../nova/find-registration.ts';
import { observeHost } from '../nova/observe-host.ts';
import { findSmokeServers } from '../nova/smoke-server.ts';
import type { NovaClient } from '../nova/types.ts';
import type { PlacementClient } from '../placement/types.ts';

export interface RegionTools {
  nova: NovaClient;
  placement: PlacementClient;
  scope: ActivityScope;
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
export type ObservedRegion = Pick<HypervisorObservation, 'nova' | 'aggregates' | 'provider' | 'testServers'>;

/** How many consumers of a provider are named: a host in service has hundreds. */
const mostNamed = 5;

/** What is said where OpenStack is not asked. */
export const nothingOfRegion: ObservedRegion = {
  nova: null,
  aggregates: [],
  provider: null,
  testServers: [],
};

/** Observes a host. A handful of requests; where the service is disabled, more that show whether anything is left on it. */
export async function observeRegion(tools: RegionTools, question: RegionQuestion): Promise<ObservedRegion> {
  const { nova, placement, scope } = tools;
  const registration = await findRegistration(nova, question.hypervisor, scope.signal);
  const host = registration?.host ?? question.hypervisor;
  const providerId = registration?.hypervisor?.id ?? question.formerProviderId;
  const [described, all, provider, testServers] = await Promise.all([
    describeHost(tools, question.hypervisor, registration),
    nova.aggregates(scope.signal),
    providerId === null ? null : observeProvider(placement, providerId, scope.signal),
    registration === null ? [] : findSmokeServers(tools, host),
  ]);
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
    nova: described,
    aggregates,
    provider,
    testServers: testServers.filter(({ taskState }) => taskState !== 'deleting').map(({ id }) => id),
  };
}

/** Whether a host is empty matters only while no guest can come; it costs as many requests as all else together. */
async function describeHost(
  { nova, placement, scope }: RegionTools,
  name: string,
  registration: Registration | null,
): Promise<NovaHost | null> {
  const hypervisor = registration?.hypervisor ?? null;
  if (registration === null || hypervisor === null) return null;
  const { host, serviceId, service } = registration;
  const known = { host, hypervisorId: hypervisor.id, serviceId, service };
  if (service.status === 'enabled')
    return { ...known, servers: hypervisor.servers, migrations: 0, unconfirmedResizes: 0, allocations: 0 };
  const { observation } = await observeHost(nova, placement, await findHost(nova, name, scope.signal), scope.signal);
  const { instances, migrations, unconfirmedResizes, allocations } = observation;
  return {
    ...known,
    servers: instances.length,
    migrations: migrations.length - unconfirmedResizes.length,
    unconfirmedResizes: unconfirmedResizes.length,
    allocations: allocations.length,
  };
}

async function observeProvider(
  placement: PlacementClient,
  uuid: string,
  signal: AbortSignal,
): Promise<ObservedProvider | null> {
  try {
    const [{ generation, traits }, allocations] = await Promise.all([
      placement.traitsWithGeneration(uuid, signal),
      placement.providerAllocations(uuid, signal),
    ]);
    const consumers = Object.keys(allocations);
    return {
      uuid,
      generation,
      traits,
      consumers: consumers.length,
      someConsumers: consumers.toSorted().slice(0, mostNamed),
    };
  } catch (error) {
    if (failureCode(error) === 'HostNotFound') return null;
    throw error;
  }
}
