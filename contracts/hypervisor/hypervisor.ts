import type { Condition, ConditionUpdate } from '../conditions.ts';
import type { EvictionCause } from '../eviction/eviction.ts';
import type { HostCheck } from './host-check.ts';
import type { ComputeService } from '../eviction/instance.ts';
import type { RunProgress } from '../runs.ts';

/** Who takes a hypervisor out of service; empty: it is in service. */
export const maintenanceModes = ['', 'manual', 'auto', 'ha', 'termination'] as const;
export type MaintenanceMode = (typeof maintenanceModes)[number];

/** What a user may consent to on a Hypervisor. */
export const hypervisorConsents = ['delete-allocations', 'lift-forced-down'] as const;
export type HypervisorConsent = (typeof hypervisorConsents)[number];

/** Groups of checks of the Testing phase, each one activity. `smoke` is a server of Nova's own on the host. */
export const hypervisorChecks = ['libvirt', 'ovs', 'ceph', 'smoke'] as const;
export type HypervisorCheck = (typeof hypervisorChecks)[number];

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface HypervisorInput {
  /** Name of the Hypervisor, which is its Node's. */
  hypervisor: string;
  startedBy?: string;
  mode?: 'observe' | 'act';
}

/** Every interval and limit of the lifecycle. Set in drover's configuration, fixed in the run when it opens. */
export interface HypervisorSettings {
  /** Nova's region; selects the task queue. */
  region: string;
  /** Prefix of workflow ids; empty by default. */
  cluster: string;
  /** What drover may do with Hypervisors; one of them can ask for less. */
  mode: 'observe' | 'act';
  /** Node labels that are copied besides the known ones. */
  copiedLabels: string[];
  /** The checks of the Testing phase; `smoke` goes last. */
  checks: HypervisorCheck[];
  /** Name of the aggregate that keeps guests off a host that is not tested yet. */
  testAggregate: string;
  /** How often a check is tried. */
  maxTestAttempts: number;
  /** How long checks that are made at once may take; left out by workers of before. */
  checkMs?: number;
  /** Pause before a check's second attempt; doubles for each further one. */
  testRetryDelayMs: number;
  /** How long nova-compute may take to register, and the Node to get its zone. */
  registrationMs: number;
  /** How long until systems without a watch are observed again. */
  recheckMs: number;
  /** How long machine-controller-manager drains a Node (`--machine-drain-timeout`). */
  drainMs: number;
  /** How long it does once the Node is not Ready. */
  notReadyDrainMs: number;
  /** Whether drover acts on failed nodes, so that `HaEnabled` is no empty promise. */
  handlesNodeFailure: boolean;
  /**
   * Whether drover holds Gardener's drain back (PodDisruptionBudget, Deployment, taint) as the replaced operator does.
   */
  guardsDrain: boolean;
  /** How long a run that changed something lingers, so that bursts and echoes coalesce. */
  lingerMs: number;
  /** Between two statuses, other than the last one. */
  publishMinMs: number;
}

/** What the Hypervisor asks for: its spec, its annotations, and what is known of the object. */
export interface DesiredHypervisor {
  name: string;
  uid: string;
  generation: number;
  labels: Record<string, string>;
  lifecycleEnabled: boolean;
  skipTests: boolean;
  highAvailability: boolean;
  /** The node agent asks for libvirt's certificate itself. */
  createCertManagerCertificate: boolean;
  customTraits: string[];
  aggregates: string[];
  maintenance: MaintenanceMode;
  maintenanceReason: string | null;
  /**
   * What drover has written because the Node says so: it is taken back when the Node says so no
   * more (see workflows/hypervisor/node.ts).
   */
  fromNode: string[];
  /** The Node it was made for; a Node that is gone is then a Node that was deleted. */
  nodeUid: string | null;
  /** An owner reference would delete it together with its Node; the replaced operator sets one. */
  ownedByNode: boolean;
  /** Traits that drover has put on the resource provider: only these are ever removed. */
  appliedTraits: string[];
  /** What its Node said last; null: nothing has been recorded. */
  lastBootId: string | null;
  /** Boot id of the Node when drover took it into maintenance for an update; null: drover did not. */
  rollingUpdateBootId: string | null;
  /** Value of `drover.dev/retry` that `drover.dev/retry-handled` does not repeat; null: no user asks. */
  retry: string | null;
  consent: HypervisorConsent[];
  /** Who gave the consent, and when: `name 2026-01-31T12:00:00Z`; null: there is none. */
  consentBy: string | null;
  /** A field manager whose name begins with `kubectl` has written the object. */
  touchedByKubectl: boolean;
  mode: 'observe' | 'act';
  deleting: boolean;
}

