import type { Kind } from '../../contracts/kinds/table.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { Migration } from '../../contracts/crds/migration.ts';
import type { VirtualMachineClass } from '../../contracts/crds/virtual-machine-class.ts';
import type { VirtualMachineSetResourcePolicy } from '../../contracts/crds/virtual-machine-set-resource-policy.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { ApiCall } from '../../lab/openstack/journal.ts';
import type { SweepSettings } from '../../contracts/machine-safety/sweep.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';

/**
 * Everything that the invariants are checked on: plain data, made from a lab (`../read-world.ts`) or from the models of
 * a simulation. All times are milliseconds since the epoch. What a world does not have is empty: no vCenter, no `vms`.
 *
 * Objects are read before the outside systems, so that what they claim is compared with what is true after.
 */
export interface Snapshot
  extends
    OfTemporal,
    OfKubernetes,
    OfMachines,
    OfAgents,
    OfVolumes,
    OfOpenStack,
    OfPower,
    OfVcenter,
    OfDrover,
    OfTests {
  /** When it was taken. */
  atMs: number;
  /**
   * Compute hosts that are checked, where tests run beside each other; null: all. Objects of other namespaces are
   * left out by the reader.
   */
  hosts: readonly string[] | null;
  /**
   * Whether drover had the time to report every change: nothing is under way that it could still report. False between
   * two steps of a schedule, where invariant 17 is not checked.
   */
  isQuiet: boolean;
  /**
   * What a run that waits may cost, from its shortest intervals: 8 where they are of seconds, as in the flows; less in
   * production's.
   */
  waitingEventsPerSecond: number;
}

export interface OfTemporal {
  /** Every run, open and closed; made by `runFactsOf`. */
  runs: readonly ObservedRun[];
}

export interface ObservedRun {
  workflowId: string;
  runId: string;
  type: string;
  /** Temporal's: `RUNNING`, `COMPLETED`, `CONTINUED_AS_NEW`, … */
  status: string;
  startedAtMs: number;
  /** Null while it is open. */
  closedAtMs: number | null;
  /** Its first argument; null where it is not readable, as with a payload codec. */
  input: unknown;
  /** Length of its history. */
  events: number;
  /** Activities that were scheduled, by type. */
  activities: Readonly<Record<string, number>>;
  /** Children that were started. */
  children: number;
  /** Signals and updates that arrived. */
  messages: number;
  /** Activities and workflow tasks that failed, timed out or were cancelled. */
  failures: number;
  /** Attempts of activities after the first: where an answer was lost, what it was about may have happened. */
  retries: number;
  /** What its history shows it to have done against users' messages, or its limits. */
  conduct: readonly string[];
  /** What it has decided of the freeze of Machines, and which orphans it has asked to delete, in order. */
  safety: readonly SafetyFact[];
}

export type SafetyFact =
  | { what: 'decides'; atMs: number; frozen: boolean }
  | { what: 'deletes'; atMs: number; providerId: string };

/** An object of one of drover's kinds. `kind` is always there. */
export type DroverObject = Eviction | Hypervisor | Migration | VirtualMachine | VirtualMachineSetResourcePolicy;

export interface OfKubernetes {
  /** As kube-apiserver has them now. */
  objects: readonly DroverObject[];
  /**
   * The watch events of them, in order, from the beginning of the test on; those that were there at its
   * beginning are `ADDED`.
   */
  watchEvents: readonly WatchEvent[];
  /** As kube-apiserver has them now; empty where no VMs are looked at. */
  vmClasses: readonly VirtualMachineClass[];
}

export interface WatchEvent {
  /** When it was received. */
  atMs: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: DroverObject;
}

export interface OfMachines {
  /** Which VM each Machine has named, and when; of a lab those that are there, whenever they have begun to name it. */
  machines: readonly MachineFact[];
}

export interface MachineFact {
  /** `shoot/worker-1` */
  name: string;
  providerId: string;
  fromMs: number;
  /** Null: it still does. */
  untilMs: number | null;
}

export interface OfAgents {
  /** What each VsphereAgent was, and when. Empty where the world has none. */
  agents: readonly AgentFact[];
  /** As kube-apiserver has them now. */
  agentPools: readonly {
    uid: string;
    deletes: boolean;
    /** Names of what the pool says that it is held. */ held: readonly string[];
  }[];
  /** VMs with the mark of a pool, as vCenter has them now. */
  agentVms: readonly { name: string; uid: string; pool: string; poolUid: string; madeMs: number }[];
}

export interface AgentFact {
  /** `team/worker-1` */
  agent: string;
  uid: string;
  pool: string;
  agentMachine: string | null;
  /** The Machine that it names, while that is there. */
  machine: string | null;
  /** A user has its VM destroyed all the same. */
  isForced: boolean;
  /** It has no Agent that can be taken yet, and is not being deleted. */
  isUnderWay: boolean;
  fromMs: number;
  /** Null: it still is. */
  untilMs: number | null;
}

