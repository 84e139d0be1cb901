import { nodeMarks } from '../../contracts/ids.ts';
import type { NodeFacts } from '../../contracts/hypervisor/hypervisor.ts';

/** How an update of a Node in place, which Gardener announces, stands. */
export type RollingUpdate =
  /** None that concerns the host. */
  | 'none'
  /** It is this Node's turn: cordoned, and marked for the update. The host has to be empty before it reboots. */
  | 'begun'
  /** It is over, and nothing says that it went well. */
  | 'failed'
  /** Back with another boot id, Ready, and open for pods again. */
  | 'ended';

/** Reasons of the condition `InPlaceUpdate` from when the Node was chosen until its update is over; `CandidateForUpdate` comes before. */
const chosen = ['SelectedForUpdate', 'DrainSuccessful', 'ReadyForUpdate'];
const failed = 'UpdateFailed';

/**
 * Reads Gardener's marks. A cordon alone is a person's, a candidate's turn may never come, and a Node that terminates is replaced, not
 * updated. Source: hypervisor.md B.8 and vm-and-machine.md B.1.
 *
 * @param begunBootId boot id of the Node when drover took the host into maintenance for it; null: drover did not
 */
export function judgeRollingUpdate(node: NodeFacts | null, begunBootId: string | null): RollingUpdate {
  if (node === null || node.terminatingSinceMs !== null || node.deletedAtMs !== null) return 'none';
  const result = node.labels[nodeMarks.updateResult];
  if (result === 'failed' || node.inPlaceUpdate === failed) return 'failed';
  if (begunBootId !== null && node.ready && !node.cordoned && node.bootId !== begunBootId) return 'ended';
  if (result !== undefined) return 'none';
  const isMarked = node.labels[nodeMarks.selectedForUpdate] !== undefined || chosen.includes(node.inPlaceUpdate ?? '');
  return node.cordoned && isMarked ? 'begun' : 'none';
}
