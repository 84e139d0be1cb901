/** What decisions need of a Nova server. Names follow the Compute API; units are in the names. */
export interface Instance {
  id: string;
  name: string;
  /** `status`: ACTIVE, SHUTOFF, PAUSED, SUSPENDED, RESCUE, ERROR, MIGRATING, RESIZE, VERIFY_RESIZE, BUILD, … */
  status: string;
  /** `OS-EXT-STS:task_state`; null when idle. */
  taskState: string | null;
  /** `OS-EXT-STS:vm_state`: active, stopped, paused, suspended, rescued, error, resized, … */
  vmState: string;
  /** `OS-EXT-SRV-ATTR:host`; null where no host holds the server (shelved offloaded, not scheduled yet). */
  host: string | null;
  locked: boolean;
  memoryMiB: number;
  vcpus: number;
  /** Root, ephemeral and swap disk that lies on the host; 0 for a server whose disks are volumes. */
  localDiskGiB: number;
  /** Server groups the server belongs to: their members move one at a time. */
  serverGroups: string[];
  /** Nova's fault message, where the server is in ERROR. */
  fault: string | null;
  /** Its owner says that it is part of a control plane: it moves after the others. */
  movesLast?: true;
}

/**
 * What keeps the server busy; null: nothing. A build is one all the way, though it has no task in the moments between
 * two of its own.
 */
export const busyWith = ({ taskState, vmState }: Pick<Instance, 'taskState' | 'vmState'>): string | null =>
  taskState ?? (vmState === 'building' ? vmState : null);

/**
 * Statuses of a migration record that mean it is over. `finished` is not one of them: a cold migration in it
 * waits for confirmation.
 */
export const endedMigrationStatuses = [
  'completed',
  'confirmed',
  'reverted',
  'error',
  'failed',
  'cancelled',
  'done',
] as const;

/**
 * The guest of a live migration runs on its target already, and its memory follows it page by page. Nova's libvirt driver
 * writes it where `live_migration_permit_post_copy` is on: after the first copy of the memory, or when it is asked to
 * complete the migration. Nova does not abort it, and does not list it among the server's migrations in progress.
 */
export const postCopyStatus = 'running (post-copy)';

/** A Nova migration record: the only witness of how a migration went (server status lies early). */
export interface Migration {
  /** Numeric id, as the server-migrations API uses it. */
  id: number;
  instanceId: string;
  /** `live-migration`, `migration` (cold), `resize` or `evacuation`. */
  type: string;
  /** accepted, queued, preparing, running, {@link postCopyStatus}, post-migrating, completed, failed, error, cancelled, … */
  status: string;
  sourceHost: string;
  /** Null until the scheduler has chosen. */
  targetHost: string | null;
  memoryTotalBytes: number | null;
  /** Sent so far, pages that were written again and again included. Absent, or null: Nova did not say. */
  memoryProcessedBytes?: number | null;
  memoryRemainingBytes: number | null;
  diskTotalBytes: number | null;
  diskRemainingBytes: number | null;
  /** RFC 3339. */
  createdAt: string;
  /**
   * RFC 3339: when Nova wrote it last, which it does every few seconds while it copies; null or absent: never since it
   * was made.
   */
  updatedAt?: string | null;
}

/** What Nova and Placement say of the host that is being emptied. */
export interface HostObservation {
  /** The compute service's `host`, as in `OS-EXT-SRV-ATTR:host`. */
  host: string;
  hypervisorHostname: string;
  hypervisorId: string;
  serviceId: string;
  service: ComputeService;
  instances: Instance[];
  /** Migrations in progress to or from the host, cold ones included. */
  migrations: Migration[];
  /** Servers in VERIFY_RESIZE whose source is this host: their old disks and claim are still here. */
  unconfirmedResizes: string[];
  /** The same, as Nova shows them where they are. Absent: observed before drover read that. */
  resizedAway?: Instance[];
  /** Consumers with allocations against the host's resource provider. */
  allocations: string[];
  /** Whether Placement carries COMPUTE_STATUS_DISABLED for the host, so that the scheduler really leaves it out. */
  schedulingDisabled: boolean;
  /**
   * Guests that libvirt runs on the host although Nova and Placement have nothing on it. Null: something else is left,
   * so it was not asked; or libvirt is not reached from here, or did not answer.
   */
  unknownGuests: { id: string; name: string }[] | null;
}

export interface ComputeService {
  status: 'enabled' | 'disabled';
  /** `disabled_reason`. */
  disabledReason: string | null;
  state: 'up' | 'down';
  forcedDown: boolean;
}
