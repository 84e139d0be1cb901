import type { HostObservation, Instance, Migration } from '../../contracts/eviction/instance.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { PlacementClient } from '../placement/types.ts';
import type { ComputeHost } from './find-host.ts';
import type { ComputeServiceRecord, InstanceDetail, NovaClient } from './types.ts';
import { plainInstance } from './wire-map.ts';

/** A host as Nova and Placement see it, with the details that only compatibility checks need. */
export interface DetailedObservation {
  observation: HostObservation;
  instances: InstanceDetail[];
}

/** @throws HostAttributeMissing Nova does not report everything about the host, so that "empty" would be a guess */
export async function observeHost(
  nova: NovaClient,
  placement: PlacementClient,
  { service, hypervisor: node }: ComputeHost,
  signal: AbortSignal,
): Promise<DetailedObservation> {
  const [instances, migrations, provider] = await Promise.all([
    nova.servers({ host: service.host }, signal),
    nova.migrationsInProgress({ host: service.host }, signal),
    observeProvider(placement, node.id, signal),
  ]);
  const unconfirmedResizes = await findUnconfirmedResizes(nova, service.host, migrations, signal);
  const observation: HostObservation = {
    host: service.host,
    hypervisorHostname: node.hypervisorHostname,
    hypervisorId: node.id,
    serviceId: service.id,
    service: serviceState(service),
    instances: instances.map((instance): Instance => plainInstance(instance)),
    migrations,
    unconfirmedResizes,
    ...provider,
  };
  return { observation, instances };
}

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

async function observeProvider(
  placement: PlacementClient,
  uuid: string,
  signal: AbortSignal,
): Promise<Pick<HostObservation, 'allocations' | 'schedulingDisabled'>> {
  try {
    const [allocations, traits] = await Promise.all([
      placement.providerAllocations(uuid, signal),
      placement.providerTraits(uuid, signal),
    ]);
    return { allocations: Object.keys(allocations), schedulingDisabled: traits.includes('COMPUTE_STATUS_DISABLED') };
  } catch (error) {
    // What Placement does not know the scheduler cannot choose, and nothing can be allocated against it.
    if (failureCode(error) === 'HostNotFound') return { allocations: [], schedulingDisabled: true };
    throw error;
  }
}

/** Servers that left by a cold migration or resize that is not confirmed: the record says so, and the server must still be there. */
async function findUnconfirmedResizes(
  nova: NovaClient,
  host: string,
  migrations: readonly Migration[],
  signal: AbortSignal,
): Promise<string[]> {
  const finished = migrations.filter(({ status, sourceHost }) => status === 'finished' && sourceHost === host);
  const servers = await Promise.all(
    [...new Set(finished.map(({ instanceId }) => instanceId))].map((id) => nova.server(id, signal)),
  );
  return servers.flatMap((server) => (server?.vmState === 'resized' ? [server.id] : []));
}
