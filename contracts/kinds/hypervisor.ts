import { findCondition } from '../conditions.ts';
import { type Hypervisor, hypervisorDefinition, hypervisorSchema } from '../crds/hypervisor.ts';
import { hypervisorConditions } from '../hypervisor/conditions.ts';
import type { HypervisorInput } from '../hypervisor/hypervisor.ts';
import { hypervisorMode } from '../hypervisor/read-hypervisor.ts';
import { annotations, hypervisorAnnotations, hypervisorId, workflowTypes } from '../ids.ts';
import { type ActiveMode, apiVersionOf, defineKind } from './kind.ts';

/**
 * A Hypervisor is reconciled when
 * - it is being deleted: drover holds no finalizer on it; or
 * - no retry is asked for, as for an Eviction; and
 * - `Lifecycle` is True (it is where it should be) or False (it is blocked elsewhere, and an operator has to do something) for this generation;
 *   where drover only observes, `Observed` instead.
 *
 * What its Node, its Evictions and Nova say is not in the object: their changes start a run, whatever this says.
 */
function isReconciled({ metadata, status }: Hypervisor, mode: ActiveMode): boolean {
  if (metadata.deletionTimestamp !== undefined) return true;
  const given = metadata.annotations ?? {};
  if (given[annotations.retry] !== undefined && given[annotations.retry] !== given[hypervisorAnnotations.retryHandled])
    return false;
  const isObserved = mode === 'observe' || hypervisorMode(given) === 'observe';
  const final = findCondition(
    status?.conditions,
    isObserved ? hypervisorConditions.observed : hypervisorConditions.lifecycle,
  );
  return final !== undefined && final.status !== 'Unknown' && final.observedGeneration === metadata.generation;
}

export const hypervisorKind = defineKind({
  kind: 'Hypervisor',
  apiVersion: apiVersionOf(hypervisorDefinition),
  plural: hypervisorDefinition.plural,
  schema: hypervisorSchema,
  workflowType: workflowTypes.reconcileHypervisor,
  workflowId: hypervisorId,
  input: (hypervisor): HypervisorInput => ({ hypervisor }),
  host: (hypervisor) => hypervisor,
  describe: (hypervisor) => ({
    summary: `Drive hypervisor ${hypervisor}`,
    details: [
      `Brings compute host **${hypervisor}** to where its Hypervisor and its Node want it: into service, into maintenance, or out of Nova.`,
      `What it waits for, and why, is in the conditions: \`kubectl describe hypervisor ${hypervisor}\`.`,
    ],
  }),
  isReconciled,
});
