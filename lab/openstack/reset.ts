import { connectFleet, type Fleet } from './fleet.ts';
import type { OpenStackHandle } from './handle.ts';
import { listServices } from './hosts.ts';
import { deleteInstances, listServers } from './seed.ts';
import { openSession, type Session } from './session.ts';

interface Aggregate {
  readonly id: number;
  readonly hosts: readonly string[];
}

/**
 * Empties the cloud for the next test on the same lab: every nova-compute runs, no servers, services enabled and up,
 * no server groups, no aggregates, profiles and scripts as in a new lab. Hosts that a test added stay.
 */
export async function resetOpenStack(handle: OpenStackHandle): Promise<void> {
  const session = await openSession(handle, 'lab-admin');
  const fleet = connectFleet(handle);
  await makeObedient(fleet);
  await enableServices(session);
  await deleteInstances(
    session,
    (await listServers(session)).map(({ id }) => id),
  );
  await deleteGroups(session);
  await deleteAggregates(session);
  // Last: an inventory cannot go as long as a server uses it.
  await fleet.reset();
  await clearGuests(fleet);
  await fleet.archive();
}

/** A migration that ended in error, or whose server was deleted on the way, leaves a guest that Nova does not know. */
async function clearGuests(fleet: Fleet): Promise<void> {
  for (const [host, { guests }] of Object.entries(await fleet.hosts())) {
    if (guests === 0) continue;
    await fleet.crash(host);
    await fleet.reinstall(host);
  }
}

async function makeObedient(fleet: Fleet): Promise<void> {
  for (const [host, { running, destroySeconds, buildDelaySeconds }] of Object.entries(await fleet.hosts())) {
    if (destroySeconds !== 0 || buildDelaySeconds !== 0)
      await fleet.change(host, { destroySeconds: 0, buildDelaySeconds: 0 });
    if (!running) await fleet.start(host);
  }
}

async function enableServices(session: Session): Promise<void> {
  const services = await listServices(session);
  const change = (id: string, body: object) => session.compute('PUT', `/os-services/${id}`, { body });
  for (const { id, forced_down, status } of services) {
    if (forced_down) await change(id, { forced_down: false });
    if (status === 'disabled') await change(id, { status: 'enabled' });
  }
}

async function deleteGroups(session: Session): Promise<void> {
  const { server_groups } = await session.compute<{ server_groups: { id: string }[] }>(
    'GET',
    '/os-server-groups?all_projects=1',
  );
  for (const { id } of server_groups) await session.compute('DELETE', `/os-server-groups/${id}`);
}

async function deleteAggregates(session: Session): Promise<void> {
  const { aggregates } = await session.compute<{ aggregates: Aggregate[] }>('GET', '/os-aggregates');
  for (const { id, hosts } of aggregates) {
    for (const host of hosts)
      await session.compute('POST', `/os-aggregates/${id}/action`, { body: { remove_host: { host } } });
    await session.compute('DELETE', `/os-aggregates/${id}`);
  }
}
