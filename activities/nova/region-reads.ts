import type { Migration } from '../../contracts/eviction/instance.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { share, shareByKey } from '../lib/share.ts';
import { type ComputeHost, joinHost } from './find-host.ts';
import type { Aggregate, ComputeServiceRecord, Hypervisor, InstanceDetail, NovaClient, ServerGroup } from './types.ts';

/**
 * What many evictions and hypervisors ask of one region, read once for all of them. One per worker process. `trustedMs`
 * is how long ago a reading may have begun; 0: after the question. Readers do not change a list.
 */
export interface RegionReads {
  services: (trustedMs: number, signal: AbortSignal) => Promise<readonly ComputeServiceRecord[]>;
  hypervisors: (trustedMs: number, signal: AbortSignal) => Promise<readonly Hypervisor[]>;
  aggregates: (trustedMs: number, signal: AbortSignal) => Promise<readonly Aggregate[]>;
  serverGroups: (trustedMs: number, signal: AbortSignal) => Promise<readonly ServerGroup[]>;
  /** Of every type that are not over, those that wait for their confirmation included. */
  migrations: (trustedMs: number, signal: AbortSignal) => Promise<readonly Migration[]>;
  /** Servers that may be test servers of drover's, by their names alone. */
  testServers: (trustedMs: number, signal: AbortSignal) => Promise<readonly InstanceDetail[]>;
  /** The servers of one host. @throws HostNotFound, HostAttributeMissing as the client does */
  serversOn: (host: string, trustedMs: number, signal: AbortSignal) => Promise<readonly InstanceDetail[]>;
  /** Where a server is; null: on no host, or gone. */
  hostOf: (instanceId: string, trustedMs: number, signal: AbortSignal) => Promise<string | null>;
}

/** What the names of all test servers begin with. */
export const smokeServerPrefix = 'drover-smoke-';

/** Planning, and what is shown: nothing is done to a host by it alone. */
export const plannedWithMs = 5_000;

/**
 * The client and the readings of one region. The client's own lists are shared too, by those who ask at the same
 * moment; each question is answered by a request that is sent after it. What this process changes in a list is read
 * again, however much is trusted.
 */
export function shareRegion(client: NovaClient, clock: Clock): { nova: NovaClient; region: RegionReads } {
  const services = share(clock, (signal) => client.computeServices(signal));
  const hypervisors = share(clock, (signal) => client.hypervisors(signal));
  const aggregates = share(clock, (signal) => client.aggregates(signal));
  const serverGroups = share(clock, (signal) => client.serverGroups(signal));
  const schedulersUp = share(clock, (signal) => client.schedulersUp(signal));
  const copying = share(clock, (signal) => client.migrationsCopying(signal));
  const migrations = share(clock, (signal) => client.migrationsInProgress({}, signal));
  const testServers = share(clock, (signal) => client.serversNamedLike(smokeServerPrefix, signal));
  const servers = shareByKey(clock, async (host, signal) =>
    client.servers({ host, groups: await serverGroups.read(plannedWithMs, signal) }, signal),
  );
  const hosts = shareByKey(clock, async (id, signal) => (await client.server(id, signal))?.host ?? null);

  /** Also what failed may have had its effect. */
  async function changing<Result>(change: Promise<Result>, ...changed: { forget: () => void }[]): Promise<Result> {
    try {
      return await change;
    } finally {
      for (const one of changed) one.forget();
    }
  }

  return {
    nova: {
      ...client,
      computeServices: async (signal) => [...(await services.read(0, signal))],
      hypervisors: async (signal) => [...(await hypervisors.read(0, signal))],
      aggregates: async (signal) => [...(await aggregates.read(0, signal))],
      serverGroups: async (signal) => [...(await serverGroups.read(0, signal))],
      schedulersUp: (signal) => schedulersUp.read(0, signal),
      migrationsCopying: async (signal) => [...(await copying.read(0, signal))],
      updateService: (id, change, signal) => changing(client.updateService(id, change, signal), services, hypervisors),
      deleteService: (id, signal) => changing(client.deleteService(id, signal), services, hypervisors, aggregates),
      addToAggregate: (id, host, signal) => changing(client.addToAggregate(id, host, signal), aggregates, services),
      removeFromAggregate: (id, host, signal) =>
        changing(client.removeFromAggregate(id, host, signal), aggregates, services),
      createServer: (server, signal) => changing(client.createServer(server, signal), testServers),
      deleteServer: (id, signal) => changing(client.deleteServer(id, signal), testServers),
    },
    region: {
      services: services.read,
      hypervisors: hypervisors.read,
      aggregates: aggregates.read,
      serverGroups: serverGroups.read,
      migrations: migrations.read,
      testServers: testServers.read,
      serversOn: servers.read,
      hostOf: hosts.read,
    },
  };
}

/**
 * The host that a name means, its service as it is now. Hypervisors do not come and go within seconds: one that is not
 * among those that are known is looked for once more.
 *
 * @throws HostNotFound, HostAmbiguous, HostAttributeMissing as {@link joinHost}
 */
export async function findHostIn(region: RegionReads, name: string, signal: AbortSignal): Promise<ComputeHost> {
  const join = async (trustedMs: number): Promise<ComputeHost> => {
    const [services, hypervisors] = await Promise.all([
      region.services(0, signal),
      region.hypervisors(trustedMs, signal),
    ]);
    return joinHost(name, services, hypervisors);
  };
  try {
    return await join(plannedWithMs);
  } catch (error) {
    if (failureCode(error) !== 'HostNotFound') throw error;
    return await join(0);
  }
}
