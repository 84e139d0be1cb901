import type { ObservationOf, RunSettings, Unobserved } from '../runs.ts';

/** What the run of a VirtualMachineSetResourcePolicy is asked, what it asks, and what it decides on. */

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface ResourcePolicyInput {
  namespace: string;
  name: string;
}

export interface PolicySettings extends RunSettings {
  /** Selects the task queue. */
  vcenter: string;
}

/** CPU in cores, as which host will be asked for them is known only where the pool is. Null: no limit. */
export interface PoolAllocation {
  reservationCores: number;
  limitCores: number | null;
  reservationMiB: number;
  limitMiB: number | null;
}

/** Of one that is being deleted, without what another policy of the namespace names too: that stays. */
export interface DesiredPolicy {
  uid: string;
  generation: number;
  deleting: boolean;
  /** drover's finalizer is on it. */
  isHeld: boolean;
  folder: string | null;
  resourcePool: ({ name: string } & PoolAllocation) | null;
  /** Each has a cluster module in the cluster of every zone. */
  groups: string[];
}

export interface RecordedModule {
  cluster: string;
  group: string;
  module: string;
}

export interface RecordedPool {
  cluster: string;
  pool: string;
}

/** What the object says that there is. */
export interface RecordedPolicy {
  modules: RecordedModule[];
  pools: RecordedPool[];
  /** Generation for which all of it was made; null: none. */
  made: number | null;
  /** The same, where drover only observed. */
  observed: number | null;
  /** Generation whose run a user has cancelled: none drives it until its spec changes or a retry is asked for. */
  cancelled: number | null;
  /** As people read it; null: nothing. */
  waitsFor: string | null;
}

/**
 * Something of the namespace in a zone, and what the policy names below it. Null: it is not there, or none is named.
 */
export interface PolicyBranch {
  /** Of the parent: `/DC0/vm/team-a`. */
  path: string;
  parent: string | null;
  child: string | null;
  /** Nothing is in the child. */
  isEmpty: boolean;
}

export interface PolicyPlace {
  zone: string;
  cluster: string | null;
  folder: PolicyBranch;
  /**
   * `isAsWanted`: its allocation is that of the policy. `lacksSpeed`: it has cores to count, and no host says how fast
   * one is.
   */
  resourcePool: PolicyBranch & { isAsWanted: boolean; lacksSpeed?: true };
}

export interface PolicyInVcenter {
  /** One for each zone of the settings. */
  places: PolicyPlace[];
  /** Ids of all cluster modules of the vCenter. */
  modules: string[];
}

/**
 * A mutation of vCenter. Each is safe to repeat, but for a module: vCenter has no name for one, so that an answer which
 * is lost leaves one that is empty.
 */
export type PolicyChange =
  | { kind: 'makeFolder'; parent: string; name: string }
  | { kind: 'makePool'; parent: string; cluster: string | null; name: string; allocation: PoolAllocation }
  | { kind: 'makeModule'; cluster: string; group: string }
  | { kind: 'removeModule'; module: string }
  /** Where something has come into it, it stays. */
  | { kind: 'removeFolder' | 'removePool'; id: string; name: string };

/** What the object says from now on. What is left out stays. */
export interface PolicyStatus {
  modules?: RecordedModule[];
  pools?: RecordedPool[];
  /** Of `made`, `observed` and `cancelled`, one at most. */
  made?: number;
  observed?: number;
  cancelled?: number;
  waitsFor?: string | null;
}

export interface ObservedPolicy {
  recorded: RecordedPolicy;
  /** VirtualMachines that name a policy which is being deleted. */
  usedBy: string[];
  /** Null: the plan does not depend on it, and it was not asked. */
  inVcenter: PolicyInVcenter | null;
}

export type PolicyObservation = ObservationOf<DesiredPolicy, ObservedPolicy, PolicySettings>;

/** Queue `kubernetes`. All are safe to repeat. */
export interface ResourcePolicyObjectActivities {
  /**
   * The object, and, where it is being deleted, the VirtualMachines that name it; `inVcenter` is null.
   *
   * @throws InvalidInput every problem by name
   */
  observeResourcePolicy(input: ResourcePolicyInput): Promise<PolicyObservation | Unobserved>;
  /** False: nothing can be made for the object any more, as it is gone or is being deleted. */
  patchPolicyFinalizer(request: ResourcePolicyInput & { uid: string; present: boolean }): Promise<boolean>;
  /**
   * Where there is no such object any more, nothing. What it waits for becomes an Event, too.
   *
   * @param request.retryHandled value of `drover.dev/retry` that is answered; null: none
   */
  publishResourcePolicy(
    request: ResourcePolicyInput & { uid: string; status: PolicyStatus; retryHandled: string | null },
  ): Promise<void>;
}

/** Queue `vsphere:<vcenter>`. All are safe to repeat, and to run twice at once. */
export interface ResourcePolicyVsphereActivities {
  observePolicyInVcenter(
    request: Pick<ResourcePolicyInput, 'namespace'> & Pick<DesiredPolicy, 'folder' | 'resourcePool'>,
  ): Promise<PolicyInVcenter>;
  /** The id of a module that was made; null for all else. @throws as vCenter answers (contracts/errors.ts) */
  changePolicyInVcenter(request: ResourcePolicyInput & { cause: string; change: PolicyChange }): Promise<string | null>;
}
