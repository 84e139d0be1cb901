import type { ConditionUpdate } from '../conditions.ts';
import type { ObservationOf, RunSettings, Unobserved } from '../runs.ts';
import type { VmPhase } from './metadata.ts';

/** What the run of a VsphereAgentPool is asked, what it asks, and what it decides on. Times are Unix ms. */

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface AgentPoolInput {
  namespace: string;
  name: string;
}

/** The section `agentPools` of drover's settings, as a run has it (docs/agent-pools.md#settings). */
export interface AgentPoolRules {
  /** So long a VM that is on may take until its Agent can be taken. */
  discoveryMs: number;
  /** The most VMs of a pool, and the most that are under way. */
  maxAgents: number;
  maxConcurrent: number;
  /** VMs that never became a Machine are deleted when nothing waits. */
  deleteSurplus: boolean;
  /** So long a surplus must last. */
  surplusMs: number;
  /** The most VMs that are replaced within an hour as no Agent of theirs could be taken. */
  replacementsPerHour: number;
  /**
   * More than this many VMs, and than this share of the pool, go only with an approval where the deletion of their
   * Machines was not observed.
   */
  approveAbove: number;
  approveAbovePercent: number;
  /** AgentMachines take only the Agent of their name, as agent-forge-operator has it. */
  pinSelectors: boolean;
  /** How many VMs of another template may be replaced at once, where a pool asks for that. */
  driftedAtOnce: number;
}

export interface AgentPoolSettings extends RunSettings {
  rules: AgentPoolRules;
}

export interface DesiredPool {
  uid: string;
  generation: number;
  deleting: boolean;
  /** The finalizer is on it. */
  isHeld: boolean;
  /** False: `Retain`. */
  deletes: boolean;
  /** It goes whatever is left of it. */
  force: boolean;
}

/** `status.{desiredReplicas, …}` by upstream's meaning. */
export interface PoolCounts {
  agentMachines: number;
  waiting: number;
  unready: number;
  withoutAgent: number;
  /** Agents with the labels of the pool. */
  matching: number;
  bound: number;
  /** Those that the Agent provider would take now. */
  available: number;
  /** VMs of the pool without an Agent that can be taken yet. */
  provisioning: number;
  /** VsphereAgents that are not being deleted. */
  owned: number;
}

/**
 * A VsphereAgent that is to be created. Its name follows from the AgentMachine, or from the pool, so that no repetition
 * makes a second one.
 */
export interface WantedAgent {
  name: string;
  vmName: string;
  /** Null: a surge, which stands ready before a Machine is deleted whose VM is of another template. */
  agentMachine: string | null;
}

/** A Machine whose VM is of another template. */
export interface ReplacedMachine {
  /** In the namespace of the control plane. */
  name: string;
  uid: string;
  /** The VsphereAgent of its VM. */
  vm: string;
}

/** How far the VMs of another template are replaced that Machines have. */
export interface PoolReplacement {
  /** VMs of Machines, and those of them that are of the template of the pool. */
  total: number;
  replaced: number;
  /** Those that may be deleted now, all at once. */
  machines: ReplacedMachine[];
  /** Nothing comes or goes, but for VMs that are to stand ready. */
  isQuiet: boolean;
  /** Why none may be deleted, or not as many as the budget has; null: nothing stands in the way. */
  waitsFor: { reason: string; message: string } | null;
}

/** An Agent of a VM of the pool that lacks its labels, its role, its hostname or its approval. */
export interface UnpreparedAgent {
  /** In the namespace of the pool. */
  agent: string;
  uid: string;
  vmName: string;
}

/** Why a VsphereAgent goes. */
export type ReleaseCause =
  /** Its Machine was seen being deleted, and is gone. */
  | 'MachineDeleted'
  /** Its Machine is gone, its Agent unbound and its Node gone; the deletion was not observed. */
  | 'MachineAbsent'
  /** No Agent that can be taken came in time. */
  | 'AgentDiscoveryExpired'
  /** Its Agent was there and is gone, and it has no Machine. */
  | 'AgentMissing'
  /** Nothing waits for it, and it was never taken. */
  | 'Surplus'
  /** It is of another template. */
  | 'TemplateDrifted'
  /** Its pool is being deleted. */
  | 'PoolDeleted';

/** Why a VM is held: as a VsphereAgent of it would go, or as it has the mark of the pool and no VsphereAgent. */
export type HeldCause = ReleaseCause | 'Stray';

export interface ReleasedAgent {
  name: string;
  uid: string;
  cause: ReleaseCause;
  /** The Agent that goes with it, as it is unbound; null: none. */
  agent: { name: string; uid: string } | null;
}

/** A VM that would go, and what it waits for. */
export interface HeldAgent {
  /** Of the VsphereAgent; of a stray: of the VM. */
  name: string;
  cause: HeldCause;
  /** CamelCase: `AgentBound`, `NodePresent`, `NodeUnknown`, `ApprovalRequired`, `MachinePresent`, `StrayAge`. */
  waitsFor: string;
  message: string;
}

/** Why the pool cannot go on, for one of its conditions. */
export interface PoolProblem {
  /** Type of the condition. */
  condition: string;
  reason: string;
  /** Tells a user what to do. */
  message: string;
}

/** VMs under way whose runs have not got them going in the time that an Agent may take. */
export interface StuckVms {
  count: number;
  /** As the first of their VsphereAgents, by name, says it. */
  reason: string;
  message: string;
}

