import { novaTime, serverTime, type Cloud } from '../cloud.ts';
import type {
  Aggregate,
  Flavor,
  Hypervisor,
  InstanceAction,
  Migration,
  Server,
  ServerGroup,
  Service,
} from '../model.ts';
import { usedOf } from '../placement/state.ts';
import { hostNamed, isUp, nodeName, serversOn, statusOf, zoneOf } from './records.ts';
import { memoryOf, writtenMs } from './live-migration.ts';

/** Nova's answers, by microversion (its minor number). Shapes recorded from Nova 34. */

export const viewService = (cloud: Cloud, service: Service): object => ({
  id: service.id,
  binary: service.binary,
  host: service.host,
  zone: service.binary === 'nova-compute' ? zoneOf(cloud, service.host) : 'internal',
  status: service.isDisabled ? 'disabled' : 'enabled',
  state: isUp(cloud, service) ? 'up' : 'down',
  updated_at: novaTime(service.updatedMs),
  disabled_reason: service.disabledReason,
  forced_down: service.isForcedDown,
});

export function viewHypervisor(
  cloud: Cloud,
  { id, hostname, host, serviceId }: Hypervisor,
  minor: number,
  withServers: boolean,
): object {
  const service = cloud.model.services.find((one) => one.id === serviceId);
  const { profile } = hostNamed(cloud, host);
  const servers = serversOn(cloud, host);
  const used = usedOf(cloud.model.placement, id);
  const shown =
    withServers && (minor >= 75 || servers.length > 0)
      ? { servers: servers.map((server) => ({ name: `instance-${server.id.slice(0, 8)}`, uuid: server.id })) }
      : {};
  const base = {
    id,
    hypervisor_hostname: hostname,
    state: service !== undefined && isUp(cloud, service) ? 'up' : 'down',
    status: service?.isDisabled === true ? 'disabled' : 'enabled',
    hypervisor_type: 'QEMU',
    hypervisor_version: profile.hypervisorVersion,
    host_ip: '127.0.0.1',
    service: { id: serviceId, host, disabled_reason: service?.disabledReason ?? null },
    ...shown,
  };
  if (minor >= 88) return { ...base, uptime: null };
  return {
    ...base,
    vcpus: profile.vcpus,
    memory_mb: profile.memoryMiB,
    local_gb: profile.diskGiB,
    vcpus_used: used['VCPU'] ?? 0,
    memory_mb_used: used['MEMORY_MB'] ?? 0,
    local_gb_used: used['DISK_GB'] ?? 0,
    free_ram_mb: profile.memoryMiB - (used['MEMORY_MB'] ?? 0),
    free_disk_gb: profile.diskGiB - (used['DISK_GB'] ?? 0),
    disk_available_least: 0,
    current_workload: 0,
    running_vms: servers.length,
    cpu_info: '{}',
  };
}

export const viewServerName = (server: Server): object => ({ id: server.id, name: server.name, links: [] });

/** @param isAdmin others do not see where a server is */
export function viewServer(
  cloud: Cloud,
  server: Server,
  { minor, isAdmin, isAlone }: { minor: number; isAdmin: boolean; isAlone: boolean },
): object {
  const status = statusOf(server);
  const { flavor, fault } = server;
  return {
    id: server.id,
    name: server.name,
    status,
    tenant_id: server.projectId,
    user_id: server.userId,
    metadata: server.metadata,
    hostId: server.host === null ? '' : Buffer.from(server.projectId + server.host).toString('hex'),
    image: { id: server.imageId, links: [], ...(minor >= 98 ? { properties: { hw_machine_type: 'pc' } } : {}) },
    flavor: {
      vcpus: flavor.vcpus,
      ram: flavor.memoryMiB,
      disk: flavor.diskGiB,
      ephemeral: 0,
      swap: 0,
      original_name: flavor.name,
      extra_specs: flavor.extraSpecs,
    },
    created: serverTime(server.createdMs),
    updated: serverTime(server.updatedMs),
    addresses: {},
    links: [],
    'OS-DCF:diskConfig': 'MANUAL',
    ...(fault !== null && (status === 'ERROR' || status === 'DELETED')
      ? { fault: { code: fault.code, created: serverTime(fault.createdMs), message: fault.message } }
      : {}),
    ...(['ACTIVE', 'BUILD', 'REBUILD', 'RESIZE', 'VERIFY_RESIZE', 'MIGRATING'].includes(status) ? { progress: 0 } : {}),
    'OS-EXT-AZ:availability_zone': server.host === null ? '' : zoneOf(cloud, server.host),
    config_drive: '',
    key_name: null,
    'OS-SRV-USG:launched_at': server.launchedMs === null ? null : novaTime(server.launchedMs),
    'OS-SRV-USG:terminated_at': null,
    ...(isAdmin ? placeOf(server) : {}),
    'OS-EXT-STS:task_state': server.taskState,
    'OS-EXT-STS:vm_state': server.vmState,
    'OS-EXT-STS:power_state': server.powerState,
    'os-extended-volumes:volumes_attached': [],
    locked: server.isLocked,
    description: null,
    tags: [],
    trusted_image_certificates: null,
    ...(isAlone && minor >= 71
      ? {
          server_groups: cloud.model.serverGroups
            .filter(({ members }) => members.includes(server.id))
            .map(({ id }) => id),
        }
      : {}),
    locked_reason: null,
    ...(minor >= 96 ? { pinned_availability_zone: server.pinnedZone } : {}),
  };
}

