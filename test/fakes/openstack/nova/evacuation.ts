import type { Cloud } from '../cloud.ts';
import type { ComputeHost, InstanceAction, Migration, Server } from '../model.ts';
import { addAllocation, dropAllocation } from '../placement/state.ts';
import {
  addEvent,
  changeServer,
  createMigration,
  finishEvent,
  power,
  recordFault,
  resourcesOf,
  setStatus,
  startEvent,
} from './records.ts';
import { selectHost } from './scheduler.ts';

/**
 * The record is there with Nova's answer. `isStopped`: as of microversion 2.95 the server comes up stopped,
 * whatever it was.
 */
export function startEvacuation(
  cloud: Cloud,
  server: Server,
  target: string | null,
  isStopped: boolean,
  action: InstanceAction,
): void {
  const created = createMigration(cloud, server, 'evacuation', 'accepted', target);
  changeServer(cloud, server, { taskState: 'rebuilding' });
  cloud.soon(() => {
    // The conductor takes the oldest record that is accepted: of two requests at once, both may take the same.
    const migration =
      cloud.model.migrations.find((one) => one.instanceId === server.id && one.status === 'accepted') ?? created;
    findHost(cloud, { server, migration, action, isStopped }, target);
  });
}

interface Evacuation {
  readonly server: Server;
  readonly migration: Migration;
  readonly action: InstanceAction;
  readonly isStopped: boolean;
}

/** @see nova/conductor/manager.py, rebuild_instance */
function findHost(cloud: Cloud, evacuation: Evacuation, target: string | null): void {
  const { server, migration, action } = evacuation;
  if (server.isDeleted) return setStatus(cloud, migration, 'error');
  const event = startEvent(cloud, action, 'rebuild_server', 'controller');
  const choice = selectHost(cloud, server, { ignored: [migration.source], only: target });
  if ('reason' in choice) {
    finishEvent(cloud, action, event, choice.reason);
    recordFault(cloud, server, choice.reason);
    setStatus(cloud, migration, 'error');
    return changeServer(cloud, server, { vmState: 'error', taskState: null });
  }
  const { host } = choice;
  // What it has of the dead host stays until that host's nova-compute is back.
  addAllocation(
    cloud.model.placement,
    server.id,
    cloud.model.hypervisors.get(host.name)?.id ?? '',
    resourcesOf(server),
    server,
  );
  finishEvent(cloud, action, event, null);
  cloud.cast(host, () => rebuild(cloud, host, evacuation));
}

/** At the target. The server is ACTIVE there while it still shows its old host. */
function rebuild(cloud: Cloud, host: ComputeHost, { server, migration, action, isStopped }: Evacuation): void {
  if (server.isDeleted) return setStatus(cloud, migration, 'error');
  if (host.guests.has(server.id)) {
    // Asked for twice, and this is the second one: @see start-evacuation.ts.
    const reason = `Instance instance-${server.id.slice(0, 8)} already exists.`;
    addEvent(cloud, action, 'compute_rebuild_instance', host.name, reason);
    recordFault(cloud, server, reason);
    setStatus(cloud, migration, 'failed');
    return changeServer(cloud, server, { vmState: 'error', taskState: null });
  }
  const staysOff = isStopped || server.vmState === 'stopped';
  migration.dest = host.name;
  setStatus(cloud, migration, 'pre-migrating');
  changeServer(cloud, server, { taskState: 'rebuild_spawning' });
  const unlessDeleted = (step: () => void): void =>
    cloud.soonOn(host, () => (server.isDeleted ? setStatus(cloud, migration, 'failed') : step()));
  unlessDeleted(() => {
    host.guests.add(server.id);
    changeServer(cloud, server, {
      vmState: 'active',
      taskState: staysOff ? 'powering-off' : null,
      powerState: power.running,
      launchedMs: cloud.nowMs(),
    });
    unlessDeleted(() => {
      if (staysOff) changeServer(cloud, server, { vmState: 'stopped', taskState: null, powerState: power.shutdown });
      addEvent(cloud, action, 'compute_rebuild_instance', host.name);
      changeServer(cloud, server, { host: host.name });
      setStatus(cloud, migration, 'done');
    });
  });
}

/** What a nova-compute does first when it starts: guests that were evacuated go, and what they had of this host. */
export function dropEvacuated(cloud: Cloud, host: ComputeHost): void {
  const provider = cloud.model.hypervisors.get(host.name)?.id ?? '';
  for (const migration of cloud.model.migrations) {
    if (
      migration.type !== 'evacuation' ||
      migration.source !== host.name ||
      !['accepted', 'pre-migrating', 'done'].includes(migration.status)
    )
      continue;
    host.guests.delete(migration.instanceId);
    if (cloud.model.servers.get(migration.instanceId)?.isDeleted !== false) continue;
    dropAllocation(cloud.model.placement, migration.instanceId, provider);
    setStatus(cloud, migration, 'completed');
  }
}
