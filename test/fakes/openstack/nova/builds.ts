import type { Cloud } from '../cloud.ts';
import type { ComputeHost, InstanceAction, Server } from '../model.ts';
import { addAllocation, dropAllocation, dropConsumer } from '../placement/state.ts';
import { addEvent, changeServer, hostNamed, isHostUp, power, recordFault, resourcesOf, setStatus } from './records.ts';
import { selectHost } from './scheduler.ts';
import { confirm } from './cold-migration.ts';

/** What happens after Nova has answered 202 to a new server. */
export function conductBuild(cloud: Cloud, server: Server, wanted: string | null, action: InstanceAction): void {
  cloud.soon(() => {
    if (server.isDeleted) return;
    const choice = selectHost(cloud, server, { only: wanted });
    if ('reason' in choice) {
      recordFault(cloud, server, choice.reason);
      addEvent(cloud, action, 'conductor_schedule_and_build_instances', 'controller', choice.reason);
      return changeServer(cloud, server, { vmState: 'error', taskState: null });
    }
    const { host } = choice;
    addAllocation(
      cloud.model.placement,
      server.id,
      cloud.model.hypervisors.get(host.name)?.id ?? '',
      resourcesOf(server),
      server,
    );
    cloud.cast(host, () =>
      cloud.after(host.profile.buildDelaySeconds * 1_000, () => claim(cloud, server, host, action)),
    );
  });
}

function claim(cloud: Cloud, server: Server, host: ComputeHost, action: InstanceAction): void {
  if (server.isDeleted) return;
  if (!host.isRunning) return void host.mailbox.push(() => claim(cloud, server, host, action));
  changeServer(cloud, server, { host: host.name, taskState: 'spawning' });
  cloud.soonOn(host, () => {
    if (server.isDeleted) return;
    host.guests.add(server.id);
    addEvent(cloud, action, 'compute__do_build_and_run_instance', host.name);
    changeServer(cloud, server, {
      vmState: 'active',
      taskState: null,
      powerState: power.running,
      launchedMs: cloud.nowMs(),
    });
  });
}

/** `DELETE /servers/{id}`: by its host where that is up, else at once in the database. */
export function deleteServer(cloud: Cloud, server: Server): void {
  if (server.taskState === 'deleting') return;
  const { host } = server;
  if (server.vmState === 'resized') confirmOnDeletion(cloud, server);
  if (host === null || !isHostUp(cloud, host)) return forget(cloud, server);
  changeServer(cloud, server, { taskState: 'deleting' });
  cloud.cast(hostNamed(cloud, host), () => destroy(cloud, server));
}

function confirmOnDeletion(cloud: Cloud, server: Server): void {
  const migration = cloud.model.migrations.findLast(
    ({ instanceId, status }) => instanceId === server.id && status === 'finished',
  );
  if (migration !== undefined) confirm(cloud, server, migration, null);
}

/** At the server's host. */
export function destroy(cloud: Cloud, server: Server): void {
  if (server.isDeleted || server.host === null) return;
  const host = hostNamed(cloud, server.host);
  const { incarnation } = host;
  cloud.after(host.profile.destroySeconds * 1_000, () => {
    if (host.incarnation !== incarnation || server.isDeleted) return;
    host.guests.delete(server.id);
    changeServer(cloud, server, { vmState: 'deleted', taskState: null });
    // Nova still lists it for a moment.
    cloud.soonOn(host, () => forget(cloud, server));
  });
}

function forget(cloud: Cloud, server: Server): void {
  const { placement } = cloud.model;
  dropConsumer(placement, server.id);
  changeServer(cloud, server, { isDeleted: true, vmState: 'deleted', taskState: null });
  for (const group of cloud.model.serverGroups) {
    const index = group.members.indexOf(server.id);
    if (index >= 0) group.members.splice(index, 1);
  }
  // A cold migration that unknownId can confirm any more.
  for (const migration of cloud.model.migrations) {
    if (migration.instanceId !== server.id || migration.status !== 'finished') continue;
    dropAllocation(placement, migration.uuid, cloud.model.hypervisors.get(migration.source)?.id ?? '');
    setStatus(cloud, migration, 'confirmed');
  }
}
