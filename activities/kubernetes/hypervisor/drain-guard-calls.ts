import { fieldManager } from '../../../contracts/ids.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { budgetSchema, deploymentSchema, guardName, guardNamespace as namespace } from './drain-guard.ts';
import type { Budget, Deployment, budgetFor, deploymentFor } from './drain-guard.ts';
import { createObjectRequests } from '../lib/object-requests.ts';

/** The two objects that hold the drain of a Node back. */
export interface DrainGuardCalls {
  getBudget(name: string, signal: AbortSignal): Promise<Budget | null>;
  getDeployment(name: string, signal: AbortSignal): Promise<Deployment | null>;
  /** Makes it, or puts it in the place of the one that was read. @throws ObjectConflict when another party did either meanwhile */
  putBudget(before: Budget | null, budget: ReturnType<typeof budgetFor>, signal: AbortSignal): Promise<void>;
  putDeployment(
    before: Deployment | null,
    deployment: ReturnType<typeof deploymentFor>,
    signal: AbortSignal,
  ): Promise<void>;
}

const kinds = {
  budget: { apiVersion: 'policy/v1', plural: 'poddisruptionbudgets' },
  deployment: { apiVersion: 'apps/v1', plural: 'deployments' },
} as const;

export function createDrainGuardCalls(kubernetes: Kubernetes): DrainGuardCalls {
  const { readOrNull } = createObjectRequests(kubernetes);
  const path = (kind: keyof typeof kinds, name?: string): string =>
    resourcePath(kinds[kind].apiVersion, kinds[kind].plural, { namespace, ...(name !== undefined && { name }) });

  const put = async (
    kind: keyof typeof kinds,
    before: Budget | Deployment | null,
    object: { metadata: { name: string } },
    signal: AbortSignal,
  ): Promise<void> => {
    const query = { fieldManager };
    if (before === null)
      return void (await kubernetes.request({ method: 'POST', path: path(kind), query, body: object }, signal));
    const body = { ...object, metadata: { ...object.metadata, resourceVersion: before.metadata.resourceVersion } };
    await kubernetes.request({ method: 'PUT', path: path(kind, object.metadata.name), query, body }, signal);
  };

  return {
    getBudget: (name, signal) => readOrNull(budgetSchema, path('budget', name), signal),
    getDeployment: (name, signal) => readOrNull(deploymentSchema, path('deployment', name), signal),
    putBudget: (before, budget, signal) => put('budget', before, budget, signal),
    putDeployment: (before, deployment, signal) => put('deployment', before, deployment, signal),
  };
}

/** Both, as they are; null where there is none. */
export async function findDrainGuard(
  calls: DrainGuardCalls,
  node: string,
  signal: AbortSignal,
): Promise<[Budget | null, Deployment | null]> {
  const name = guardName(node);
  return await Promise.all([calls.getBudget(name, signal), calls.getDeployment(name, signal)]);
}
