import type { NodeKey } from '../../../contracts/hypervisor/activities.ts';
import { isOffboardingTaint, offboardingTaint } from '../../../contracts/hypervisor/read-node.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from './dependencies.ts';
import { type Taint, nodes } from './node-schema.ts';

/** Drives the agents off a Node that goes for good. */
export const taintNode = (tools: HypervisorTools, key: NodeKey): Promise<void> =>
  changeTaints(tools, key, 'taintNode', (others) => [...others, offboardingTaint]);

/** Lets them come back. Other taints stay. */
export const untaintNode = (tools: HypervisorTools, key: NodeKey): Promise<void> =>
  changeTaints(tools, key, 'untaintNode', (others) => [...others]);

/**
 * Taints are one list, so it is written on the version that was read: no other is lost. A Node that is another one by
 * now is left alone.
 */
const changeTaints = (
  tools: HypervisorTools,
  { node: name, uid }: NodeKey,
  action: 'taintNode' | 'untaintNode',
  change: (others: readonly Taint[]) => Taint[],
): Promise<void> =>
  retryConflicts(async () => {
    const { client, scope } = tools;
    const node = await client.get(nodes, { name }, scope.signal);
    if (node?.metadata.uid !== uid) return;
    const before = node.spec?.taints ?? [];
    if (before.some(isOffboardingTaint) === (action === 'taintNode')) return;
    const after = change(before.filter((taint) => !isOffboardingTaint(taint)));
    const cause = action === 'taintNode' ? 'its host is decommissioned' : 'its host stays';
    await mutate(
      tools,
      { action, cause, object: `node/${name}`, before: { taints: before }, after: { taints: after } },
      () => client.patch(nodes, node.metadata, { spec: { taints: after.length === 0 ? null : after } }, scope.signal),
    );
  });
