import type { ComputeService, Instance } from '../../contracts/eviction/instance.ts';

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
  /** Of the flavor it was made with: `hw:…`, `pci_passthrough:alias`, `resources:VGPU`, `trait:…`, `aggregate_instance_extra_specs:…`. */
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