/** Everything that decisions need, observed at once: small, no inventories, no secrets. */
export interface HypervisorObservation {
  recorded: RecordedStatus;
  /** Null: there is no such Node. */
  node: ObservedNode | null;
  /** Null: nova-compute has not registered, or its registration was deleted. */
  nova: NovaHost | null;
  /** Where {@link nova} is null: the compute service that Nova has of the host all the same; null: it has none. */
  loneService: LoneService | null;
  /** The aggregates that the host is in, and those of the names that the spec, the zone and the settings speak of. */
  aggregates: ObservedAggregate[];
  /** Null: Placement has no such resource provider. */
  provider: ObservedProvider | null;
  /** Every Eviction whose spec.hypervisor is the host. */
  evictions: ObservedEviction[];
  /** Pods of agents on the node that do not tolerate the offboarding taint, as `namespace/name`; null: not observed. */
  agentPods: string[] | null;
  /** Ids of test servers that drover has made on the host. */
  testServers: string[];
  /** Null: there is none. */
  drainGuard: DrainGuard | null;
  /**
   * Of libvirt's TLS, as cert-manager is asked for it; null: there is no cert-manager, or it is not drover's to ask.
   */
  certificate: CertificateState | null;
  /**
   * What keeps the host out of service until it is resolved: a failure that was fenced, a partition that
   * is being judged.
   */
  hold: { reason: string; message: string } | null;
  /** The run of its failure, where only that ends what is said of it; null: nothing is said that it would end. */
  failureRun: 'open' | 'closed' | null;
  /** Why OpenStack was not observed: then all that it would show is null or empty. Null: it was. */
  failure: ObservationFailure | null;
}

/** What the Hypervisor's status says already. */
export interface RecordedStatus {
  conditions: readonly Condition[];
  hypervisorId: string | null;
  serviceId: string | null;
  evicted: boolean;
  /** Null: the node agent does not know it yet. */
  libVirtVersion: string | null;
  traits: string[] | null;
  aggregates: RecordedAggregate[] | null;
  internalIp: string | null;
}

export type RecordedAggregate = Pick<ObservedAggregate, 'name' | 'uuid' | 'metadata'>;

export interface ObservedNode {
  name: string;
  uid: string;
  /** Those of `nodeMetadata`, and those that are copied. */
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** The first InternalIP. */
  internalIp: string | null;
  ready: boolean;
  /** When `Ready` last changed, in milliseconds since the epoch. */
  readySinceMs: number;
  bootId: string;
  /** `spec.unschedulable`. */
  cordoned: boolean;
  /** Since when machine-controller-manager terminates it (condition `Terminating`); null: it does not. */
  terminatingSinceMs: number | null;
  /** Its deletionTimestamp; null: it is not being deleted. */
  deletedAtMs: number | null;
  /** Reason of its condition `InPlaceUpdate`; null: there is none. */
  inPlaceUpdate: string | null;
  /** It has the taint `kvm.cloud.sap/offboarding`. */
  offboardingTaint: boolean;
}

/** What Nova has under exactly the host's name. */
export interface NovaHost {
  /** The compute service's `host`. */
  host: string;
  hypervisorId: string;
  serviceId: string;
  service: ComputeService;
  /** How many of each hold on to the host; allocations are Placement's. */
  servers: number;
  migrations: number;
  unconfirmedResizes: number;
  allocations: number;
}

/** `missing`: it is not there, or asks for something else. `forbidden`: drover may not read it. */
export type CertificateState = 'requested' | 'missing' | 'forbidden';

/**
 * A compute service without a hypervisor: nova-compute has not registered one yet, or has lost it, or is mapped
 * to no cell.
 */
export interface LoneService {
  /** The compute service's `host`. */
  host: string;
  serviceId: string;
  service: ComputeService;
  /** How many servers Nova has on it all the same. */
  servers: number;
}

export interface ObservedAggregate {
  /** Numeric id. */
  id: number;
  uuid: string;
  name: string;
  metadata: Record<string, string>;
  /** The host is in it. */
  hasHost: boolean;
}

