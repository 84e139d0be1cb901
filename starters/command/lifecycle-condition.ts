import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { oneLine } from '../render/table.ts';

/** What an object that drover drives says of itself. Hypervisors and VirtualMachines say it in conditions of the same names. */
interface Conditioned {
  conditions: readonly Condition[];
}

export interface Driven extends Conditioned {
  generation: number;
}

/** Where it is, and what it waits for; undefined where no run has said so yet. */
export const lifecycleOf = ({ conditions }: Conditioned): Condition | undefined =>
  findCondition(conditions, hypervisorConditions.lifecycle);

/** What drover would do, where it only observes; undefined where it has not looked. */
export const observationOf = ({ conditions }: Conditioned): Condition | undefined =>
  findCondition(conditions, hypervisorConditions.observed);

/** What its lifecycle says is of the spec as it is now. */
export const isCurrent = (object: Driven): boolean => lifecycleOf(object)?.observedGeneration === object.generation;

/** `there`: where it should be. `moving`: on its way. `rests`: elsewhere, and somebody has to do something. `unknown`: nobody has said, or of an earlier spec. */
export type Stands = 'there' | 'moving' | 'rests' | 'unknown';

export function standing(object: Driven): Stands {
  const lifecycle = lifecycleOf(object);
  if (lifecycle === undefined || !isCurrent(object)) return 'unknown';
  return lifecycle.status === 'True' ? 'there' : lifecycle.status === 'False' ? 'rests' : 'moving';
}

/** `Aborted: Onboarding was aborted: …`, or that nobody has said anything. */
export function describeLifecycle(object: Conditioned): string {
  const lifecycle = lifecycleOf(object);
  return lifecycle === undefined
    ? 'no run has said anything of it yet'
    : `${lifecycle.reason}: ${oneLine(lifecycle.message)}`;
}
