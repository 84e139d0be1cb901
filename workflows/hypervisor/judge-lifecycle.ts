import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { foreignEvictions, isEmptied } from './judge-evicting.ts';
import { modeOf, onboardingOf } from './mode.ts';
import { isReturning } from './service.ts';
import type { Context, Decision } from './step.ts';

/** The state of the seed's diagram that a host is in, the first row that fits. Source: seed 001 "State Overview". */
export function judgeState(context: Context, offboarded: boolean): LifecycleState {
  const { desired, observed } = context;
  const { nova } = observed;
  const mode = modeOf(desired, observed.node);
  const { state } = onboardingOf(observed);
  if (offboarded) return 'Decommissioned';
  if (mode === 'termination') return 'Evicting';
  if (mode !== '' && nova !== null)
    return nova.service.status === 'disabled' && isEmptied(context) ? 'Maintenance' : 'Evicting';
  if (state !== 'aborted' && nova !== null && foreignEvictions(context).length > 0) return 'Evicting';
  switch (state) {
    case 'aborted':
      return 'Aborted';
    case 'none':
      return 'Initial';
    case 'initial':
      return 'Onboarding';
    case 'testing':
      return 'Testing';
    case 'handover':
      return 'Ready';
    case 'succeeded':
      // Its maintenance is over; what follows is the way back through the tests.
      if (isReturning(observed)) return 'Maintenance';
      return nova?.service.status === 'enabled' ? 'Active' : 'Ready';
  }
}

/** The condition `Lifecycle`: True where it should be, False at rest elsewhere, Unknown on its way. The message says what it waits for. */
export function judgeLifecycle(context: Context, plan: Decision, offboarded: boolean): ConditionUpdate {
  const reason = judgeState(context, offboarded);
  return { type: hypervisorConditions.lifecycle, reason, ...describe(plan) };
}

function describe(plan: Decision): Pick<ConditionUpdate, 'status' | 'message'> {
  switch (plan.next) {
    case 'act':
      return { status: 'Unknown', message: plan.steps[0]?.words ?? '' };
    case 'wait':
      return { status: 'Unknown', message: `Waiting for ${plan.for}` };
    case 'done':
      return { status: plan.rests ? 'False' : 'True', message: plan.message };
  }
}
