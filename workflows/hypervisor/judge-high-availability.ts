import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { isEmptied, judgeEvicting } from './judge-evicting.ts';
import { modeOf, onboardingOf } from './mode.ts';
import type { OnboardingState } from './mode.ts';
import type { Context } from './step.ts';

export interface HighAvailabilityFacts {
  /** spec.highAvailability */
  wanted: boolean;
  /** drover acts on failed nodes at all. */
  handled: boolean;
  evicted: boolean;
  onboarding: OnboardingState;
}

export function highAvailabilityFacts(context: Context): HighAvailabilityFacts {
  const { desired, observed, settings } = context;
  const mode = modeOf(desired, observed.node);
  const evicted =
    judgeEvicting(context)?.evicted ??
    (mode === 'termination' ? isEmptied(context) : mode !== '' && observed.recorded.evicted);
  return {
    wanted: desired.highAvailability,
    handled: settings.handlesNodeFailure,
    evicted,
    onboarding: onboardingOf(observed).state,
  };
}

/** The condition `HaEnabled`, the first row that fits. Source: hypervisor.md B.10; nobody else in the open writes it. */
export function judgeHighAvailability({
  wanted,
  handled,
  evicted,
  onboarding,
}: HighAvailabilityFacts): ConditionUpdate {
  const of = (status: 'True' | 'False', reason: string, message: string): ConditionUpdate => ({
    type: hypervisorConditions.haEnabled,
    status,
    reason,
    message,
  });
  if (!wanted) return of('False', 'Succeeded', 'HA disabled per spec');
  if (evicted) return of('False', 'Evicted', 'HA disabled due to eviction');
  if (onboarding !== 'handover' && onboarding !== 'succeeded')
    return of('False', 'Onboarding', 'HA disabled before onboarding');
  if (!handled) return of('False', 'Succeeded', 'HA disabled by drover’s settings: failed nodes are not handled');
  return of('True', 'Succeeded', 'HA is enabled');
}
