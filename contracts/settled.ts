import { findCondition } from './conditions.ts';
import type { Condition } from './conditions.ts';
import type { Eviction } from './crds/eviction.ts';
import type { Hypervisor } from './crds/hypervisor.ts';
import type { VirtualMachineSetResourcePolicy } from './crds/virtual-machine-set-resource-policy.ts';
import type { VirtualMachine } from './crds/virtual-machine.ts';
import { onlyObserves, readEvictionAnnotations, retryHandledAnnotation } from './eviction/annotations.ts';
import { evictionConditions } from './eviction/conditions.ts';
import { hypervisorConditions } from './hypervisor/conditions.ts';
import { annotations, evictionFinalizer, hypervisorAnnotations } from './ids.ts';
import { hypervisorMode } from './hypervisor/read-hypervisor.ts';
import { readRecordedPolicy, readResourcePolicy, resourcePolicyMode } from './resource-policy/read-resource-policy.ts';
import { virtualMachineConditions } from './virtual-machine/conditions.ts';
import { virtualMachineFinalizers } from './virtual-machine/marks.ts';

/**
 * Whether nothing is left to do for an object, so that no run need be started for it. Pure; the bridge asks at every resync, the activity
 * that opens a run asks again.
 *
 * An Eviction is settled when
 * - it is not being deleted, or drover holds no finalizer on it;
 * - nobody asks for a retry: `drover.dev/retry` is absent or equals `drover.dev/retry-handled`, which a run writes when it takes a retry up
 *   (equality, not order: a manifest that carries the annotation for ever asks once);
 * - `Evicting` is False for this generation, and `HypervisorReEnabled` is not Unknown. A condition without observedGeneration is the
 *   replaced operator's, for which False is final. A refusal of annotations holds only as long as they are bad: they have no generation;
 * - where drover only observes: `Observed` is True (or False: refused) for this generation instead. One that was begun in earnest, which
 *   drover holds, is over by `Evicting` all the same.
 */
export function isEvictionSettled(eviction: Eviction, mode: 'observe' | 'act'): boolean {
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

/**
 * A Hypervisor is settled when
 * - it is being deleted: drover holds no finalizer on it; or
 * - nobody asks for a retry, as for an Eviction; and
 * - `Lifecycle` is True (it is where it should be) or False (it rests elsewhere, and somebody has to do something) for this generation;
 *   where drover only observes, `Observed` instead.
 *
 * What its Node, its Evictions and Nova say is not in the object: their changes start a run, whatever this says.
 */
export function isHypervisorSettled({ metadata, status }: Hypervisor, mode: 'observe' | 'act'): boolean {
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

/**
 * A VirtualMachine is settled, as a Hypervisor is, by `Lifecycle` for this generation; a deleted one when drover holds no finalizer on it.
 * What happens to its VM in vCenter, its class, its image and its group start a run of their own, whatever this says.
 */
export function isVirtualMachineSettled({ metadata, status }: VirtualMachine, mode: 'observe' | 'act'): boolean {
  if (metadata.deletionTimestamp !== undefined) {
    const held =
      metadata.finalizers?.some((finalizer) => Object.values<string>(virtualMachineFinalizers).includes(finalizer)) ??
      false;
    // Held on purpose, by a pause or a gate: that is said for this generation, and its end is told.
    return !held || isSaid(status, virtualMachineConditions.lifecycle, metadata.generation, 'False');
  }
  const given = metadata.annotations ?? {};
  if (given[annotations.retry] !== undefined && given[annotations.retry] !== given[retryHandledAnnotation])
    return false;
  const isObserved = mode === 'observe' || !['act', undefined].includes(given[annotations.mode]);
  return isSaid(
    status,
    isObserved ? virtualMachineConditions.observed : virtualMachineConditions.lifecycle,
    metadata.generation,
  );
}

function isSaid(status: VirtualMachine['status'], type: string, generation: number, as?: 'False'): boolean {
  const condition = findCondition(status?.conditions, type);
  return (
    condition !== undefined &&
    condition.observedGeneration === generation &&
    (as === undefined ? condition.status !== 'Unknown' : condition.status === as)
  );
}

/** A VirtualMachineSetResourcePolicy is settled by `drover.dev/policy-made` for this generation; a deleted one when drover's finalizer is off. */
export function isResourcePolicySettled(policy: VirtualMachineSetResourcePolicy, mode: 'observe' | 'act'): boolean {
  const { deleting, isHeld, generation } = readResourcePolicy(policy);
  const { made, observed } = readRecordedPolicy(policy);
  if (resourcePolicyMode(policy, mode) === 'observe') return made === generation || observed === generation;
  return deleting ? !isHeld : made === generation;
}

/** One row per kind (contracts/ids.ts). */
export const settled = {
  Eviction: isEvictionSettled,
  Hypervisor: isHypervisorSettled,
  VirtualMachine: isVirtualMachineSettled,
  VirtualMachineSetResourcePolicy: isResourcePolicySettled,
} as const;