export interface ObservedIso {
  /** Null: there is none yet. */
  path: string | null;
  /** When it must be checked again; in the past: it is due. Null: no URL is known. */
  dueMs: number | null;
  /** Why it is due, for people. */
  why: string;
}

export interface ObservedPool {
  counts: PoolCounts;
  problems: PoolProblem[];
  /** They are made still, so that none is made in their place. Left out: there are none. */
  stuck?: StuckVms;
  /** As many as are missing, before limits, in the order in which they are created. At most 200. */
  wanted: WantedAgent[];
  unprepared: UnpreparedAgent[];
  released: ReleasedAgent[];
  held: HeldAgent[];
  /**
   * AgentMachines whose selectors are to name the VM that was made for them: where the settings ask for it, or they
   * name another one.
   */
  unpinned: string[];
  /** Left out: the VMs of Machines are not to be replaced, or need not be. */
  replacement?: PoolReplacement;
  /** VsphereAgents of another template. */
  drifted: { name: string; phase: VmPhase }[];
  limits: { maxAgents: number; maxConcurrent: number; freeSpace: PoolProblem | null };
  iso: ObservedIso;
  /** It is being deleted with all that it made, and its ISOs are not removed yet. Left out: they are no business of it. */
  leavesIsos?: true;
  /** VMs with the mark of the pool, and no VsphereAgent, that may go: they are off, or a user has approved of it. */
  strays: { vmId: string; name: string; uid: string }[];
  /** VsphereAgents that are being deleted, or still there while the pool is. */
  remaining: number;
  /** When time alone changes what was judged. Null: never. */
  nextMs: number | null;
  /** The conditions of the object. */
  conditions: ConditionUpdate[];
  /** What the object says of VMs that are held: `worker-3 AgentBound: its Agent is bound`, sorted. */
  saidHeld: string[];
  /** Counts, VMs and what else the status lists are said. */
  isListed: boolean;
}

export type AgentPoolObservation = ObservationOf<DesiredPool, ObservedPool, AgentPoolSettings>;

/** What the object says from now on. The activity lists VMs and counts as they are when it writes. */
export interface AgentPoolStatus {
  conditions: ConditionUpdate[];
  plannedActions: { type: string; name?: string; reason: string }[];
}

/** What was done about the ISO; `status.iso` says so, which the activity writes itself. */
export interface RefreshedIso {
  outcome: 'uploaded' | 'reused' | 'unchanged';
  path: string;
  sha256: string;
  sizeBytes: number;
}

type OfPool = AgentPoolInput & { uid: string };

/**
 * Queue `agents`. All are safe to repeat, and to run twice at once. Credentials are read when they are used; none is in
 * a request or an answer.
 */
export interface AgentPoolActivities {
  /**
   * Everything that decisions are made on, in one call: the pool, its neighbours, its VMs by their mark.
   * @throws InvalidInput every problem by name
   */
  observeAgentPool(input: AgentPoolInput): Promise<AgentPoolObservation | Unobserved>;
  /** False: nothing can be made for the object any more. */
  patchAgentPoolFinalizer(request: OfPool & { present: boolean }): Promise<boolean>;
  /**
   * Names that exist are left as they are. Null: all are there; else the quota or policy that refuses one, or more, for
   * people.
   */
  createVsphereAgents(request: OfPool & { agents: WantedAgent[] }): Promise<{ refused: string | null }>;
  /**
   * Labels, role, hostname and approval, of Agents that are unbound still.
   * @throws ObjectRefused when the others are done, as those that follow do
   */
  prepareAgents(request: OfPool & { agents: UnpreparedAgent[] }): Promise<void>;
  /**
   * Deletes VsphereAgents, each judged once more, and leaves those for which its cause does not hold any more. Their
   * own runs destroy the VMs. `refused`: what kube-apiserver says of the first that it refuses, for people; null: it
   * refuses none.
   */
  releaseVsphereAgents(
    request: OfPool & { agents: ReleasedAgent[] },
  ): Promise<{ released: string[]; kept: string[]; refused: string | null }>;
  /**
   * Deletes Machines whose VMs are of another template, judged once more. Cluster API drains their Nodes, and makes
   * others in their place. `deleted`: those that are being deleted, or gone. `forbidden`: why drover may not, for
   * people; null: it may.
   */
  deleteMachines(
    request: OfPool & { machines: ReplacedMachine[] },
  ): Promise<{ deleted: string[]; kept: string[]; forbidden: string | null }>;
  pinAgentMachines(request: OfPool & { agentMachines: string[] }): Promise<void>;
  /** Downloads, compares and, where it is needed, uploads; then prunes what is not used. Heartbeats. */
  refreshIso(request: OfPool): Promise<RefreshedIso>;
  /**
   * Removes all ISOs of a pool that is being deleted, but for those that another pool wants, or that may be in a drive.
   * What stays is an Event, and no failure. Heartbeats.
   */
  removeIsos(request: OfPool): Promise<void>;
  /** Destroys VMs with the mark of the pool that have no VsphereAgent, each judged once more. */
  destroyStrays(request: OfPool & { vms: ObservedPool['strays'] }): Promise<{ destroyed: string[] }>;
  /** Where there is no such object any more, nothing. */
  publishAgentPool(request: OfPool & { status: AgentPoolStatus; retryHandled: string | null }): Promise<void>;
}