export interface ObservedProvider {
  uuid: string;
  generation: number;
  /** Sorted. */
  traits: string[];
  /** Consumers with allocations against it. */
  consumers: number;
  /** Ids of some of them, for people. */
  someConsumers: string[];
}

/** An Eviction of the host, as far as its Hypervisor cares. */
export interface ObservedEviction {
  name: string;
  uid: string;
  /** Uid of the Hypervisor that it was made for (its controller); null: another party made it. */
  ownerUid: string | null;
  deleting: boolean;
  /** `observed`: it only plans, and moves nothing. */
  state: 'waiting' | 'running' | 'succeeded' | 'failed' | 'stopped' | 'observed';
  /** Reason of its condition `Evicting`; absent: it has none, or a worker of an earlier release observed it. */
  reason?: string;
  /** Message of its condition `Evicting`. */
  message: string;
  cause: EvictionCause;
  /** RFC 3339. */
  deadline: string | null;
}

/** How a group of checks has gone so far. The run keeps it; records from before the current onboarding do not count. */
export interface TestRecord {
  check: HypervisorCheck;
  /** Those that count: what failed for a cause that is not the host's is no attempt of it. */
  attempts: number;
  /** When the last attempt ended, in milliseconds since the epoch. */
  atMs: number;
  /**
   * When the onboarding that it was made for began, as the Hypervisor says it: that is a worker's clock, which may be
   * ahead of `atMs`.
   */
  sinceMs?: number;
  results: HostCheck[];
  /** As `10.0.0`, where the check has learnt it. */
  libVirtVersion: string | null;
}

/** What holds Gardener's drain back until the host is offboarded. */
export interface DrainGuard {
  /** Pods that must stay on the node: 1 blocks the drain. */
  minAvailable: 0 | 1;
  /** Whether that pod counts as ready, so that the node's critical components do. */
  ready: boolean;
}

export interface ObservationFailure {
  /** A condition reason. */
  reason: string;
  message: string;
  /** Whether trying again can help. */
  retryable: boolean;
  retryAtMs: number;
}

/** The answer to the query `progress`. */
export interface HypervisorProgress extends RunProgress {
  /** Checks of the onboarding that is under way, or of the last one. */
  tests: { check: HypervisorCheck; attempts: number; passed: boolean }[];
}

/**
 * What drover writes into the status, and with it into the annotations. Null or left out: as it is. Fields of the node
 * agent are not among them, but for an unknown `libVirtVersion`.
 */
export interface HypervisorStatusPatch {
  conditions: ConditionUpdate[];
  /** Types of conditions to take away. */
  removed?: string[];
  hypervisorId?: string | null;
  serviceId?: string | null;
  traits?: string[] | null;
  aggregates?: RecordedAggregate[] | null;
  internalIp?: string | null;
  /** Literally true only when the host is empty. */
  evicted?: boolean | null;
  libVirtVersion?: string | null;
  /** Written after the status; a value of null takes one away. */
  annotations?: Record<string, string | null> | null;
}

/** A change of a Hypervisor's spec and metadata, as a merge patch says it: null takes away. */
export interface HypervisorPatch {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
  spec?: Partial<HypervisorSpec>;
  /** Takes away the owner reference to the Node. */
  dropNodeOwner?: true;
}

/** The fields of the spec that drover writes. */
export interface HypervisorSpec {
  lifecycleEnabled: boolean;
  skipTests: boolean;
  customTraits: string[];
  aggregates: string[];
  maintenance: MaintenanceMode;
}

/** A Hypervisor made for a Node; every field is said, as the CRD's defaults are others. */
export interface NewHypervisor {
  name: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: HypervisorSpec & {
    highAvailability: boolean;
    installCertificate: boolean;
    createCertManagerCertificate: boolean;
    evacuateOnReboot: boolean;
    reboot: boolean;
    allowedProjects: string[];
  };
}

/** An Eviction made for a Hypervisor, which is its controller. */
export interface NewEviction {
  name: string;
  hypervisor: string;
  ownerUid: string;
  reason: string;
  cause: EvictionCause;
  /** RFC 3339. */
  deadline: string | null;
  /** The Hypervisor's run enables the host, not the Eviction's. */
  reEnable: false;
  labels: Record<string, string>;
}
