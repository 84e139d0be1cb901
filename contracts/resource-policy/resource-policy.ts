/** What the run of a VirtualMachineSetResourcePolicy is asked, what it asks, and what it decides on. Source: vm-and-machine.md A.11. */

/** The plain JSON that starts the run by hand, and that the bridge starts it with. */
export interface ResourcePolicyInput {
  namespace: string;
  name: string;
}

export interface ResourcePolicySettings {
  /** Selects the task queue. */
  vcenter: string;
  mode: 'observe' | 'act';
  /** How long until something that nobody tells of is looked at again. */
  recheckMs: number;
}

/** CPU in cores, as which host will be asked for them is known only where the pool is. Null: no limit. */
export interface PoolAllocation {
  reservationCores: number;
  limitCores: number | null;
  reservationMiB: number;
  limitMiB: number | null;
}

/** Of one that is being deleted, without what another policy of the namespace names too: that stays. */
export interface DesiredResourcePolicy {
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
export interface RecordedResourcePolicy {
  modules: RecordedModule[];
  pools: RecordedPool[];
  /** Generation for which all of it was made; null: none. */
  made: number | null;
  /** The same, where drover only looked. */
  observed: number | null;
  /** As people read it; null: nothing. */
  waitsFor: string | null;
}

/** Something of the namespace in a zone, and what the policy names below it. Null: it is not there, or none is named. */
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
  /** `isAsWanted`: its allocation is that of the policy. */
  resourcePool: PolicyBranch & { isAsWanted: boolean };
}

export interface ResourcePolicyFacts {
  /** One for each zone of the settings. */
  places: PolicyPlace[];
  /** Ids of all cluster modules of the vCenter. */
  modules: string[];
}

/** Each is safe to repeat, but for a module: vCenter has no name for one, so that an answer which is lost leaves one that is empty. */
export type PolicyPart =
  | { make: 'folder'; parent: string; name: string }
  | { make: 'resourcePool'; parent: string; cluster: string | null; name: string; allocation: PoolAllocation }
  | { make: 'module'; cluster: string; group: string };

/** Where something has come into a folder or a pool, it stays. */
export type PolicyRemains =
  | { remove: 'module'; module: string }
  | { remove: 'folder' | 'resourcePool'; id: string; name: string };

/** What the object is told. What is left out stays. */
export interface PolicyNote {
  finalizer?: 'add' | 'remove';
  modules?: RecordedModule[];
  pools?: RecordedPool[];
  made?: number;
  observed?: number;
  waitsFor?: string | null;
}

export type ResourcePolicyRead =
  /** The kind is switched off. */
  | { next: 'nothing'; message: string }
  /** This run has another id than the policy's: the right one was signalled with start. */
  | { next: 'handedOver'; workflowId: string }
  | {
      next: 'run';
      settings: ResourcePolicySettings;
      desired: DesiredResourcePolicy | null;
      recorded: RecordedResourcePolicy;
      usedBy: string[];
    };

/** Queue `kubernetes`. All are safe to repeat. */
export interface ResourcePolicyObjectActivities {
  /** The object, and, where it is being deleted, the VirtualMachines that name it. @throws InvalidInput every problem by name */
  readResourcePolicy(input: ResourcePolicyInput): Promise<ResourcePolicyRead>;
  /** Where there is no such object any more, nothing. What it waits for becomes an Event, too. */
  noteResourcePolicy(request: ResourcePolicyInput & { uid: string; note: PolicyNote }): Promise<void>;
}

export interface PolicyOwner extends ResourcePolicyInput {
  cause: string;
}

/** Queue `vsphere:<vcenter>`. All are safe to repeat, and to run twice at once. */
export interface ResourcePolicyVsphereActivities {
  lookAtResourcePolicy(request: {
    namespace: string;
    folder: string | null;
    resourcePool: DesiredResourcePolicy['resourcePool'];
  }): Promise<ResourcePolicyFacts>;
  /** The id of a module that was made; null: of others the next look has it. @throws as vCenter answers (contracts/errors.ts) */
  makePolicyPart(request: PolicyOwner & { part: PolicyPart }): Promise<string | null>;
  removePolicyPart(request: PolicyOwner & { part: PolicyRemains }): Promise<void>;
}

/** How a run ended. */
export interface ResourcePolicyResult {
  policy: string;
  outcome: 'Settled' | 'Gone' | 'NothingToDo' | 'HandedOver';
  message: string;
}
