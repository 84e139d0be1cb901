import type { Condition, ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import type { LifecycleState } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorConditions, onboardingReasons, readyReasons } from '../../contracts/hypervisor/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { describePlan } from '../lib/plan.ts';
import type { Plan, Step } from '../lib/plan.ts';
import { foreignEvictions, isEmptied } from './emptying.ts';
import { isReturning, modeOf, onboardingOf } from './judge.ts';
import type { Context } from './types.ts';

/** The two conditions that sum the others up. All pure. */

/** The state that a host is in, the first row that fits. */
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

/**
 * The condition `Lifecycle`: True where it should be, False blocked elsewhere, Unknown on its way. The message says
 * what it waits for.
 */
export function judgeLifecycle(context: Context, plan: Plan<Step>, offboarded: boolean): ConditionUpdate {
  const status = plan.kind !== 'done' ? 'Unknown' : plan.outcome === 'blocked' ? 'False' : 'True';
  const { message } = describePlan(plan);
  return { type: hypervisorConditions.lifecycle, reason: judgeState(context, offboarded), status, message };
}

export interface ReadyQuestion {
  conditions: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
  mode: MaintenanceMode;
  lifecycleEnabled: boolean;
  /** Nova knows the host: both ids are there. */
  registered: boolean;
}

/** The condition `Ready`, the first row that fits. Its words are those of the operator that drover replaces. */
export function judgeReady({ conditions, mode, lifecycleEnabled, registered }: ReadyQuestion): ConditionUpdate {
  const of = (type: string) => findCondition(conditions as readonly Condition[], type);
  const onboarding = of(hypervisorConditions.onboarding);
  if (of(hypervisorConditions.offboarded)?.status === 'True')
    return notReady('offboarded', 'Hypervisor has been offboarded');
  if (of(hypervisorConditions.terminating)?.status === 'True')
    return notReady('terminating', 'Hypervisor is terminating');
  if (onboarding?.status === 'True') return notReady('onboarding', `Onboarding in progress: ${onboarding.message}`);
  if (mode !== '') return judgeMaintenance(of(hypervisorConditions.evicting));
  if (onboarding === undefined) {
    const why = !lifecycleEnabled
      ? ': lifecycle management is disabled'
      : registered
        ? ''
        : ': waiting for nova-compute to register the hypervisor in Nova (HypervisorID/ServiceID not yet available)';
    return notReady('onboarding', `Onboarding not started${why}`);
  }
  if (onboarding.reason === onboardingReasons.aborted) return notReady('onboarding', 'Onboarding was aborted');
  if (onboarding.reason !== onboardingReasons.succeeded) return notReady('onboarding', 'Onboarding not yet completed');
  return {
    type: hypervisorConditions.ready,
    status: 'True',
    reason: readyReasons.ready,
    message: 'Hypervisor is ready',
  };
}

function judgeMaintenance(evicting: Pick<Condition, 'status' | 'message'> | undefined): ConditionUpdate {
  switch (evicting?.status) {
    case 'True':
      return notReady('evicting', 'Hypervisor is disabled and evicting');
    case 'False':
      return notReady('evicted', 'Hypervisor is disabled and evicted');
    case 'Unknown':
      return notReady('evicting', `Hypervisor is disabled and not empty: ${evicting.message}`);
    case undefined:
      return notReady('maintenance', 'Hypervisor is in maintenance mode');
  }
}

const notReady = (reason: keyof typeof readyReasons, message: string): ConditionUpdate => ({
  type: hypervisorConditions.ready,
  status: 'False',
  reason: readyReasons[reason],
  message,
});
