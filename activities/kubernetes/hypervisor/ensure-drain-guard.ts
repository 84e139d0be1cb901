import { isDeepStrictEqual } from 'node:util';

import type { NodeKey } from '../../../contracts/hypervisor/activities.ts';
import type { DrainGuard } from '../../../contracts/hypervisor/hypervisor.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Budget, Deployment } from './drain-guard.ts';
import { budgetFor, deploymentFor, guardName, guardNamespace, isGuard, readDrainGuard } from './drain-guard.ts';
import { findDrainGuard } from './drain-guard-calls.ts';
import type { HypervisorTools } from './dependencies.ts';
import { mutate } from '../../lib/mutate.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';

/**
 * Makes the PodDisruptionBudget and the Deployment what they should be, in that order, so that the pod is never without its budget. What the
 * operator before drover made is replaced. Nothing is made for a Node that is gone.
 *
 * @throws InvalidObject where another party has an object of that name
 */
export const ensureDrainGuard = (
  tools: HypervisorTools,
  { node: name, uid, guard }: NodeKey & { guard: DrainGuard },
): Promise<void> =>
  retryConflicts(async () => {
    const { client, scope, guardImage } = tools;
    const found = await client.getNode(name, scope.signal);
    if (found?.metadata.uid !== uid) return;
    const node = { name, uid };
    const [budget, deployment] = await findDrainGuard(client, name, scope.signal);
    const before = readDrainGuard(budget, deployment, node);
    if (isDeepStrictEqual(before, guard)) return;
    refuseForeign('PodDisruptionBudget', budget, name);
    refuseForeign('Deployment', deployment, name);
    const cause =
      guard.minAvailable === 1 ? `the host on Node ${name} is in Nova` : `the host on Node ${name} is out of Nova`;
    const entry = { action: 'ensureDrainGuard', cause, before, after: guard };
    const object = `${guardNamespace}/${guardName(name)}`;
    await mutate(tools, { ...entry, object: `poddisruptionbudget/${object}` }, () =>
      client.putBudget(budget, budgetFor(node, guard), scope.signal),
    );
    await mutate(tools, { ...entry, object: `deployment/${object}` }, () =>
      client.putDeployment(deployment, deploymentFor(node, guard, guardImage), scope.signal),
    );
  });

function refuseForeign(kind: string, object: Budget | Deployment | null, node: string): void {
  if (object === null || isGuard(object, node)) return;
  throw droverFailure(
    'InvalidObject',
    `${kind} ${guardNamespace}/${guardName(node)} has the name of what holds the drain of Node ${node} back, and is something else. Rename or delete it`,
  );
}
