import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { oneLine } from '../render/table.ts';

/**
 * What an object that drover drives says of itself. Hypervisors and VirtualMachines say it in conditions of
 * the same names.
 */
interface Conditioned {
  conditions: readonly Condition[];
}

export interface Driven extends Conditioned {
  generation: number;
}

/** Where it is, and what it waits for; undefined where no run has said so yet. */
export const lifecycleOf = ({ conditions }: Conditioned): Condition | undefined =>
  findCondition(conditions, hypervisorConditions.lifecycle);

/** What drover would do, where it only observes; undefined where it has not observed. */
export const observationOf = ({ conditions }: Conditioned): Condition | undefined =>
  findCondition(conditions, hypervisorConditions.observed);

/** What its lifecycle says is of the spec as it is now. */
export const isCurrent = (object: Driven): boolean => lifecycleOf(object)?.observedGeneration === object.generation;

/** `blocked`: the user or the operator has to act. `unknown`: no status yet, or of an earlier spec. */
export type ReconcileStatus = 'reconciled' | 'progressing' | 'blocked' | 'unknown';

export function reconcileStatus(object: Driven): ReconcileStatus {
  const lifecycle = lifecycleOf(object);
  if (lifecycle === undefined || !isCurrent(object)) return 'unknown';
  return lifecycle.status === 'True' ? 'reconciled' : lifecycle.status === 'False' ? 'blocked' : 'progressing';
}

/** `Aborted: Onboarding was aborted: …`, or that there is no status yet. */
export function describeLifecycle(object: Conditioned): string {
  const lifecycle = lifecycleOf(object);
  return lifecycle === undefined
    ? 'no run has said anything of it yet'
    : `${lifecycle.reason}: ${oneLine(lifecycle.message)}`;
}