const placeOf = ({ host, id, name }: Server): object => ({
  'OS-EXT-SRV-ATTR:host': host,
  'OS-EXT-SRV-ATTR:instance_name': `instance-${id.slice(0, 8)}`,
  'OS-EXT-SRV-ATTR:hypervisor_hostname': host === null ? null : nodeName(host),
  'OS-EXT-SRV-ATTR:hostname': hostnameOf(name),
});

/** What a server calls itself, of the name that it was given. */
export const hostnameOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9.-]+/gu, '-');

export const viewAggregate = ({ id, uuid, name, hosts, metadata, createdMs }: Aggregate): object => ({
  id,
  uuid,
  name,
  hosts: [...hosts],
  metadata: { ...metadata },
  availability_zone: metadata['availability_zone'] ?? null,
  created_at: novaTime(createdMs),
  updated_at: null,
  deleted: false,
  deleted_at: null,
});

export const viewServerGroup = (
  { id, name, policy, maxServersPerHost, members }: ServerGroup,
  projectId: string,
): object => ({
  id,
  name,
  policy,
  rules: policy === 'anti-affinity' ? { max_server_per_host: maxServersPerHost } : {},
  members: [...members],
  project_id: projectId,
  user_id: projectId,
});

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : novaTime(ms));

/** As `/os-migrations` shows it. */
export const viewMigration = (cloud: Cloud, migration: Migration): object => ({
  id: migration.id,
  uuid: migration.uuid,
  instance_uuid: migration.instanceId,
  migration_type: migration.type,
  status: migration.status,
  source_compute: migration.source,
  source_node: nodeName(migration.source),
  dest_compute: migration.dest,
  dest_node: migration.dest === null ? null : nodeName(migration.dest),
  dest_host: null,
  old_instance_type_id: 1,
  new_instance_type_id: 1,
  created_at: novaTime(migration.createdMs),
  updated_at: timeOrNull(writtenMs(cloud, migration)),
  user_id: migration.userId,
  project_id: migration.projectId,
});

/** As `/servers/{id}/migrations` shows a live migration in progress. */
export function viewServerMigration(cloud: Cloud, migration: Migration): object {
  const memory = memoryOf(cloud, migration);
  const disk = memory === null ? null : 0;
  return {
    id: migration.id,
    uuid: migration.uuid,
    server_uuid: migration.instanceId,
    status: migration.status,
    source_compute: migration.source,
    source_node: nodeName(migration.source),
    dest_compute: migration.dest,
    dest_node: migration.dest === null ? null : nodeName(migration.dest),
    dest_host: null,
    memory_total_bytes: memory?.total ?? null,
    memory_processed_bytes: memory?.processed ?? null,
    memory_remaining_bytes: memory?.remaining ?? null,
    disk_total_bytes: disk,
    disk_processed_bytes: disk,
    disk_remaining_bytes: disk,
    created_at: novaTime(migration.createdMs),
    updated_at: timeOrNull(writtenMs(cloud, migration)),
    user_id: migration.userId,
    project_id: migration.projectId,
  };
}

export const viewAction = (server: Server, { action, requestId, startMs, message }: InstanceAction): object => ({
  action,
  instance_uuid: server.id,
  request_id: requestId,
  user_id: server.userId,
  project_id: server.projectId,
  start_time: novaTime(startMs),
  message,
});

/** Latest event first. */
export const viewActionWithEvents = (server: Server, action: InstanceAction): object => ({
  ...viewAction(server, action),
  events: action.events.toReversed().map(({ event, host, startMs, finishMs, result, details }) => ({
    event,
    start_time: novaTime(startMs),
    finish_time: finishMs === null ? null : novaTime(finishMs),
    result,
    traceback: null,
    host,
    details,
  })),
});

export const viewFlavor = ({ id, name, vcpus, memoryMiB, diskGiB, extraSpecs }: Flavor): object => ({
  id,
  name,
  vcpus,
  ram: memoryMiB,
  disk: diskGiB,
  swap: 0,
  'OS-FLV-EXT-DATA:ephemeral': 0,
  'OS-FLV-DISABLED:disabled': false,
  'os-flavor-access:is_public': true,
  rxtx_factor: 1,
  links: [],
  extra_specs: extraSpecs,
});
