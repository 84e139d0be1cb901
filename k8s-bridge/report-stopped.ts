import type { ActiveMode } from '../contracts/kinds/kind.ts';
import { setConditions } from '../contracts/conditions.ts';
import { apiVersionOf, conditionsOf } from '../contracts/kinds/object.ts';
import { fieldManager } from '../contracts/ids.ts';
import type { Clock } from '../runtime/clock.ts';
import { checkAnswer, isFailure } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import { type Facts, readFacts } from './facts.ts';
import { kubeObjectSchema } from './kube-object.ts';
import type { Route } from './routes.ts';

/**
 * Says in the object that a person stopped its run, as nobody else is left to say it (docs/rules.md#a-users-stop). Reads it fresh, and
 * writes only if it is still the object that was decided about; a change at the same moment is refused by its resourceVersion.
 *
 * @returns whether it was written
 * @throws ObjectConflict, KubernetesUnavailable, KubernetesForbidden
 */
export async function reportStopped(
  { kubernetes, clock }: { kubernetes: Kubernetes; clock: Clock },
  route: Route,
  decided: Facts,
  mode: ActiveMode,
  message: string,
  abort: AbortSignal,
): Promise<boolean> {
  const place = { name: decided.name, ...(decided.namespace !== null && { namespace: decided.namespace }) };
  const object = await readOrNull(kubernetes, resourcePath(apiVersionOf(route.row), route.row.plural, place), abort);
  if (object === null) return false;
  const fresh = readFacts(route, object, mode);
  if (
    fresh.uid !== decided.uid ||
    fresh.generation !== decided.generation ||
    fresh.reconciled ||
    fresh.deleting ||
    fresh.retryPending
  )
    return false;
  const conditions = setConditions(
    conditionsOf(object),
    route.row.stopped?.(object, mode, message) ?? [],
    new Date(clock.now()).toISOString(),
  );
  const body = { metadata: { uid: fresh.uid, resourceVersion: fresh.resourceVersion }, status: { conditions } };
  const path = resourcePath(apiVersionOf(route.row), route.row.plural, { ...place, subresource: 'status' });
  await kubernetes.request({ method: 'PATCH', patchType: 'merge', path, query: { fieldManager }, body }, abort);
  return true;
}

async function readOrNull(kubernetes: Kubernetes, path: string, abort: AbortSignal) {
  try {
    return checkAnswer(kubeObjectSchema, await kubernetes.request({ method: 'GET', path }, abort), `GET ${path}`);
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
}
