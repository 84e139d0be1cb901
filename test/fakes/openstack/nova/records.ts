import type { Cloud } from '../cloud.ts';
import type {
  ActionEvent,
  ComputeHost,
  InstanceAction,
  Migration,
  MigrationType,
  Resources,
  Server,
  Service,
} from '../model.ts';

/** Power states, as Nova numbers them. */
export const power = { running: 1, paused: 3, shutdown: 4, crashed: 6 } as const;

/** By vm_state and task_state, what users see. @see nova/api/openstack/common.py, _STATE_MAP */
export function statusOf({ vmState, taskState }: Pick<Server, 'vmState' | 'taskState'>): string {
  const isResizing =
    taskState !== null && ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'].includes(taskState);
  const isRebuilding = taskState !== null && taskState.startsWith('rebuild');
  switch (vmState) {
    case 'active':
      return taskState === 'migrating' ? 'MIGRATING' : isResizing ? 'RESIZE' : isRebuilding ? 'REBUILD' : 'ACTIVE';
    case 'stopped':
      return isResizing ? 'RESIZE' : isRebuilding ? 'REBUILD' : 'SHUTOFF';
    case 'paused':
      return taskState === 'migrating' ? 'MIGRATING' : 'PAUSED';
    case 'resized':
      return taskState === 'resize_reverting' ? 'REVERT_RESIZE' : 'VERIFY_RESIZE';
    case 'error':
      return isRebuilding ? 'REBUILD' : 'ERROR';
    case 'building':
      return 'BUILD';
    case 'suspended':
      return 'SUSPENDED';
    case 'rescued':
      return 'RESCUE';
    case 'deleted':
      return 'DELETED';
  }
}

export function changeServer(cloud: Cloud, server: Server, change: Partial<Omit<Server, 'id'>>): void {
  Object.assign(server, change, { updatedMs: cloud.nowMs() });
}

export function recordFault(cloud: Cloud, server: Server, message: string, code = 500): void {
  server.fault = { code, message: message.slice(0, 255), createdMs: cloud.nowMs() };
}

/** Servers that Nova has there, without deleted ones. */
export const serversOn = ({ model }: Cloud, host: string): Server[] =>
  [...model.servers.values()].filter((server) => server.host === host && !server.isDeleted);

/**
 * Migration records are deleted with their server: Nova's API does not show them any more, though they are written on.
 */
export const existing = ({ model }: Cloud): Migration[] =>
  model.migrations.filter(({ instanceId }) => model.servers.get(instanceId)?.isDeleted === false);

export const hostNamed = ({ model }: Cloud, name: string): ComputeHost => {
  const host = model.hosts.get(name);
  if (host === undefined) throw new Error(`the simulated fleet has no host ${name}`);
  return host;
};

export const serviceOf = ({ model }: Cloud, host: string): Service | undefined =>
  model.services.find((service) => service.binary === 'nova-compute' && service.host === host);

/** How long a nova-compute may say nothing: the lab's `service_down_time`. */
const serviceDownMs = 12_000;

/** What Nova believes of a service; a dead nova-compute counts as up for a while. */
export function isUp(cloud: Cloud, service: Service): boolean {
  if (service.isForcedDown) return false;
  const host = cloud.model.hosts.get(service.host);
  return host === undefined || host.isRunning || cloud.nowMs() - host.lastReportMs <= serviceDownMs;
}

export const isHostUp = (cloud: Cloud, host: string): boolean => {
  const service = serviceOf(cloud, host);
  return service !== undefined && isUp(cloud, service);
};

/** `nova` where no aggregate says otherwise. */
export const zoneOf = ({ model }: Cloud, host: string): string =>
  model.aggregates.find(({ hosts, metadata }) => hosts.includes(host) && metadata['availability_zone'] !== undefined)
    ?.metadata['availability_zone'] ?? 'nova';

export function createMigration(
  cloud: Cloud,
  server: Server,
  type: MigrationType,
  status: string,
  dest: string | null,
): Migration {
  const migration: Migration = {
    id: cloud.next('migration'),
    uuid: cloud.uuid(),
    type,
    instanceId: server.id,
    projectId: server.projectId,
    userId: server.userId,
    source: server.host ?? '',
    dest,
    status,
    createdMs: cloud.nowMs(),
    updatedMs: null,
    memory: null,
  };
  cloud.model.migrations.push(migration);
  if (type !== 'evacuation') {
    const script = cloud.model.scripts.get(server.id) ?? { attempts: [], started: 0 };
    cloud.model.scripts.set(server.id, { ...script, started: script.started + 1 });
  }
  journal(cloud, migration);
  return migration;
}

export function setStatus(cloud: Cloud, migration: Migration, status: string): void {
  migration.status = status;
  migration.updatedMs = cloud.nowMs();
  journal(cloud, migration);
}

function journal(cloud: Cloud, { uuid, id, instanceId, type, status, source, dest }: Migration): void {
  cloud.journal.migrations.push({
    timeMs: cloud.nowMs(),
    migration: uuid,
    id,
    instance: instanceId,
    type,
    status,
    source,
    dest,
  });
}

export function startAction(cloud: Cloud, server: Server, action: string, requestId: string): InstanceAction {
  const started: InstanceAction = { action, requestId, startMs: cloud.nowMs(), message: null, events: [] };
  server.actions.push(started);
  return started;
}

export function startEvent(cloud: Cloud, action: InstanceAction, event: string, host: string): ActionEvent {
  const started: ActionEvent = { event, host, startMs: cloud.nowMs(), finishMs: null, result: null, details: null };
  action.events.push(started);
  return started;
}

/**
 * Nova looks for the event by its name: of several of one name it finishes the first again and again, and
 * the others never.
 *
 * @param reason of what went wrong; null: nothing did
 */
export function finishEvent(
  cloud: Cloud,
  action: InstanceAction,
  { event: name }: ActionEvent,
  reason: string | null,
): void {
  const first = action.events.find(({ event }) => event === name);
  Object.assign(first ?? {}, {
    finishMs: cloud.nowMs(),
    result: reason === null ? 'Success' : 'Error',
    details: reason,
  });
  if (reason !== null) action.message = 'Error';
}

/** An event that begins and ends at this moment. */
export const addEvent = (
  cloud: Cloud,
  action: InstanceAction,
  event: string,
  host: string,
  reason: string | null = null,
): void => finishEvent(cloud, action, startEvent(cloud, action, event, host), reason);

/** What a server takes of the host it is on. */
export function resourcesOf({ flavor }: Server): Resources {
  const named = Object.entries(flavor.extraSpecs).flatMap(([name, value]) =>
    name.startsWith('resources:') ? [[name.slice('resources:'.length), Number(value)]] : [],
  );
  return {
    VCPU: flavor.vcpus,
    MEMORY_MB: flavor.memoryMiB,
    ...(flavor.diskGiB === 0 ? {} : { DISK_GB: flavor.diskGiB }),
    ...(Object.fromEntries(named) as Resources),
  };
}

/** The hypervisor hostname: as with libvirt, not the service's name. */
export const nodeName = (host: string): string => `${host}.lab.drover.dev`;
