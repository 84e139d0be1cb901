/**
 * What is observed of a host that may have failed, and how it is judged. Times are milliseconds since the epoch, as the
 * reader's clock has them; `sinceMs` is since when the thing is as it is.
 */

/** Of the Node. Null where kube-apiserver could not be read. */
export interface NodeSign {
  /**
   * `False` is said by the kubelet itself, so something on the host is alive; `Unknown` is said by others when it is
   * silent. `Gone`: there is no such Node (any more), so that nothing is known of its kubelet.
   */
  ready: 'True' | 'False' | 'Unknown' | 'Gone';
  sinceMs: number;
  bootId: string | null;
}

/** Of nova-compute. Null where Nova could not be read. */
export interface ComputeSign {
  /** `down` also while it is forced down. */
  state: 'up' | 'down';
  sinceMs: number;
}

/**
 * What libvirt says of the host, over its connection and its lifecycle events. `failing`: it answers, and guests stop,
 * crash, or have I/O errors that last. `silent`: it cannot be reached. Null where it was not asked.
 */
export interface LibvirtSign {
  verdict: 'healthy' | 'failing' | 'silent';
  sinceMs: number;
  message: string;
}

/**
 * What may tell of a host, each over a path of its own. `bmc`: its power, over the network of the BMCs. `libvirt`:
 * asked by drover itself. `nova`: nova-compute’s report, over the message bus. `kubelet` and `agent` (the Lease that it
 * renews on its Node): over kube-apiserver.
 */
export const witnessKinds = ['bmc', 'libvirt', 'nova', 'kubelet', 'agent'] as const;
export type WitnessKind = (typeof witnessKinds)[number];

/** Over what a witness hears of the host. Two of one path fail together, so they count as one. */
export const witnessPaths: Record<WitnessKind, string> = {
  bmc: 'the network of the BMCs',
  libvirt: 'the network of the host',
  nova: 'the message bus of Nova',
  kubelet: 'kube-apiserver',
  agent: 'kube-apiserver',
};

export interface Witness {
  kind: WitnessKind;
  /**
   * `alive`: something on the host has just reported, answered or written. `silent`: it would be heard if it did, and
   * is not. `off`: the BMC reports Off, so nothing runs. `powered`: the BMC reports On, which a dead kernel does not
   * change. `unknown`: the witness cannot be had, or what it says is too old or not understood. Only a BMC says `off`
   * and `powered`.
   */
  says: 'alive' | 'silent' | 'off' | 'powered' | 'unknown';
  /** Since when the run has observed it say so without a break, and when it did last. */
  sinceMs: number;
  atMs: number;
  /** For people, as `its kubelet renewed its Lease at 12:00:00`. */
  message: string;
  /** Of one that leaves marks: the last one, and since when the run has observed no other. */
  mark?: { value: string; sinceMs: number };
}

/** One that leaves a mark with each sign of life. Those that are not here are made of the other signs. */
export interface ObservedWitness {
  kind: 'agent';
  /** As it is written: whose clock it is by is of no matter. Null: it could not be read. */
  mark: string | null;
  /** A mark that has stayed the same for so long means that nothing is heard any more. */
  silentAfterMs: number;
  message: string;
}

export interface HostSigns {
  host: string;
  node: NodeSign | null;
  compute: ComputeSign | null;
  libvirt: LibvirtSign | null;
  witnesses: Witness[];
}

export interface NodeFailureSettings {
  /**
   * How long a sign must last before it counts. Longer than Nova's `service_down_time`, for which a dead nova-compute
   * still shows as up.
   */
  failAfterMs: number;
  /** A witness that observed longer ago does not count. */
  witnessMaxAgeMs: number;
}

/** When a host that has power and is silent may be fenced by drover itself. */
export interface SilenceSettings {
  /** So many witnesses, no two of one path, must have heard nothing. */
  quorum: number;
  /** For so long, each of them. */
  afterMs: number;
  /** So many such hosts may be fenced within an hour. */
  mostPerHour: number;
}

/**
 * A quorum of fewer would be the word of one; there are no more paths than the greatest but the BMC’s, which says
 * nothing of a silence.
 */
export const silenceBounds = { leastQuorum: 2, mostQuorum: 3 } as const;
export const silenceDefaults: SilenceSettings = { quorum: 3, afterMs: 600_000, mostPerHour: 2 };
export const silenceBudgetMs = 60 * 60_000;

export const silenceRefusals = [
  'SwitchedOff',
  'NotSilent',
  'WitnessAlive',
  'PowerUnknown',
  'NoQuorum',
  'TooShort',
  'BudgetUnknown',
  'BudgetSpent',
] as const;
export type SilenceRefusal = (typeof silenceRefusals)[number];

/** Whether drover may power off, by itself, a host that has power and is silent. */
export type SilenceDecision =
  | { fence: true; message: string }
  | {
      fence: false;
      reason: SilenceRefusal;
      message: string;
      /** When time alone changes it; null: it does not. */
      untilMs: number | null;
    };

/**
 * Longer than a reboot of the control plane's own network, shorter than the 5 min after which Gardener's MCM gives a
 * Node up.
 */
export const nodeFailureDefaults: NodeFailureSettings = { failAfterMs: 180_000, witnessMaxAgeMs: 60_000 };

export const failureReasons = [
  'Healthy',
  'NotObserved',
  'NodeGone',
  'NodeNotReady',
  'ComputeDown',
  'LibvirtSilent',
  'GuestsFailing',
  'AgentsDown',
  'Silent',
  'NoWitness',
  'Dead',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/**
 * `watch`: observe again, change nothing. `suspect`: an operator should investigate; drover is not sure enough to act.
 * `failed`: the host must be emptied, by live migration where `alive` is `yes`, else by fencing and evacuation.
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
  /**
   * Hosts that had power and that drover powered off by itself, within the last hour; null: it is not
   * known, which holds.
   */
  silentFencings: SilentFencing[] | null;
  /** Of this host. */
  aggregates: {
    name: string;
    /** Null: as the settings say. */ mostFenced: number | null;
    /** Fenced and not yet restored, other hosts only. */ fenced: number;
  }[];
}

/** A host that had power and that drover has powered off by itself. Each incident counts once. */
export interface SilentFencing {
  host: string;
  incident: string;
  atMs: number;
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
