import type { ActiveMode } from '../contracts/kinds/kind.ts';
import { setConditions } from '../contracts/conditions.ts';
import { conditionsOf } from '../contracts/kinds/object.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { typed } from '../runtime/kubernetes/resources.ts';
import { type Facts, readFacts } from './facts.ts';
import { kubeObjectSchema } from './kube-object.ts';
import type { Route } from './routes.ts';

/**
 * Reports in the object that a user stopped its run, as no run is left to report it (docs/rules.md#a-users-stop). Reads
 * it fresh, and writes only if it is still the object that was decided about; a change at the same moment is refused by
 * its resourceVersion.
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
  const objects = openObjects(kubernetes);
  const resource = typed(route.row, kubeObjectSchema);
  const key = { name: decided.name, namespace: decided.namespace ?? undefined };
  const object = await objects.get(resource, key, abort);
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
  const { uid, resourceVersion } = fresh;
  await objects.patchStatus(resource, { ...key, uid, resourceVersion }, { conditions }, abort);
  return true;
}
