import { type Condition, findCondition } from '../conditions.ts';
import { cancelledFailure, fencedHold } from '../ids.ts';
import { anOperator, hypervisorConditions } from './conditions.ts';

/** Of a Hypervisor. */
export interface AttentionSubject {
  readonly conditions: readonly Condition[];
  readonly generation: number;
  readonly lifecycleEnabled: boolean;
}

/** That its host has failed, or seems to have, and no run has taken it over yet; null: not so. */
export function openFailure({ conditions }: Pick<AttentionSubject, 'conditions'>): Condition | null {
  const failure = findCondition(conditions, hypervisorConditions.nodeFailure);
  return failure?.status === 'True' && failure.reason !== 'HandedOver' ? failure : null;
}

/**
 * Whether only the run of its failure ends what is said: that the host has failed or is watched, or the hold of one
 * that was fenced. Such a run is open then, unless it was terminated. A user's cancel leaves both as they are.
 *
 * @param hold reason of `drover.dev/hold`; null: nothing holds it
 */
export function needsFailureRun(conditions: readonly Condition[] | undefined, hold: string | null): boolean {
  const failure = findCondition(conditions, hypervisorConditions.nodeFailure);
  if (hold === fencedHold) return failure?.reason !== cancelledFailure;
  return failure !== undefined && failure.status !== 'False' && failure.reason !== 'HandedOver';
}

/**
 * Why an operator has to do something, as a reason; null: none has to. A host that was never onboarded is blocked, and
 * needs none; the message of the lifecycle reports a wait for an operator, and that of `Offboarded` of a Node whose
 * time is more than half over.
 */
export function attentionOf(hypervisor: AttentionSubject): string | null {
  const { conditions, generation, lifecycleEnabled } = hypervisor;
  const failure = openFailure(hypervisor);
  if (failure !== null) return failure.reason;
  const lifecycle = findCondition(conditions, hypervisorConditions.lifecycle);
  if (lifecycle?.observedGeneration !== generation || lifecycle.status === 'True') return null;
  if (lifecycle.status === 'False') return lifecycleEnabled || lifecycle.reason !== 'Initial' ? lifecycle.reason : null;
  const offboarded = findCondition(conditions, hypervisorConditions.offboarded);
  const isLate = offboarded?.status === 'False' && offboarded.message.includes('more than half of the time is over');
  return isLate || lifecycle.message.startsWith(`Waiting for ${anOperator}`) ? lifecycle.reason : null;
}
