import type { HostObservation, Instance, Migration } from '../../contracts/eviction/instance.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Guest } from '../libvirt/list-guests.ts';
import type { ProviderReads } from '../placement/provider-reads.ts';
import type { ComputeHost } from './find-host.ts';
import type { RegionReads } from './region-reads.ts';
import type { ComputeServiceRecord, InstanceDetail, NovaClient } from './types.ts';
import { withoutAbandoned } from './judge-migration.ts';
import { plainInstance } from './wire-map.ts';

/** A host as Nova and Placement see it, with the details that only compatibility checks need. */
export interface DetailedObservation {
  observation: HostObservation;
  instances: InstanceDetail[];
}

/** What a host is observed with. */
export interface HostTools {
  clock: Clock;
  nova: Pick<NovaClient, 'server'>;
  region: RegionReads;
  providers: ProviderReads;
  /**
   * The guests that libvirt runs on a host, by the name of its Hypervisor; null: libvirt is not asked, or
   * does not answer.
   * @throws only the signal's reason
   */
  listGuests: (hypervisor: string, signal: AbortSignal) => Promise<readonly Guest[] | null>;
}

/**
 * Observes a host as it is now: callers that ask at the same moment share the list of the region's migrations, and
 * nothing is trusted from before.
 *
 * @param hypervisor name of the Hypervisor
 * @throws HostAttributeMissing Nova does not report everything about the host, so that "empty" would be a guess
 */
export async function observeHost(
  { nova, region, providers, listGuests, clock }: HostTools,
  hypervisor: string,
  { service, hypervisor: node }: ComputeHost,
  signal: AbortSignal,
): Promise<DetailedObservation> {
  const [instances, all, provider] = await Promise.all([
    region.serversOn(service.host, 0, signal),
    region.migrations(0, signal),
    providers.observe(node.id, service.id, signal),
  ]);
  const migrations = await withoutAbandoned(nova, migrationsOf(service.host, all), clock.now(), signal);
  const resized = await findUnconfirmedResizes(nova, service.host, migrations, signal);
  const isLeft = instances.length > 0 || migrations.length > 0 || (provider?.consumers.length ?? 0) > 0;
  const observation: HostObservation = {
    host: service.host,
    hypervisorHostname: node.hypervisorHostname,
    hypervisorId: node.id,
    serviceId: service.id,
    service: serviceState(service),
    instances: instances.map((instance): Instance => plainInstance(instance)),
    migrations,
    unconfirmedResizes: resized.map(({ id }) => id),
    ...(resized.length > 0 && { resizedAway: resized.map((instance) => plainInstance(instance)) }),
    // What Placement does not know the scheduler cannot choose, and nothing can be allocated against it.
    allocations: provider?.consumers ?? [],
    schedulingDisabled: provider?.traits.includes('COMPUTE_STATUS_DISABLED') ?? true,
    // The last witness: it is asked where Nova and Placement have nothing left to name.
    unknownGuests: isLeft ? null : await findUnknownGuests(listGuests, hypervisor, signal),
  };
  return { observation, instances: [...instances] };
}

/** Of those of the region, the ones with the host as source or as target. */
export const migrationsOf = (host: string, all: readonly Migration[]): Migration[] =>
  all.filter(({ sourceHost, targetHost }) => sourceHost === host || targetHost === host);

async function findUnknownGuests(
  listGuests: HostTools['listGuests'],
  hypervisor: string,
  signal: AbortSignal,
): Promise<HostObservation['unknownGuests']> {
  const guests = await listGuests(hypervisor, signal);
  return guests === null ? null : guests.slice(0, mostGuests).map(({ uuid, name }) => ({ id: uuid, name }));
}

/** A history does not carry a host's whole population. */
const mostGuests = 100;

export const serviceState = ({
  status,
  disabledReason,
  state,
  forcedDown,
}: ComputeServiceRecord): HostObservation['service'] => ({
  status,
  disabledReason,
  state,
  forcedDown,
});

/**
 * Servers that left by a cold migration or resize that is not confirmed: the record says so, and the server must still
 * be there.
 */
export async function findUnconfirmedResizes(
  nova: Pick<NovaClient, 'server'>,
  host: string,
  migrations: readonly Migration[],
  signal: AbortSignal,
): Promise<InstanceDetail[]> {
  const finished = migrations.filter(({ status, sourceHost }) => status === 'finished' && sourceHost === host);
  const servers = await Promise.all(
    [...new Set(finished.map(({ instanceId }) => instanceId))].map((id) => nova.server(id, signal)),
  );
  return servers.flatMap((server) => (server?.vmState === 'resized' ? [server] : []));
}
