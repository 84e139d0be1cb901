/**
 * What is observed of a host that may have failed, and how it is judged. Times are milliseconds since the epoch, as the reader's clock has
 * them; `sinceMs` is since when the thing is as it is.
 */

/** Of the Node. Null where kube-apiserver could not be read or has no such Node. */
export interface NodeSign {
  /** `False` is said by the kubelet itself, so something on the host is alive; `Unknown` is said by others when it is silent. */
  ready: 'True' | 'False' | 'Unknown';
  sinceMs: number;
  bootId: string | null;
  pressures: ('DiskPressure' | 'MemoryPressure')[];
}

/** Of nova-compute. Null where Nova could not be read. */
export interface ComputeSign {
  /** `down` also while it is forced down. */
  state: 'up' | 'down';
  sinceMs: number;
}

/**
 * What libvirt says of the host, over its connection and its lifecycle events. `failing`: it answers, and guests stop, crash, or have
 * I/O errors that last. `silent`: it cannot be reached. Null where it was not asked.
 */
export interface LibvirtSign {
  verdict: 'healthy' | 'failing' | 'silent';
  sinceMs: number;
  message: string;
}

/**
 * Something that observes the host without the network that Node, nova-compute and libvirt share.
 * `running`: guests write (their RBD images have watchers of this host). `stopped`: nothing can run (the BMC reports Off), or nothing
 * writes any more (the watchers have expired). `powered`: the BMC reports On, which a dead kernel does not change. `unknown`: no answer.
 */
export interface Witness {
  kind: 'bmcPower' | 'rbdWatchers';
  says: 'running' | 'stopped' | 'powered' | 'unknown';
  atMs: number;
}

export interface HostSigns {
  host: string;
  node: NodeSign | null;
  compute: ComputeSign | null;
  libvirt: LibvirtSign | null;
  witnesses: Witness[];
}

export interface NodeFailureSettings {
  /** How long a sign must last before it counts. Longer than Nova's `service_down_time`, for which a dead nova-compute still shows as up. */
  failAfterMs: number;
  /** A witness that observed longer ago does not count. */
  witnessMaxAgeMs: number;
}

/** Longer than a reboot of the control plane's own network, shorter than the 5 min after which Gardener's MCM gives a Node up. */
export const nodeFailureDefaults: NodeFailureSettings = { failAfterMs: 180_000, witnessMaxAgeMs: 60_000 };

export const failureReasons = [
  'Healthy',
  'DiskPressure',
  'MemoryPressure',
  'NotObserved',
  'NodeNotReady',
  'ComputeDown',
  'LibvirtSilent',
  'GuestsFailing',
  'AgentsDown',
  'Silent',
  'Isolated',
  'NoWitness',
  'Dead',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/**
 * `watch`: observe again, change nothing. `suspect`: an operator should investigate; drover is not sure enough to act. `failed`: the host must be
 * emptied, by live migration where `alive` is `yes`, else by fencing and evacuation.
 */
export interface FailureVerdict {
  verdict: 'healthy' | 'watch' | 'suspect' | 'failed';
  reason: FailureReason;
  /** A sentence for people. */
  message: string;
  alive: 'yes' | 'no' | 'unknown';
  /** When the same signs mean more; null where time alone changes nothing. */
  untilMs: number | null;
}

/** Everything that holds drover back from acting on a failed host by itself. */
export const gateNames = [
  'ApisUnreachable',
  'SchedulerDown',
  'MassFailure',
  'DomainFailure',
  'OneAtATime',
  'AggregateLimit',
] as const;
export type GateName = (typeof gateNames)[number];

export type GateDecision = { gate: 'go' } | { gate: 'hold'; name: GateName; message: string };

/** What the safety gates are judged by: the fleet, and drover itself. */
export interface FleetView {
  host: string;
  /** Rack, zone or whatever fails as one; null where it is not known, which counts as one domain of its own. */
  failureDomain: string | null;
  /** The APIs that judging and acting depend on, by name, and whether each answered just now. */
  apis: { name: string; reachable: boolean }[];
  schedulerUp: boolean;
  /** Hosts that are meant to be in service, this one included. */
  hosts: number;
  /** Hosts judged `suspect` or `failed` now, this one or not. */
  suspects: { host: string; failureDomain: string | null; sinceMs: number }[];
  /** When drover last began to fence a host other than this one; null: never. */
  lastFencingMs: number | null;
  /** Of this host. */
  aggregates: {
    name: string;
    /** Null: as the settings say. */ mostFenced: number | null;
    /** Fenced and not yet restored, other hosts only. */ fenced: number;
  }[];
}

export interface GateSettings {
  /** Two suspects of one domain within this time are one failure of the domain. */
  domainWindowMs: number;
  /** Within this time one host is fenced. */
  cycleMs: number;
  /** Hosts of one aggregate that may be fenced and not restored. */
  mostFencedPerAggregate: number;
}

export const gateDefaults: GateSettings = { domainWindowMs: 300_000, cycleMs: 600_000, mostFencedPerAggregate: 1 };
