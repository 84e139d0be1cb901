import type { DrainGuard, HypervisorPatch, HypervisorStatusPatch, NewEviction, NewHypervisor } from './hypervisor.ts';

/**
 * What the run of a hypervisor may ask for, by task queue. An activity's name is a wire name. All are safe to repeat and to run twice at
 * once; what each may fail with is in contracts/errors.ts.
 */

/** Queue `kubernetes`. Where what the decision was made on is no more, nothing is written, and the next look sees why. */
export interface HypervisorObjectActivities {
  createHypervisor(hypervisor: NewHypervisor): Promise<void>;
  /** In their order. The spec is written only while it is the one of that generation: nobody's change is overwritten. */
  patchHypervisor(request: ObjectKey & { generation: number; patches: HypervisorPatch[] }): Promise<void>;
  createEviction(eviction: NewEviction): Promise<void>;
  /** An earlier deadline stays. */
  setEvictionDeadline(request: ObjectKey & { deadline: string }): Promise<void>;
  /** Only one that a Hypervisor controls: all others belong to those who made them. */
  deleteEviction(request: ObjectKey): Promise<void>;
  taintNode(request: NodeKey): Promise<void>;
  untaintNode(request: NodeKey): Promise<void>;
  ensureDrainGuard(request: NodeKey & { guard: DrainGuard }): Promise<void>;
  /** Writes the status where it differs, and an Event when the state does. */
  publishHypervisor(report: ObjectKey & { status: HypervisorStatusPatch }): Promise<void>;
}

/** Another object of the same name is left alone. */
export interface ObjectKey {
  name: string;
  uid: string;
}

export interface NodeKey {
  node: string;
  uid: string;
}