/** Empty where the world has no storage that is looked into, as of a lab. */
export interface OfVolumes {
  /** Every one that ever was. */
  dataVolumes: readonly DataVolumeFact[];
  /** That have been bound once, as they are now. `volume` null: it is another claim's, or gone. */
  boundClaims: readonly { name: string; phase: string; volume: string | null }[];
  /** As they are now. */
  persistentVolumes: readonly {
    name: string;
    isClaimed: boolean;
    hasBytes: boolean;
    /** Its reclaim policy. */
    policy: string;
    policyBefore: string;
  }[];
  /** Objects that are there for DataVolumes alone. */
  temporary: readonly TemporaryFact[];
  /** What drivers have and no object names. */
  leftAtDriver: readonly string[];
}

export interface TemporaryFact {
  /** `VolumeSnapshot team/x` */
  what: string;
  /** Of the DataVolumes that need it. */
  uids: readonly string[];
}

export interface DataVolumeFact {
  /** `team/disk` */
  name: string;
  uid: string;
  phase: string;
  isThere: boolean;
  isDeleting: boolean;
  createdMs: number;
  /** Null: not yet. */
  succeededMs: number | null;
  /** What was on its source, and from when on; null: it has none, or that is not known. */
  source: readonly HeldContent[] | null;
  /** The same of its own volume; empty: its driver never had that; null: it has none. */
  content: readonly HeldContent[] | null;
  /** Null: its spec names none. */
  askedBytes: number | null;
  /** Of its claim; null: it has none, or that does not say. */
  claimBytes: number | null;
  /** The file system grows when the volume is mounted: until then the claim says what it was. */
  isGrownByNode: boolean;
  /** Of its volume, as the driver has it; null: it has none. */
  driverBytes: number | null;
}

export interface HeldContent {
  fromMs: number;
  content: string;
}

export interface OfOpenStack {
  /** As the tests seeded them. */
  expectedServers: readonly ExpectedServer[];
  servers: readonly { id: string; name: string; status: string; taskState: string | null; host: string | null }[];
  /** By compute host: the guests that its machine holds, whatever Nova thinks. */
  guests: Readonly<Record<string, number>>;
  services: readonly { id: string; host: string; status: 'enabled' | 'disabled'; disabledReason: string | null }[];
  /** By compute host: consumers with allocations in Placement; needed of hosts whose Eviction has succeeded. */
  allocations: Readonly<Record<string, readonly string[]>>;
  /** Nova's migration records: each change of a status, in order. */
  migrationEvents: readonly MigrationFact[];
  /** What Nova was asked, by drover and by others, in the order of the answers. */
  novaCalls: readonly ApiCall[];
}

export interface ExpectedServer {
  id: string;
  name: string;
  /** Where it was seeded. */
  host: string;
  /** Null: deleted by a test. */
  status: string | null;
}

export interface MigrationFact {
  atMs: number;
  /** Of the record. */
  id: number;
  instanceId: string;
  /** `live-migration`, `migration`, `resize` or `evacuation`. */
  type: string;
  status: string;
  sourceHost: string;
  targetHost: string | null;
}

export interface OfPower {
  /** By compute host with a BMC, each time that its machine went on or off, in order; at first it was on. */
  power: Readonly<Record<string, readonly { power: 'On' | 'Off'; atMs: number }[]>>;
}

export interface OfVcenter {
  /** The VMs that have drover's metadata, wherever they are, as another client of the vCenter reads them. */
  vms: readonly OwnedVm[];
  /**
   * Every VM that was ever made with drover's metadata, those that are there included: vCenter's own record of its
   * inventory.
   */
  vmsMade: readonly VmLife[];
  /** Cluster modules that are there, and how many VMs are in them; without those that a test has made. */
  clusterModules: readonly { id: string; members: number }[];
  /** VMs and disks that are none of drover's; null: gone. */
  strangers: readonly { what: string; before: string; after: string | null }[];
}

/** From its ExtraConfig. */
export interface OwnedVm {
  /** `vm-61`. */
  id: string;
  name: string;
  /** vim25's. */
  powerState: string;
  cpus: number;
  memoryMiB: number;
  namespacedName: string | null;
  /** Of its VirtualMachine. */
  uid: string | null;
  extraConfig: Readonly<Record<string, string>>;
}

export interface VmLife {
  id: string;
  /** Of its VirtualMachine. */
  uid: string;
  madeAtMs: number;
  /** Null: it is there. */
  goneAtMs: number | null;
}

export interface OfDrover {
  /**
   * The kinds that a bridge and a worker are serving now, and what drover may do with them. Empty: drover is down.
   */
  modes: Readonly<Partial<Record<Kind, 'observe' | 'act'>>>;
  /** How many migrations it may have in progress at once in its region; null: unknown. */
  migrationsPerRegion: number | null;
  /** Gates of sweeps that its settings may have switched off. */
  sweepGates: Pick<SweepSettings, 'frozen' | 'renamedAreKept'>;
  /** Lines of its audit log, in order. */
  audit: readonly AuditLine[];
}

/** `time`: RFC 3339. */
export type AuditLine = AuditEntry & { time: string };

export interface OfTests {
  /** Changes of compute services by a test. */
  ownChanges: readonly { host: string; atMs: number; enabled: boolean; reason: string | null }[];
  /** Never to be shown. */
  secrets: readonly { name: string; value: string }[];
  /**
   * Everything that users or machines can read: histories, logs, statuses, audit lines, process
   * arguments, command output.
   */
  texts: readonly { where: string; text: string }[];
}
