import type { ComputeService, Instance, Migration } from '../../contracts/eviction/instance.ts';

/**
 * What drover asks of Nova. Every method is one request, or as many pages as there are, ends when its signal is
 * aborted, never tries again by itself (except one new login when the token is refused), and throws failures of
 * contracts/errors.ts: `CredentialRefused`, `NotPermitted`, `EndpointNotFound`, `NovaUnavailable`,
 * `KeystoneUnavailable`, `RequestRefused`, `AnswerMalformed`; further codes stand at the methods. Refusals carry
 * `{ status, requestId, method, path, words }` as their first detail; `serviceWords` of activities/openstack/faults.ts
 * reads Nova's words from them.
 *
 * @see Compute API reference; microversions in activities/nova/client.ts
 */
export interface NovaClient extends HostCalls, NewServerCalls {
  /** The services whose binary is nova-compute, of all cells. */
  computeServices(signal: AbortSignal): Promise<ComputeServiceRecord[]>;
  /**
   * Sets the status of a compute service, or whether it counts as down whatever it says.
   * @throws HostNotFound no service of that id
   * @throws ServiceConflict another client changes it at the same time, or has just changed it to that
   * @throws EvacuatedGuestsRemain it cannot be forced up: nova-compute there has not dropped the guests
   * that were evacuated
   */
  updateService(
    serviceId: string,
    change: ServiceChange,
    signal: AbortSignal,
  ): Promise<Accepted & { service: ComputeServiceRecord }>;

  /** All hypervisors of the region. */
  hypervisors(signal: AbortSignal): Promise<Hypervisor[]>;

  /**
   * All servers of all projects on a compute host (`OS-EXT-SRV-ATTR:host`), those being deleted included. Not the
   * soft-deleted ones, which Nova never lists; their allocations in Placement show them. An empty list is only given
   * where the host's service answers for it.
   * @throws HostNotFound Nova has no compute service on such a host
   * @param filter.groups all server groups, where they are known; else they are read
   * @throws HostAttributeMissing a server does not say where it is: the credential is no admin's, or a cell is down
   */
  servers(filter: { host: string; groups?: readonly ServerGroup[] }, signal: AbortSignal): Promise<InstanceDetail[]>;
  /**
   * Null when Nova knows it no more.
   * @throws HostAttributeMissing as for {@link servers}
   */
  server(instanceId: string, signal: AbortSignal): Promise<InstanceDetail | null>;
  /** Server groups of all projects. */
  serverGroups(signal: AbortSignal): Promise<ServerGroup[]>;
  aggregates(signal: AbortSignal): Promise<Aggregate[]>;

  /**
   * Migrations of every type that are not over, cold ones that wait for confirmation (`finished`) included, of the
   * whole region or with the host as source or as target. None is missed while it moves from one status to the next.
   */
  migrationsInProgress(filter: { host?: string }, signal: AbortSignal): Promise<Migration[]>;
  /**
   * Migrations of the region, of every type, that copy or are about to; without those that wait for their confirmation.
   */
  migrationsCopying(signal: AbortSignal): Promise<Migration[]>;
  /**
   * Migrations of the region, of every type and status, that Nova has written since `time` (RFC 3339) by its own clock,
   * in one request. A record that was made and never written again is not among them.
   */
  migrationsChangedSince(time: string, signal: AbortSignal): Promise<Migration[]>;
  /**
   * One live migration in progress (queued, preparing, running, post-migrating), with its memory and disk counters.
   * Null while it is only accepted, in post-copy, once it is over, and for cold ones: {@link migration} knows the status then.
   */
  serverMigration(instanceId: string, migrationId: number, signal: AbortSignal): Promise<Migration | null>;
  /**
   * One migration of a server from Nova's history, whatever its type and status, without counters; null when Nova has
   * no such record.
   */
  migration(instanceId: string, migrationId: number, signal: AbortSignal): Promise<Migration | null>;
  /** All migrations of a server, newest first, without counters. */
  migrationsOf(instanceId: string, signal: AbortSignal): Promise<Migration[]>;

