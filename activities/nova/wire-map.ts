import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { ComputeServiceRecord, Hypervisor, InstanceDetail, ServerGroup } from './types.ts';
import type {
  WireHypervisor,
  WireInstanceAction,
  WireMigration,
  WireServer,
  WireServerGroup,
  WireServerMigration,
  WireService,
} from './wire.ts';

/** Nova's answers in drover's words. Pure: what cannot be said safely is a failure, never a guess. */

const mibPerGiB = 1024;

/**
 * A service of a cell that is down counts as disabled and down: nothing is planned onto it and nothing is
 * believed of it.
 */
export function toComputeService(wire: WireService): ComputeServiceRecord {
  if (wire.status === 'UNKNOWN')
    return {
      id: '',
      host: wire.host,
      zone: '',
      status: 'disabled',
      disabledReason: null,
      state: 'down',
      forcedDown: false,
      cellDown: true,
    };
  const { id, host, zone, status, state } = wire;
  return {
    id,
    host,
    zone,
    status,
    disabledReason: wire.disabled_reason,
    state,
    forcedDown: wire.forced_down,
    cellDown: false,
  };
}

export const toHypervisor = (wire: WireHypervisor): Hypervisor => ({
  id: wire.id,
  hypervisorHostname: wire.hypervisor_hostname,
  serviceHost: wire.service.host,
  serviceId: wire.service.id,
  state: wire.state,
  status: wire.status,
  hypervisorType: wire.hypervisor_type,
  hypervisorVersion: wire.hypervisor_version,
});

/**
 * @param groups ids of the server groups it belongs to, where the answer itself does not name them
 * @throws HostAttributeMissing where Nova does not say on which host the server is
 * (docs/compatibility.md#how-nova-answers)
 */
export function toInstance(wire: WireServer, groups: string[] = []): InstanceDetail {
  const host = wire['OS-EXT-SRV-ATTR:host'];
  if (wire.status === 'UNKNOWN')
    throw droverFailure('HostAttributeMissing', `Server ${wire.id} is in a cell that is down.`);
  if (host === undefined)
    throw droverFailure('HostAttributeMissing', `Nova’s answer on server ${wire.id} has no OS-EXT-SRV-ATTR:host.`);
  const { flavor, image } = wire;
  const vmState = wire['OS-EXT-STS:vm_state'];
  if (flavor === undefined || vmState === undefined || wire.locked === undefined) {
    const missing = flavor === undefined ? 'flavor' : vmState === undefined ? 'OS-EXT-STS:vm_state' : 'locked';
    throw droverFailure('AnswerMalformed', `Nova’s answer on server ${wire.id} has no ${missing}.`);
  }
  const volumeIds = (wire['os-extended-volumes:volumes_attached'] ?? []).map((volume) => volume.id);
  const bootsFromImage = image !== '' && image !== null && image !== undefined;
  const localDiskGiB = (bootsFromImage ? flavor.disk : 0) + flavor.ephemeral + Math.ceil(flavor.swap / mibPerGiB);
  return {
    id: wire.id,
    name: wire.name ?? '',
    status: wire.status,
    taskState: wire['OS-EXT-STS:task_state'] ?? null,
    vmState,
    host: host === '' ? null : host,
    hypervisorHostname: wire['OS-EXT-SRV-ATTR:hypervisor_hostname'] ?? null,
    locked: wire.locked,
    memoryMiB: flavor.ram,
    vcpus: flavor.vcpus,
    localDiskGiB,
    serverGroups: wire.server_groups ?? groups,
    fault: wire.fault?.message ?? null,
    projectId: wire.tenant_id ?? '',
    userId: wire.user_id ?? '',
    availabilityZone: wire['OS-EXT-AZ:availability_zone'] || null,
    ...(wire.pinned_availability_zone === undefined ? {} : { pinnedAvailabilityZone: wire.pinned_availability_zone }),
    flavorName: flavor.original_name,
    extraSpecs: flavor.extra_specs ?? {},
    imageId: bootsFromImage ? image.id : null,
    ...imageProperties(image),
    trustedImageCertificates: wire.trusted_image_certificates ?? [],
    metadata: wire.metadata ?? {},
    rootDiskGiB: flavor.disk,
    ephemeralDiskGiB: flavor.ephemeral,
    swapMiB: flavor.swap,
    volumeIds,
    onlyVolumes: localDiskGiB === 0 && !bootsFromImage,
    configDrive: wire.config_drive === true || wire.config_drive === 'True',
    createdAt: rfc3339(wire.created ?? ''),
  };
}

