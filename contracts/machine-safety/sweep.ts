import type { ErrorCode } from '../errors.ts';
import type { ObservationOf, RunProgress, RunResult, RunSettings, Unobserved } from '../runs.ts';
import type { Freeze } from './api-server-safety.ts';
import type { Leftover, ListedVm } from './driver.ts';
import type { KeepReason, OrphanReason } from './judge-vm.ts';
import type { AnnotatedNodes } from './unmanaged-nodes.ts';

/** Settings, memory and result of the run that sweeps orphan VMs (docs/machine-safety.md#sweeps). */

/**
 * The gates of a sweep. What switches each off is in drover.example.yaml; with all of them off a sweep is
 * the replaced manager's.
 */
export interface SweepSettings {
  readonly periodMs: number;
  readonly jitterMs: number;
  /** 0: no VM is too young. */
  readonly ageMs: number;
  readonly sightings: number;
  /** Null: no limit. */
  readonly most: number | null;
  readonly mostPercent: number;
  /** Null: never. */
  readonly approveAbove: number | null;
  readonly approveAbovePercent: number;
  readonly approveWithoutMachines: boolean;
  readonly approvalMs: number;
  readonly probationMs: number;
  readonly frozen: boolean;
  readonly renamedAreKept: boolean;
  readonly detachForeignDisks: boolean;
  readonly longRetryMs: number;
}

/** The plain JSON that starts a sweep. */
export interface SweepInput {
  /** Of the Machines. */
  namespace: string;
  /** Deletes nothing, whatever the settings say. Default: false, unless the id is that of dry runs. */
  dryRun?: boolean;
}

/** The plain JSON that requests a sweep. */
export interface SweepRequest {
  namespace: string;
  /** Prefix of workflow ids; empty by default. */
  cluster?: string;
}

export interface SweepRequestResult {
  /** `alreadyRunning`: a run of that id is open, and observes again by itself. */
  outcome: 'started' | 'alreadyRunning';
  workflowId: string;
  message: string;
}

/** How an orphan was seen, in sweeps that came one after the other. */
export interface Sighting {
  firstMs: number;
  /** When it last counted: sweeps that follow each other closely count once. */
  countedMs: number;
  count: number;
  machineName: string;
  machineClass: string;
  why: OrphanReason;
  /** When its deletion failed last; absent: none has. */
  failedMs?: number;
}

/** Who let an orphan go, though there are many. */
export interface Approval {
  by: string;
  reason: string | null;
  atMs: number;
}

/**
 * What sweeps know of the sweeps before them: the result of the last completed run of an id. It stands outside the API
 * servers, so that one that was restored from a backup is noticed. Times are Unix ms.
 */
export interface SweepMemory {
  /** Of the Namespace of the Machines: another one is another cluster. */
  clusterUid: string;
  /** The highest of a list of Machines so far. A lower one is that of a restored backup, or of another cluster. */
  resourceVersion: number;
  /** Until then nothing is deleted. */
  probationUntilMs: number;
  /** Why, for people. */
  probationWhy: string;
  /** By `providerIdKey`. */
  sightings: Record<string, Sighting>;
  /** By `providerIdKey`; of present candidates only. */
  approved: Record<string, Approval>;
  /**
   * Sweeps that follow each other closely share one cap. A deletion that failed counts, as it may have powered the VM
   * off; absent: none has.
   */
  round: { startedMs: number; deleted: number; failed?: number };
}

/** A VM that belongs to no Machine. */
export interface Candidate extends ListedVm {
  machineClass: string;
  why: OrphanReason;
  /** A user keeps it; null: no user does. */
  keptBy: { by: string; reason: string; at: string } | null;
}

/** What was found for a MachineClass. */
export type SweptClass = { name: string; provider: string } & (
  | { listed: number; kept: Record<KeepReason, number>; orphans: number; leftovers: ListedLeftovers; failure: null }
  /** Nothing of it is judged, and nothing of it is deleted. */
  | { failure: ClassFailure }
);

export interface ClassFailure {
  code: ErrorCode | null;
  message: string;
}

/** That they cannot be listed is no failure of the sweep of the class. */
export type ListedLeftovers = { listed: number; failure: null } | { listed: null; failure: ClassFailure };

/** What a create has left without a VM. Drover deletes it when a user asks. */
export interface FoundLeftover extends Leftover {
  machineClass: string;
}

/** What a user asks for. */
export interface AskedLeftover extends Pick<FoundLeftover, 'machineClass' | 'kind' | 'id'> {
  by: string;
  /** RFC 3339, as the user who asked gave it; empty: not given. */
  at: string;
}

/** `kept`: it is none any more, drover may not, or the provider has refused. */
export interface AnsweredLeftover extends AskedLeftover {
  outcome: 'deleted' | 'gone' | 'kept';
  /** For people. */
  message: string;
  atMs: number;
}

export interface ObservedSweep {
  /** Sorted by name. */
  classes: SweptClass[];
  /** VMs of all classes, each once. */
  listed: number;
  machines: number;
  clusterUid: string;
  /** Of the list of Machines. */
  resourceVersion: number;
  /** The first by name; {@link orphans} says how many there are. */
  candidates: Candidate[];
  orphans: number;
  /** The first of them; {@link leftoverCount} says how many there are. */
  leftovers: FoundLeftover[];
  leftoverCount: number;
  freeze: Freeze;
  /** The Nodes are in a cluster that drover may look at. */
  hasTarget: boolean;
  /** Of the last completed run; null: there is none, or it was not asked for. */
  lastMemory: SweepMemory | null;
}

