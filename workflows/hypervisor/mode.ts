import { hypervisorConditions, onboardingReasons } from '../../contracts/hypervisor/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { Condition } from '../../contracts/conditions.ts';
import type {
  DesiredHypervisor,
  HypervisorObservation,
  MaintenanceMode,
  NodeFacts,
} from '../../contracts/hypervisor/hypervisor.ts';

type Wanted = Pick<DesiredHypervisor, 'lifecycleEnabled' | 'maintenance' | 'nodeUid'>;

/**
 * The maintenance that counts: what the spec says or, where the lifecycle is driven, what the Node says. A Node that terminates is not
 * written into the spec of a Hypervisor that exists: there `termination` could not be taken back (hypervisor.md A.1, rule 1).
 */
export function modeOf(desired: Wanted, node: NodeFacts | null): MaintenanceMode {
  // A host that fails while it terminates is first of all a failed host.
  if (desired.maintenance === 'ha') return 'ha';
  return desired.lifecycleEnabled && isTerminating(desired, node) ? 'termination' : desired.maintenance;
}

/** Whether the Node is on its way out: machine-controller-manager says so, it is being deleted, or it was there and is gone. */
export function isTerminating({ nodeUid }: Pick<Wanted, 'nodeUid'>, node: NodeFacts | null): boolean {
  if (node === null) return nodeUid !== null;
  return node.terminatingSinceMs !== null || node.deletedAtMs !== null;
}

/** How far the onboarding has come. */
export type OnboardingState = 'none' | 'initial' | 'testing' | 'handover' | 'succeeded' | 'aborted';

export function onboardingOf({ recorded }: Pick<HypervisorObservation, 'recorded'>): {
  state: OnboardingState;
  condition: Condition | undefined;
} {
  const condition = findCondition(recorded.conditions, hypervisorConditions.onboarding);
  if (condition === undefined) return { state: 'none', condition };
  if (condition.status === 'False')
    return { state: condition.reason === onboardingReasons.succeeded ? 'succeeded' : 'aborted', condition };
  // A word that is not known was written by another version: what it has done is done again, as all of it is safe to repeat.
  const state =
    condition.reason === onboardingReasons.testing
      ? 'testing'
      : condition.reason === onboardingReasons.handover
        ? 'handover'
        : 'initial';
  return { state, condition };
}

/** Whether the onboarding is under way. */
export const isOnboarding = (state: OnboardingState): boolean =>
  state === 'initial' || state === 'testing' || state === 'handover';