/** Values are texts, numbers or booleans, as the image had them. */
function imageProperties(image: WireServer['image']): Pick<InstanceDetail, 'imageProperties'> {
  if (image === '' || image === null || image === undefined || image.properties === undefined) return {};
  return {
    imageProperties: Object.fromEntries(
      Object.entries(image.properties).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  };
}

/** The fields of the contract alone: what activities may return, as the rest (metadata) belongs to the owner. */
export const plainInstance = (detail: InstanceDetail): Instance => ({
  id: detail.id,
  name: detail.name,
  status: detail.status,
  taskState: detail.taskState,
  vmState: detail.vmState,
  host: detail.host,
  locked: detail.locked,
  memoryMiB: detail.memoryMiB,
  vcpus: detail.vcpus,
  localDiskGiB: detail.localDiskGiB,
  serverGroups: detail.serverGroups,
  fault: detail.fault,
  ...(movesLast(detail.metadata) ? { movesLast: true as const } : {}),
});

/**
 * Of machine-controller-manager and kubeadm, which mark the machines that they make; the first is for all providers.
 * Nova's metadata keys take no slash.
 */
const marksOfControlPlanes = ['drover:move-last', 'kubernetes.io-role-control-plane', 'kubernetes.io-role-master'];

const movesLast = (metadata: Record<string, string>): boolean =>
  marksOfControlPlanes.some((key) => metadata[key] !== undefined && !/^(false|no|off|0)$/iu.test(metadata[key]));

export const toServerGroup = (wire: WireServerGroup): ServerGroup => ({
  id: wire.id,
  name: wire.name,
  policy: wire.policy ?? '',
  maxServersPerHost: wire.rules?.max_server_per_host ?? 1,
  members: wire.members,
});

/** A record of `/os-migrations`. @throws HostAttributeMissing where Nova's policy hides the hosts */
export const toMigration = (wire: WireMigration): Migration => ({
  id: wire.id,
  instanceId: wire.instance_uuid,
  type: wire.migration_type,
  status: wire.status,
  sourceHost: sourceOf(wire),
  targetHost: wire.dest_compute || null,
  memoryTotalBytes: null,
  memoryRemainingBytes: null,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: rfc3339(wire.created_at),
  updatedAt: wire.updated_at ? rfc3339(wire.updated_at) : null,
});

/**
 * A record of the server's own migrations, which are live ones.
 * @throws HostAttributeMissing as for {@link toMigration}
 */
export const toLiveMigration = (wire: WireServerMigration): Migration => ({
  id: wire.id,
  instanceId: wire.server_uuid,
  type: 'live-migration',
  status: wire.status,
  sourceHost: sourceOf(wire),
  targetHost: wire.dest_compute || null,
  memoryTotalBytes: wire.memory_total_bytes,
  memoryProcessedBytes: wire.memory_processed_bytes ?? null,
  memoryRemainingBytes: wire.memory_remaining_bytes,
  diskTotalBytes: wire.disk_total_bytes,
  diskRemainingBytes: wire.disk_remaining_bytes,
  createdAt: rfc3339(wire.created_at),
  updatedAt: wire.updated_at ? rfc3339(wire.updated_at) : null,
});

function sourceOf(wire: { id: number; source_compute: string | null }): string {
  if (wire.source_compute !== null) return wire.source_compute;
  throw droverFailure('HostAttributeMissing', `Nova’s answer on migration ${wire.id} has no source_compute.`);
}

/** Nova writes times in UTC, sometimes without saying so. */
export const rfc3339 = (time: string): string =>
  time === '' || /(?:Z|[+-]\d{2}:?\d{2})$/u.test(time) ? time : `${time}Z`;

/** How many different reasons one sentence carries. */
const mostReasons = 3;

/**
 * What the failed events of an action say, the cause first; null when none failed. Events come latest first, and what
 * began last is nearest to the cause: each caller on the way up repeats it in other words, and the conductor ends with
 * "No valid host". Of several hosts that were tried Nova keeps the words of one.
 */
export function failureOf(action: WireInstanceAction): string | null {
  const failed = (action.events ?? []).filter((event) => event.result === 'Error');
  const words: string[] = [];
  for (const event of failed) {
    const said = event.details ?? lastLine(event.traceback) ?? `${event.event} failed`;
    if (!words.some((earlier) => said.includes(earlier))) words.push(said);
  }
  return words.length === 0 ? null : words.slice(0, mostReasons).join('; ');
}

const lastLine = (traceback: string | null | undefined): string | undefined =>
  traceback?.trim().split('\n').at(-1)?.trim();
