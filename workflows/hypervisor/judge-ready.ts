import type { Condition, ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions, onboardingReasons, readyReasons } from '../../contracts/hypervisor/conditions.ts';
import type { MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';

export interface ReadyFacts {
  conditions: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
  mode: MaintenanceMode;
  lifecycleEnabled: boolean;
  /** Nova knows the host: both ids are there. */
  registered: boolean;
}

/** The condition `Ready`, the first row that fits. Source: hypervisor.md B.6, whose words these are. */
export function judgeReady({ conditions, mode, lifecycleEnabled, registered }: ReadyFacts): ConditionUpdate {
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