/** Of a run, renewed with each observation. */
export interface SweepRunSettings extends RunSettings {
  sweep: SweepSettings;
  /** Nothing is deleted: a dry run, or the mode `observe`. */
  isDry: boolean;
  /** Under the id whose memory later sweeps read. */
  isRemembered: boolean;
}

export interface DesiredSweep {
  /** Of the Namespace of the Machines. */
  uid: string;
  generation: number;
}

export type SweepObservation = ObservationOf<DesiredSweep, ObservedSweep, SweepRunSettings>;

/** What holds an orphan back, in the order in which it is asked (docs/machine-safety.md#sweeps). */
export const sweepGates = [
  'KeptByUser',
  'DryRun',
  'Probation',
  'Frozen',
  'Refused',
  'TooYoung',
  'SeenTooSeldom',
  'ApprovalNeeded',
  'OverCap',
] as const;
export type SweepGate = (typeof sweepGates)[number];

/** An orphan, and all that holds it back; nothing does where it is about to be deleted. */
export interface JudgedCandidate extends Pick<Candidate, 'providerId' | 'machineName' | 'machineClass' | 'why'> {
  /** In their order: the first one decides. */
  gates: { gate: SweepGate; message: string }[];
  firstMs: number;
  sightings: number;
}

export interface SweptVm extends Pick<Candidate, 'providerId' | 'machineName' | 'machineClass' | 'why'> {
  outcome: 'deleted' | 'gone';
  detachedDisks: readonly string[];
  atMs: number;
}

/**
 * What came of the Nodes of the target cluster: the first of each. `failure`: why they were not all looked at; null:
 * they were.
 */
export interface SweptNodes extends AnnotatedNodes {
  readonly failure: string | null;
}

/** What a run answers, and ends with. */
export interface SweepReport {
  dryRun: boolean;
  classes: SweptClass[];
  listed: number;
  machines: number;
  orphans: number;
  /** As far as they were observed: the first by name. */
  candidates: JudgedCandidate[];
  /** The last of them; {@link deletedCount} says how many there were. */
  deleted: SweptVm[];
  deletedCount: number;
  /** Null: they were not looked at (docs/machine-safety.md#nodes). */
  nodes: SweptNodes | null;
  /** The first of them (docs/machine-safety.md#leftovers). */
  leftovers: FoundLeftover[];
  leftoverCount: number;
  /** What came of those that users have asked for; the last of them. */
  answeredLeftovers: AnsweredLeftover[];
}

export type SweepProgress = RunProgress & Partial<SweepReport>;

/** `memory`: null where no later sweep may read it. A run that did not sweep has neither. */
export type SweepResult = RunResult & Partial<SweepReport> & { memory?: SweepMemory | null };

export interface DeleteOrphanRequest extends Pick<Candidate, 'providerId' | 'machineName' | 'machineClass' | 'why'> {
  namespace: string;
  clusterUid: string;
  /** The list of Machines must be as new. */
  resourceVersion: number;
  /** A user has approved of it: it may be deleted though there are no Machines. */
  isApproved: boolean;
  /** Who approved of it; null: it needed no approval. */
  approvedBy: string | null;
  /** Why it is deleted, for the audit line. */
  reason: string;
}

/** `kept`: something has changed since it was planned. `isOver`: that holds for every other VM too. */
export type DeleteOrphanAnswer =
  | { outcome: 'deleted' | 'gone'; detachedDisks: readonly string[] }
  | { outcome: 'kept'; gate: 'KeptByUser' | 'DryRun' | 'Frozen' | 'Refused'; message: string; isOver: boolean };

export interface DeleteLeftoverRequest extends AskedLeftover {
  namespace: string;
}

export type DeleteLeftoverAnswer = Pick<AnsweredLeftover, 'outcome' | 'message'>;

/** What the MachineClasses are to say. */
export interface SweepNotice {
  machineClass: string;
  type: 'Normal' | 'Warning';
  reason: 'ClassNotSwept' | 'ApprovalNeeded' | 'OrphanKept';
  message: string;
}

/** Queue `machines`. All are safe to repeat. */
export interface SweepActivities {
  /**
   * Lists the VMs of every class and then the Machines, and judges each VM.
   *
   * @param request.isRemembered the run knows the memory of the last one already
   * @throws InvalidInput every problem by name, and a namespace that the settings do not name
   */
  observeSweep(request: { input: SweepInput; isRemembered: boolean }): Promise<SweepObservation | Unobserved>;
  /**
   * Judges the VM once more, and deletes it if it still is an orphan and nothing holds it.
   * @throws as its provider answers
   */
  deleteOrphan(request: DeleteOrphanRequest): Promise<DeleteOrphanAnswer>;
  /**
   * Lists the leftovers of the class once more, and deletes the one if it still is among them.
   * @throws as its provider answers
   */
  deleteLeftover(request: DeleteLeftoverRequest): Promise<DeleteLeftoverAnswer>;
  /** Writes Events; one that is there is left as it is. */
  publishSweep(request: { namespace: string; notices: SweepNotice[] }): Promise<void>;
}
