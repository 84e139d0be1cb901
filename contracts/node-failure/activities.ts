import type { Condition } from '../conditions.ts';
import type {
  EvacuationCandidate,
  EvacuationRequest,
  EvacuationWait,
  FencingSettings,
  ForcedDownRequest,
} from './fencing.ts';
import type { PollIntervals } from '../eviction/eviction.ts';
import type { ObjectKey } from '../hypervisor/activities.ts';
import type { ComputeService } from '../eviction/instance.ts';
import type { MigrationEnd, MigrationStart } from '../eviction/migrate-instance.ts';
import type {
  ComputeSign,
  FleetView,
  GateSettings,
  LibvirtSign,
  NodeFailureSettings,
  NodeSign,
  ObservedWitness,
  SilenceSettings,
} from './node-failure.ts';
import type { PowerState } from './power.ts';

/**
 * What the run of a node failure may ask for, by task queue, besides contracts/node-failure/power.ts and what the run
 * of a hypervisor has too. An activity's name is a wire name. All are safe to repeat and to run twice at once; what
 * each may fail with is in contracts/errors.ts.
 */

/** The plain JSON that starts the run by hand, and that the hypervisor's run starts it with. */
export interface NodeFailureInput {
  /** Name of the Hypervisor, which is its Node's. */
  hypervisor: string;
  startedBy?: string;
}

/** Every interval and limit. Set in drover's configuration, renewed with each observation. */
export interface HandlingSettings {
  /** Nova's region; selects the task queue. */
  region: string;
  judging: NodeFailureSettings;
  gates: GateSettings;
  /** Null: a host that has power is left to an operator. */
  silence: SilenceSettings | null;
  fencing: FencingSettings;
  /**
   * How often the host is observed while something is judged or done, and while only an operator or a repair
   * ends the wait.
   */
  observeMs: number;
  restObserveMs: number;
  /** Between two reports in the Hypervisor. */
  publishMinMs: number;
  power: { pollMs: number; timeoutMs: number };
  /** How long one server may take to come up elsewhere; and how often that is observed. */
  evacuation: { deadlineMs: number; poll: PollIntervals };
}

/** Queue `hosts`. */
export interface NodeFailureHostActivities {
  /**
   * Validates input given by hand, and observes the host and the fleet. What does not answer is null, never a failure.
   */
  observeNodeFailure(input: NodeFailureInput): Promise<ObservedNodeFailure>;
  /** Signals the run of the host's failure, starting it if none is open: it observes the host. */
  signalNodeFailure(request: { hypervisor: string; cause: string }): Promise<void>;
}

export type ObservedNodeFailure =
  /** Switched off, or there is no such Hypervisor. */
  | { kind: 'nothing'; message: string }
  /** This run has another id than the host's: the right one was signalled with start. */
  | { kind: 'handedOver'; message: string }
  | { kind: 'observed'; settings: HandlingSettings; observed: NodeFailureObservation };

/** When it was made is for the run to say, by its own clock: those of workers may differ. */
export interface NodeFailureObservation {
  /** Null: kube-apiserver could not be read. */
  hypervisor: HypervisorOfHost | null;
  /**
   * `automatic` where an aggregate of the host has opted in and the Hypervisor wants it; else drover only recommends.
   */
  mode: 'recommend' | 'automatic';
  node: Omit<NodeSign, 'sinceMs'> | null;
  compute: Omit<ComputeSign, 'sinceMs'> | null;
  /** Nova's name of the host, and its service; null: Nova could not be read, or knows no such host. */
  nova: { host: string; service: ComputeService } | null;
  /** Nova was read whole, and has no compute service of that name. */
  hasLeftNova: boolean;
  libvirt: Omit<LibvirtSign, 'sinceMs'> | null;
  /** Null: no BMC is configured for the host, or it was not asked. `Unknown` also where it does not answer. */
  power: PowerState | null;
  /** At most one of a kind. One that cannot be had is left out, or `unknown`. */
  witnesses: ObservedWitness[];
  /** Why something could not be read, as sentences. */
  problems: string[];
  fleet: FleetView;
}

export interface HypervisorOfHost extends ObjectKey {
  generation: number;
  /** Reason of `drover.dev/hold`; null: nothing holds it. */
  hold: string | null;
  /** What a user has written there, as it stands or as it was when the host was fenced; null: nothing. */
  userHold: string | null;
  /** `drover.dev/fenced-boot-id`. */
  fencedBootId: string | null;
  /** `drover.dev/last-boot-id`: what its Node said last, there also when the Node is gone. */
  lastBootId: string | null;
  maintenance: string;
  /** What it says of the failure; null: nothing. */
  condition: Pick<Condition, 'status' | 'reason' | 'message'> | null;
}

/** Queue `kubernetes`. */
export interface NodeFailureObjectActivities {
  /**
   * Claims that drover acts on this host by itself, unless it did so on another one less than `cycleMs` ago. Only one
   * host has the claim. With a budget, it is drawn upon too, once for each incident, or the claim is refused.
   */
  claimFencing(request: FencingClaimRequest): Promise<FencingClaim>;
  /**
   * Gives a claim up that came to nothing, so that it holds no other host back: what was there before counts again.
   * Well where there is another claim since. What it drew of a budget stays spent.
   */
  giveUpFencing(request: Pick<FencingClaimRequest, 'host'> & GrantedClaim): Promise<void>;
  /** Makes that advice, in the place of an earlier one. */
  adviseEviction(request: EvictionAdvice): Promise<void>;
  /** Deletes it; well where there is none. */
  withdrawAdvice(request: ObjectKey): Promise<void>;
  /** An Event on the Hypervisor. One of the same identity is written once. */
  recordHypervisorEvent(
    request: ObjectKey & { type: 'Normal' | 'Warning'; reason: string; message: string; identity: string[] },
  ): Promise<void>;
}

/** An Eviction in `observe`: what emptying the host would take. */
export interface EvictionAdvice extends ObjectKey {
  incident: string;
  /** For people. */
  reason: string;
}

export interface FencingClaimRequest {
  host: string;
  cycleMs: number;
  /** Of a host that has power; null: it is off, or its servers are moved live. */
  budget: { incident: string; mostPerHour: number } | null;
}

/** Which host drover fenced last by itself, and when, in milliseconds since the epoch. */
export interface LastFencing {
  host: string;
  atMs: number;
}

export interface GrantedClaim {
  /** When it was made, by the clock of the worker that made it. */
  atMs: number;
  /** What was there. Of a claim whose answer was lost, and that was made once more: that claim. */
  before: LastFencing | null;
}

export type FencingClaim =
  | ({ granted: true } & GrantedClaim)
  | { granted: false; reason: 'OneAtATime'; /** Which has it. */ host: string }
  | { granted: false; reason: 'BudgetSpent'; /** What it was spent on. */ host: string };

/** Queue `nova:<region>`. */
export interface NodeFailureRegionActivities {
  /** What decides about each server of a dead host; of their metadata only these keys. */
  listEvacuationCandidates(request: { host: string; metadataKeys: string[] }): Promise<EvacuationCandidate[]>;
  ensureForcedDown(request: ForcedDownRequest): Promise<ComputeService>;
  startEvacuation(request: EvacuationRequest): Promise<MigrationStart>;
  awaitEvacuation(request: EvacuationWait): Promise<MigrationEnd>;
}