  /**
   * Asks for a live migration. Nova answers before it has checked anything: the migration record decides, about
   * 0.1 s later.
   * @param target `host` null: the scheduler chooses; a name is checked by the scheduler too
   * @throws InstanceNotFound
   * @throws InstanceBusy 409: another operation holds the server
   * @throws InstanceStateRefused 409: Nova does not move a server in that state, or it is locked
   * @throws MigrationRefused 400, and 403 or 409 for reasons of the server itself: Nova's words say why
   * @throws NotPermitted 403 by policy
   */
  liveMigrate(instanceId: string, target: { host: string | null }, signal: AbortSignal): Promise<Accepted>;
  /** Asks for a cold migration; a running server is stopped, moved and started. Throws as {@link liveMigrate}. */
  coldMigrate(instanceId: string, target: { host: string | null }, signal: AbortSignal): Promise<Accepted>;
  /**
   * Aborts a live migration in progress (running, queued or preparing).
   * @throws MigrationNotFound it is over, or never was
   * @throws MigrationNotAbortable it is past the point of return
   */
  abortMigration(instanceId: string, migrationId: number, signal: AbortSignal): Promise<Accepted>;
  /**
   * Makes Nova finish the copy by pausing the server or by post-copy.
   * @throws MigrationNotFound it is over, or never was
   * @throws MigrationRefused it is not `running`
   */
  forceCompleteMigration(instanceId: string, migrationId: number, signal: AbortSignal): Promise<Accepted>;
  /**
   * Confirms the cold migration or resize that a server waits in.
   * @throws InstanceNotFound
   * @throws InstanceStateRefused nothing waits for confirmation
   */
  confirmResize(instanceId: string, signal: AbortSignal): Promise<Accepted>;

  /**
   * Nova's words for why an action failed: the failed event of the instance action, else the server's fault; null when
   * Nova left none (a migration that broke in the middle leaves none).
   * @param action the request id of the mutating call; or, where it is lost, the newest action of that name
   */
  lastActionFailure(
    instanceId: string,
    action: { requestId: string } | { action: InstanceActionName },
    signal: AbortSignal,
  ): Promise<string | null>;
}

/**
 * What the lifecycle of a host asks of Nova, besides what emptying it needs. As all of the client's methods:
 * see {@link NovaClient}.
 */
export interface HostCalls {
  /** How many of the region's nova-schedulers are up. */
  schedulersUp(signal: AbortSignal): Promise<number>;
  /**
   * The hypervisors whose hostname contains `part`, with the ids of their servers; none where Nova has none. Cheap in a
   * large region, but a part of a name is no match: the caller has to compare (docs/compatibility.md#hazards, H12).
   */
  hypervisorsNamed(part: string, signal: AbortSignal): Promise<HypervisorWithServers[]>;
  /**
   * Takes a compute service out of Nova, with its hypervisor, its aggregates and, where nothing is allocated any more,
   * its resource provider.
   * @throws HostNotFound no service of that id
   * @throws HostNotEmpty servers or migrations in progress are on it
   */
  deleteService(serviceId: string, signal: AbortSignal): Promise<Accepted>;
  /**
   * Puts a host into an aggregate, or takes it out. Nova mirrors that in Placement.
   * @throws AggregateNotFound no such aggregate; taking out: or the host is not in it
   * @throws HostNotFound no such host, or one that is not mapped to a cell yet
   * @throws AggregateRefused it is in there already, or would be in two availability zones
   * @throws ProviderConflict another client changed the resource provider at the same time
   */
  addToAggregate(aggregateId: number, host: string, signal: AbortSignal): Promise<Accepted>;
  removeFromAggregate(aggregateId: number, host: string, signal: AbortSignal): Promise<Accepted>;
  /**
   * Asks for a server of a dead host to be started elsewhere. At 2.94 it comes up as it was; from 2.95 on it stays off.
   * The record is there with the answer; it decides.
   * @param target `host` null: the scheduler chooses; a name is checked by the scheduler too
   * @throws HostUp Nova thinks that the server's host is up
   * @throws InstanceNotFound, InstanceBusy, InstanceStateRefused, MigrationRefused as {@link NovaClient.liveMigrate}
   */
  evacuate(instanceId: string, target: { host: string | null }, signal: AbortSignal): Promise<Accepted>;
}

/**
 * What a test server asks of Nova: the only servers that drover makes and deletes. As all of the client's methods: see
 * {@link NovaClient}.
 */
export interface NewServerCalls {
  /**
   * Servers of all projects with exactly that name, those that no host took included; oldest first. Names are not
   * unique, so a name alone says nothing about whose they are.
   * @throws HostAttributeMissing the credential is no admin's, or a cell is down
   */
  serversNamed(name: string, signal: AbortSignal): Promise<InstanceDetail[]>;
  /** The same of all whose name begins so. */
  serversNamedLike(prefix: string, signal: AbortSignal): Promise<InstanceDetail[]>;
  /** @throws SmokeServerRefused Nova's words say why */
  createServer(server: NewServer, signal: AbortSignal): Promise<Accepted & { id: string }>;
  /**
   * @throws InstanceNotFound it is gone
   * @throws InstanceBusy, InstanceStateRefused something holds it, or it is locked
   */
  deleteServer(instanceId: string, signal: AbortSignal): Promise<Accepted>;
  /**
   * The last lines of the server's console.
   * @throws InstanceNotFound it is gone
   * @throws ConsoleUnavailable it has none yet, or its host keeps none
   */
  consoleOutput(instanceId: string, lines: number, signal: AbortSignal): Promise<string>;
}

