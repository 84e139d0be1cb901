import { type Condition, findCondition } from '../conditions.ts';
import { type Eviction, evictionDefinition, evictionSchema } from '../crds/eviction.ts';
import { onlyObserves, readEvictionAnnotations, retryHandledAnnotation } from '../eviction/annotations.ts';
import { evictionConditions } from '../eviction/conditions.ts';
import type { EvictionInput } from '../eviction/eviction.ts';
import { annotations, evictionFinalizer, evictionId, workflowTypes } from '../ids.ts';
import { type ActiveMode, apiVersionOf, defineKind } from './kind.ts';

/**
 * An Eviction is reconciled when
 * - it is not being deleted, or drover holds no finalizer on it;
 * - nobody asks for a retry: `drover.dev/retry` is absent or equals `drover.dev/retry-handled`, which a run writes when it takes a retry up
 *   (equality, not order: a manifest that carries the annotation for ever asks once);
 * - `Evicting` is False for this generation, and `HypervisorReEnabled` is not Unknown. A condition without observedGeneration is the
 *   replaced operator's, for which False is final. A refusal of annotations holds only as long as they are bad: they have no generation;
 * - where drover only observes: `Observed` is True (or False: refused) for this generation instead. One that was begun in earnest, which
 *   drover holds, is over by `Evicting` all the same.
 */
function isReconciled(eviction: Eviction, mode: ActiveMode): boolean {
  const { metadata, status } = eviction;
  if (metadata.deletionTimestamp !== undefined) return !(metadata.finalizers ?? []).includes(evictionFinalizer);
  const given = metadata.annotations ?? {};
  if (given[annotations.retry] !== undefined && given[annotations.retry] !== given[retryHandledAnnotation])
    return false;

  const of = (type: string): Condition | undefined => findCondition(status?.conditions, type);
  const isCurrent = ({ observedGeneration }: Condition): boolean =>
    observedGeneration === undefined || observedGeneration === metadata.generation;

  const evicting = of(evictionConditions.evicting);
  const observed = onlyObserves(metadata, mode) ? of(evictionConditions.observed) : undefined;
  const isOver = evicting?.status === 'False' && isCurrent(evicting);
  const isObserved = observed !== undefined && observed.status !== 'Unknown' && isCurrent(observed);
  const final = isOver ? evicting : isObserved ? observed : undefined;
  return final !== undefined && !isRefusalOver(final, given) && of(evictionConditions.reEnabled)?.status !== 'Unknown';
}

/** Annotations can be corrected without a new generation. */
function isRefusalOver({ reason }: Condition, given: Readonly<Record<string, string>>): boolean {
  const { asked, problems } = readEvictionAnnotations(given);
  if (reason === 'InvalidObject') return problems.length === 0;
  if (reason === 'CauseNotSupported') return asked.cause !== 'node-failure';
  return false;
}

/** The subject is the host: several Evictions may speak of one, and one run empties it. */
export const evictionKind = defineKind({
  kind: 'Eviction',
  apiVersion: apiVersionOf(evictionDefinition),
  plural: evictionDefinition.plural,
  schema: evictionSchema,
  workflowType: workflowTypes.evictHypervisor,
  workflowId: evictionId,
  input: (host): EvictionInput => ({ hypervisor: host }),
  host: (host) => host,
  describe: (host, eviction) => ({
    summary: `Evict ${host}`,
    details: [
      `Empties compute host **${host}**: disables its compute service, moves its instances one by one, and says in the Eviction \`${eviction}\` how it went.`,
      `Watch it with \`drover watch ${host}\` or \`kubectl get evictions ${eviction}\`. Stop it with \`drover cancel ${host}\`, or by cancelling this run.`,
    ],
  }),
  isReconciled,
});
