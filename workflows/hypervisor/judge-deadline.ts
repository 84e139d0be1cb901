import type { DesiredHypervisor, HypervisorSettings, NodeFacts } from '../../contracts/hypervisor/hypervisor.ts';

/** By when a host has to be empty, as machine-controller-manager then takes the machine away whatever is on it. Milliseconds since the epoch. */
export interface Deadline {
  atMs: number;
  /** Past this, somebody is told. */
  halfAtMs: number;
}

/**
 * Of a Node that terminates: the drain's time-out after the termination began and, once it is not Ready, the shorter one after that — the
 * earlier of the two. Null: nobody takes the machine away. Source: hypervisor.md B.8.
 */
export function judgeDeadline(
  desired: Pick<DesiredHypervisor, 'lifecycleEnabled'>,
  node: NodeFacts | null,
  { drainMs, notReadyDrainMs }: Pick<HypervisorSettings, 'drainMs' | 'notReadyDrainMs'>,
): Deadline | null {
  if (!desired.lifecycleEnabled || node === null) return null;
  const since = [node.terminatingSinceMs, node.deletedAtMs].filter((ms) => ms !== null);
  if (since.length === 0) return null;
  const beginMs = Math.min(...since);
  const drained: Deadline = { atMs: beginMs + drainMs, halfAtMs: beginMs + drainMs / 2 };
  if (node.ready) return drained;
  // A Node that was not Ready before gets the short time from the beginning of its termination.
  const brokenMs = Math.max(beginMs, node.readySinceMs);
  const broken: Deadline = { atMs: brokenMs + notReadyDrainMs, halfAtMs: brokenMs + notReadyDrainMs / 2 };
  return broken.atMs < drained.atMs ? broken : drained;
}
