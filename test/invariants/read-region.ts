import type { Fleet } from '../../lab/openstack/fleet.ts';
import { listServices } from '../../lab/openstack/hosts.ts';
import type { ApiCall, MigrationEvent } from '../../lab/openstack/journal.ts';
import { listServers } from '../../lab/openstack/seed.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { ExpectedServer, OfOpenStack } from './snapshot.ts';

export const noRegion: OfOpenStack = {
  expectedServers: [],
  servers: [],
  guests: {},
  services: [],
  allocations: {},
  migrationEvents: [],
  novaCalls: [],
};

interface ObservedRegion {
  session: Session;
  fleet: Pick<Fleet, 'hosts'>;
  expected: Iterable<ExpectedServer>;
  /** What Nova was asked, and what became of migrations, since the test began. */
  journal: { novaCalls: readonly ApiCall[]; migrationEvents: readonly MigrationEvent[] };
  /** Hosts whose allocations are read. */
  emptied: readonly string[];
}

/** Nova and Placement by another client than drover's, their journals, and the machines of the lab. */
export async function readRegion({ session, fleet, expected, journal, emptied }: ObservedRegion): Promise<OfOpenStack> {
  const [servers, services, machines] = await Promise.all([listServers(session), listServices(session), fleet.hosts()]);
  return {
    expectedServers: [...expected],
    servers: servers.map((server) => ({
      id: server.id,
      name: server.name,
      status: server.status,
      taskState: server['OS-EXT-STS:task_state'],
      host: server['OS-EXT-SRV-ATTR:host'],
    })),
    guests: Object.fromEntries(Object.entries(machines).map(([host, { guests }]) => [host, guests])),
    services: services.map(({ id, host, status, disabled_reason: disabledReason }) => ({
      id,
      host,
      status,
      disabledReason,
    })),
    allocations: await readAllocations(session, emptied),
    migrationEvents: journal.migrationEvents.map(({ timeMs, id, instance, type, status, source, dest }) => ({
      atMs: timeMs,
      id,
      instanceId: instance,
      type,
      status,
      sourceHost: source,
      targetHost: dest,
    })),
    novaCalls: journal.novaCalls,
  };
}

async function readAllocations(session: Session, hosts: readonly string[]): Promise<Record<string, string[]>> {
  if (hosts.length === 0) return {};
  const { resource_providers: providers } = await session.placement<{
    resource_providers: { uuid: string; name: string }[];
  }>('GET', '/resource_providers');
  const found: Record<string, string[]> = {};
  for (const host of hosts) {
    const provider = providers.find(({ name }) => name === host || name.startsWith(`${host}.`));
    if (provider === undefined) continue;
    const { allocations } = await session.placement<{ allocations: Record<string, object> }>(
      'GET',
      `/resource_providers/${provider.uuid}/allocations`,
    );
    found[host] = Object.keys(allocations);
  }
  return found;
}
