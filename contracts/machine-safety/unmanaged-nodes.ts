/**
 * Nodes of the target cluster that belong to no Machine, as the replaced manager marks them beside
 * its sweep (docs/machine-safety.md#nodes).
 */

export const notManagedAnnotation = 'node.machine.sapcloud.io/not-managed-by-mcm';
export const nodeFinalizer = 'node.machine.sapcloud.io/machine-controller';
/** Label of a Machine: the name of its Node. */
export const machineNodeLabel = 'node';

export interface JudgedNode {
  readonly name: string;
  /** Unix ms. */
  readonly createdMs: number;
  readonly isMarked: boolean;
  readonly hasFinalizer: boolean;
}

export type NodeChange = 'mark' | 'unmark' | null;

/**
 * Pure. A Node that no Machine has is marked once it is older than a Machine may take to be made, and the replaced
 * manager's finalizer goes, which no controller would remove; one that a Machine has is unmarked.
 *
 * @param machineNodes names of the Nodes of all Machines
 */
export function judgeNode(
  { name, createdMs, isMarked, hasFinalizer }: JudgedNode,
  machineNodes: ReadonlySet<string>,
  { creationTimeoutMs, nowMs }: { creationTimeoutMs: number; nowMs: number },
): NodeChange {
  if (machineNodes.has(name)) return isMarked ? 'unmark' : null;
  // That no Machine is left says more of the list than of the Nodes.
  if (machineNodes.size === 0 || nowMs - createdMs <= creationTimeoutMs) return null;
  return isMarked && !hasFinalizer ? null : 'mark';
}

export interface AnnotatedNodes {
  readonly marked: readonly string[];
  readonly unmarked: readonly string[];
}

/** Queue `machines`. */
export interface MachineNodeActivities {
  /** Null: there is no target cluster, or drover only observes. */
  readonly annotateNodes: () => Promise<AnnotatedNodes | null>;
}
