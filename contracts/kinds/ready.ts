import { type Condition, findCondition } from '../conditions.ts';
import type { ActiveMode } from './kind.ts';
import type { KubeObject } from './object.ts';
import { modeOf, pendingRetry } from './requests.ts';

/**
 * Whether an object whose run reports in the condition Ready is reconciled: for its generation, with no retry that
 * waits; one that is being deleted, when the finalizer is off. What is only observed is never brought about, and says
 * so. Pure.
 */
export function isReadySaid(
  object: Pick<KubeObject, 'metadata'> & { status?: { conditions?: readonly Condition[] | undefined } | undefined },
  mode: ActiveMode,
  finalizer: string,
): boolean {
  const { deletionTimestamp, finalizers = [], generation } = object.metadata;
  if (deletionTimestamp !== undefined) return !finalizers.includes(finalizer);
  if (pendingRetry(object) !== null) return false;
  const ready = findCondition(object.status?.conditions, 'Ready');
  return ready?.observedGeneration === generation && (ready.status === 'True' || modeOf(object, mode) === 'observe');
}
