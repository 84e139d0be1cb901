import type { Attempt } from '../../../lab/openstack/fleet.ts';
import type { HostProfile } from '../../../lab/openstack/host-profile.ts';

/**
 * Plain state of the simulated OpenStack. Times are milliseconds of virtual time. Judges read it; only the fake's own
 * files write it.
 */
export interface Model {
  /** By name: the machines, with what their nova-compute is about. */
  readonly hosts: Map<string, ComputeHost>;
  readonly services: Service[];
  /** By compute host. One stays when its nova-compute dies, and goes with its service. */
  readonly hypervisors: Map<string, Hypervisor>;
  /** By id, deleted ones too. */
  readonly servers: Map<string, Server>;
  /** Oldest first. */
  readonly migrations: Migration[];
  readonly aggregates: Aggregate[];
  readonly serverGroups: ServerGroup[];
  readonly flavors: Map<string, Flavor>;
  /** Of servers for which no other is asked. */
  readonly imageId: string;
  /** By id, what Glance has. */
  readonly images: Map<string, { tags: readonly string[] }>;
  /** By id; null: the cloud has no Cinder, as the lab has none. */
  volumes: Map<string, SimulatedVolume> | null;
  /** How the next attempts of a guest to move go, by server. */
  readonly scripts: Map<string, GuestScript>;
  /** Hosts whose resource providers stay when Nova removes their services, as it does not reach Placement then. */
  readonly lostProviders: Set<string>;
  readonly placement: PlacementState;
  readonly keystone: KeystoneState;
}

export interface SimulatedVolume {
  readonly id: string;
  readonly name: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Null: no server has it. */
  readonly serverId: string | null;
  readonly createdMs: number;
}

export interface ComputeHost {
  readonly name: string;
  profile: HostProfile;
  isRunning: boolean;
  /** Counts starts and crashes: what a dead nova-compute was about does not go on in the next one. */
  incarnation: number;
  /** Of a dead nova-compute: when its last heartbeat was. */
  lastReportMs: number;
  /** Servers in the machine's memory, whatever Nova thinks. */
  readonly guests: Set<string>;
  /** Messages to a nova-compute that is dead; the next one gets them. */
  readonly mailbox: (() => void)[];
  /** Live migrations that leave: those that are at work, and those that wait for a slot, in order. */
  readonly leaving: LiveMove[];
  /** Cold migrations and resizes whose disks are copied. */
  readonly copying: Set<Transfer>;
}

export interface Service {
  readonly id: string;
  readonly binary: string;
  readonly host: string;
  isDisabled: boolean;
  disabledReason: string | null;
  isForcedDown: boolean;
  updatedMs: number;
}

export interface Hypervisor {
  /** Also the id of its resource provider. */
  readonly id: string;
  readonly hostname: string;
  readonly host: string;
  readonly serviceId: string;
}

export interface Server {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly userId: string;
  readonly flavor: Flavor;
  readonly imageId: string;
  readonly metadata: Record<string, string>;
  /** Null: no host took it (yet). */
  host: string | null;
  vmState: VmState;
  /** Before a cold migration or resize. */
  oldVmState: VmState;
  taskState: string | null;
  powerState: number;
  isLocked: boolean;
  /** What it was asked for; null: any. */
  readonly pinnedZone: string | null;
  fault: Fault | null;
  readonly createdMs: number;
  updatedMs: number;
  launchedMs: number | null;
  /** Oldest first. */
  readonly actions: InstanceAction[];
  isDeleted: boolean;
}

export type VmState =
  | 'building'
  | 'active'
  | 'stopped'
  | 'paused'
  | 'suspended'
  | 'rescued'
  | 'resized'
  | 'error'
  | 'deleted';

export interface Fault {
  code: number;
  message: string;
  createdMs: number;
}

export interface InstanceAction {
  readonly action: string;
  readonly requestId: string;
  readonly startMs: number;
  message: string | null;
  /** Oldest first. */
  readonly events: ActionEvent[];
}

export interface ActionEvent {
  readonly event: string;
  readonly host: string;
  readonly startMs: number;
  finishMs: number | null;
  result: 'Success' | 'Error' | null;
  details: string | null;
}

export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly diskGiB: number;
  extraSpecs: Record<string, string>;
}

export type MigrationType = 'live-migration' | 'migration' | 'evacuation';

export interface Migration {
  readonly id: number;
  readonly uuid: string;
  readonly type: MigrationType;
  readonly instanceId: string;
  readonly projectId: string;
  readonly userId: string;
  readonly source: string;
  dest: string | null;
  status: string;
  readonly createdMs: number;
  /** Null until the first change. */
  updatedMs: number | null;
  /** Null until the copy has begun. */
  memory: MemoryCounters | null;
}

export interface MemoryCounters {
  total: number;
  processed: number;
  remaining: number;
}

/** A live migration in the hands of its source's nova-compute. */
export interface LiveMove {
  readonly server: Server;
  readonly migration: Migration;
  readonly action: InstanceAction;
  phase: 'queued' | 'preparing' | 'running' | 'ending';
  /** Aborted while it was prepared. */
  isAborted: boolean;
  transfer: Transfer | null;
}

/** Bytes of a guest on their way. */
export interface Transfer {
  readonly server: Server;
  readonly startedMs: number;
  /** Decides anew when it ends: called when a script, a profile or metadata may have changed. */
  reconsider: () => void;
  /** Ends it in this way, unless it has ended. */
  end: (how: TransferEnd) => void;
}

export type TransferEnd = 'ok' | 'fail' | 'error' | 'aborted' | 'forced' | 'crashed';

export interface GuestScript {
  attempts: Attempt[];
  started: number;
}

export interface Aggregate {
  readonly id: number;
  readonly uuid: string;
  name: string;
  readonly hosts: string[];
  /** `availability_zone` among them. */
  readonly metadata: Record<string, string>;
  readonly createdMs: number;
}

export interface ServerGroup {
  readonly id: string;
  readonly name: string;
  readonly policy: string;
  readonly maxServersPerHost: number;
  readonly members: string[];
}

export interface PlacementState {
  /** By uuid. */
  readonly providers: Map<string, Provider>;
  /** By uuid; without allocations there is none. */
  readonly consumers: Map<string, Consumer>;
  /** All that exist, custom ones too. */
  readonly traits: Set<string>;
}

export interface Provider {
  readonly uuid: string;
  name: string;
  generation: number;
  readonly parentUuid: string | null;
  readonly rootUuid: string;
  inventories: Record<string, Inventory>;
  traits: Set<string>;
  aggregates: Set<string>;
}

export interface Inventory {
  total: number;
  reserved: number;
  min_unit: number;
  max_unit: number;
  step_size: number;
  allocation_ratio: number;
}

/** Amounts by resource class. */
export type Resources = Record<string, number>;

export interface Consumer {
  generation: number;
  projectId: string;
  userId: string;
  type: string;
  /** By provider. */
  allocations: Record<string, Resources>;
}

export interface KeystoneState {
  readonly projectId: string;
  readonly users: KeystoneUser[];
  readonly applicationCredential: { readonly id: string; readonly secret: string; readonly userId: string };
  /** By value. */
  readonly tokens: Map<string, Token>;
  tokenLifetimeMs: number;
}

export interface KeystoneUser {
  readonly id: string;
  readonly name: string;
  readonly password: string;
  readonly roles: readonly string[];
}

export interface Token {
  readonly user: KeystoneUser;
  readonly issuedMs: number;
  readonly expiresMs: number;
  isRevoked: boolean;
}