/** Names of instance actions, as Nova records them. */
export type InstanceActionName =
  | 'live-migration'
  | 'migrate'
  | 'resize'
  | 'confirmResize'
  | 'live_migration_cancel'
  | 'live_migration_force_complete'
  | 'evacuate';

/** What Nova says to a mutating request. */
export interface Accepted {
  /** `x-openstack-request-id`: finds the request in Nova's logs and in the server's instance actions. */
  requestId: string;
}

export interface ComputeServiceRecord extends ComputeService {
  /** UUID; empty where {@link cellDown}. */
  id: string;
  /** As in `OS-EXT-SRV-ATTR:host`. */
  host: string;
  zone: string;
  /** Its cell's database does not answer, so the rest is a guess on the safe side: disabled and down. */
  cellDown: boolean;
}

export type ServiceChange =
  | {
      status: 'enabled' | 'disabled';
      /** At most 255 characters; only with `disabled`. */
      disabledReason?: string;
    }
  /** True: down at once, so that its servers can be evacuated. */
  | { forcedDown: boolean };

export interface Hypervisor {
  /** UUID; also that of the Placement resource provider. */
  id: string;
  hypervisorHostname: string;
  /** The compute service's `host`. */
  serviceHost: string;
  serviceId: string;
  state: 'up' | 'down';
  status: 'enabled' | 'disabled';
  /** `QEMU`, `CH`, … */
  hypervisorType: string;
  /** As Nova packs it: major × 1 000 000 + minor × 1 000 + release. */
  hypervisorVersion: number;
}

/** A server with what compatibility checks need. */
export interface InstanceDetail extends Instance {
  /** `OS-EXT-SRV-ATTR:hypervisor_hostname`. */
  hypervisorHostname: string | null;
  projectId: string;
  userId: string;
  /** `OS-EXT-AZ:availability_zone`; null when not scheduled. */
  availabilityZone: string | null;
  /** The zone it was asked for; null: any. Undefined where Nova is too old to say (before 2.96). */
  pinnedAvailabilityZone?: string | null;
  flavorName: string;
  /**
   * Of the flavor it was made with: `hw:…`, `pci_passthrough:alias`, `resources:VGPU`, `trait:…`,
   * `aggregate_instance_extra_specs:…`.
   */
  extraSpecs: Record<string, string>;
  /** Null: it boots from a volume. */
  imageId: string | null;
  /** Of the image it was made from: `hw_…`, `os_…`. Undefined where Nova is too old to say (before 2.98). */
  imageProperties?: Record<string, string>;
  trustedImageCertificates: string[];
  metadata: Record<string, string>;
  /** Root disk of the flavor. */
  rootDiskGiB: number;
  ephemeralDiskGiB: number;
  swapMiB: number;
  volumeIds: string[];
  /** Root disk on a volume, no ephemeral disk, no swap: nothing lies on the host. */
  onlyVolumes: boolean;
  /** `config_drive`: lies on the host as well, but is copied or made anew by Nova. */
  configDrive: boolean;
  /** RFC 3339. */
  createdAt: string;
}

export interface ServerGroup {
  id: string;
  name: string;
  /** affinity, anti-affinity, soft-affinity, soft-anti-affinity. */
  policy: string;
  /** `rules.max_server_per_host` of anti-affinity; 1 where not given. */
  maxServersPerHost: number;
  /** Server ids. */
  members: string[];
}

export interface Aggregate {
  id: number;
  uuid: string;
  name: string;
  /** Compute services' `host`s. */
  hosts: string[];
  /** `availability_zone` among them. */
  metadata: Record<string, string>;
  availabilityZone: string | null;
}

export interface HypervisorWithServers extends Hypervisor {
  /** Ids. */
  servers: string[];
}

export interface NewServer {
  name: string;
  /** Ids. */
  flavorId: string;
  imageId: string;
  /** The compute service's `host` that must take it; the scheduler still checks it. */
  host: string;
  metadata: Record<string, string>;
}
