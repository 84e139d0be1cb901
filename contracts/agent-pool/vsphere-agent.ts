import type { ConditionUpdate } from '../conditions.ts';
import type { ObservationOf, RunSettings, Unobserved } from '../runs.ts';
import type { Along, WrittenAlong } from '../virtual-machine/activities.ts';
import type { VmPhase } from './metadata.ts';

/** What the run of a VsphereAgent is asked, what it asks, and what it decides on. */

export interface VsphereAgentInput {
  namespace: string;
  name: string;
}

export interface VsphereAgentSettings extends RunSettings {
  /**
   * Its name in the settings: its creates and destroys are limited with those of all other runs. Empty: the pool names
   * none of them.
   */
  vcenter: string;
  cluster: string;
  slotRenewMs: number;
}

export interface DesiredAgent {
  uid: string;
  generation: number;
  deleting: boolean;
  isHeld: boolean;
  /** Name of the VM and hostname. */
  vmName: string;
  /** Its VM goes though its Machine is there. */
  force: boolean;
}

export interface AgentVm {
  vmId: string;
  name: string;
  biosUUID: string;
  /** Of the first card, lower case with hyphens; null: it has none yet. */
  macAddress: string | null;
  isOn: boolean;
  /** The ISO in its drive; null: none. */
  iso: string | null;
  /** Tags of the pool that it lacks. */
  missingTags: string[];
}

export interface AgentProblem {
  reason: string;
  message: string;
  /**
   * Of one whose pool is deleted by force: whether its vCenter cannot be asked at all, or has not given an answer that
   * says where the VM is. Left out: it has answered, or is busy.
   */
  vcenter?: 'notAsked' | 'noAnswer';
}

export interface ObservedAgent {
  /** Null: there is none. */
  pool: { uid: string; deleting: boolean; deletes: boolean; force: boolean; isoPath: string | null } | null;
  /**
   * Why nothing can be created, such as a VM of another owner in its place; of one that is being deleted, why its
   * vCenter could not be asked: for the condition Ready. Null: nothing stands in the way.
   */
  problem: AgentProblem | null;
  /** As the pool's run has recorded it; null: not yet. */
  phase: VmPhase | null;
  /** Its Machine is there still. Null: it has none, or cannot be found. */
  machine: string | null;
  /** Of one that is being deleted: the Agent that runs on its VM, while no Machine has that. Left out: there is none. */
  agent?: { name: string; isBound: boolean };
  /** Its Agent is installed, so that it boots from its disk. */
  isInstalled: boolean;
  vm: AgentVm | null;
  /** The object says so. */
  recorded: { name: string | null; biosUUID: string | null; macAddress: string | null; conditions: ConditionUpdate[] };
}

export type VsphereAgentObservation = ObservationOf<DesiredAgent, ObservedAgent, VsphereAgentSettings>;

type Said = Omit<ConditionUpdate, 'type'>;

export type VsphereAgentStatus =
  | {
      /** Left out: as it is. */
      vm?: { name: string; biosUUID: string; macAddress: string | null };
      ready: Said;
    }
  /** Where drover only observes: all else is the operator's that acts. */
  | { observed: Said };

type OfAgent = VsphereAgentInput & { uid: string };

/** After the work: released at the run that allocates the slots, as it would be a message of its own otherwise. */
type SlotToRelease = Pick<Along, 'slot'>;
export type SlotReleased = Pick<WrittenAlong, 'isSlotReleased'>;

/**
 * Queue `agents`. All are safe to repeat, and to run twice at once: each finds the VM by its mark, and does
 * what is left.
 */
export interface VsphereAgentActivities {
  /** The object, its pool and neighbours, and its VM by its mark. */
  observeVsphereAgent(input: VsphereAgentInput): Promise<VsphereAgentObservation | Unobserved>;
  patchVsphereAgentFinalizer(request: OfAgent & { present: boolean }): Promise<boolean>;
  /**
   * Places it in the datastore cluster, waits for the task, and powers it on where it lacks no tags. The mark is in the
   * create call. Heartbeats.
   */
  createAgentVm(request: OfAgent & SlotToRelease): Promise<AgentVm & SlotReleased>;
  attachAgentTags(request: OfAgent): Promise<void>;
  powerOnAgentVm(request: OfAgent): Promise<void>;
  /** Takes the ISO out of the drive. */
  ejectAgentIso(request: OfAgent): Promise<void>;
  /**
   * Powers off and destroys, with its disks but for those of others, which are detached first, and before that deletes
   * the Agents that run on it and are not bound. Heartbeats. Nothing more where no VM has the mark.
   */
  destroyAgentVm(request: OfAgent & SlotToRelease): Promise<SlotReleased>;
  publishVsphereAgent(request: OfAgent & { status: VsphereAgentStatus; retryHandled: string | null }): Promise<void>;
}
