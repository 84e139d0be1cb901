import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { DesiredHypervisor, MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { judgeRollingUpdate } from './judge-rolling-update.ts';
import { onboardingOf } from './mode.ts';
import { planEmptying } from './plan-emptying.ts';
import { membershipProblem, planMembership } from './plan-membership.ts';
import type { Context, Plan, Step } from './step.ts';
import { act, done, rest, wait } from './step.ts';

/**
 * A host that somebody takes out of service for a while: disabled, emptied, and kept so until spec.maintenance is cleared. In `ha` the
 * host may be down; what becomes of it then is not decided here. Sources: seed 001 "Maintenance Mode"; hypervisor.md B.5.
 */
export function planMaintenance(context: Context, mode: Exclude<MaintenanceMode, '' | 'termination'>): Plan {
  const { desired, observed } = context;
  const update = judgeRollingUpdate(observed.node, desired.rollingUpdateBootId);
  const isDrovers = mode === 'auto' && desired.rollingUpdateBootId !== null;
  if (isDrovers && update === 'ended') return act(endRollingUpdate(desired));

  const emptying = planEmptying(context, mode);
  if (emptying !== null) return emptying;
  if (observed.nova === null) return wait(`spec.maintenance to be cleared: Nova knows no ${desired.name} yet`);
  if (desired.lifecycleEnabled && onboardingOf(observed).state === 'succeeded' && membershipProblem(context) === null) {
    const membership = planMembership(context);
    if (membership !== null) return membership;
  }
  if (!isDrovers)
    return done(
      `${desired.name} is disabled and empty${desired.maintenanceReason === null ? '' : `: ${desired.maintenanceReason}`}`,
    );
  if (update === 'failed')
    return rest(
      `${desired.name} is disabled and empty, and the update of its Node has failed: see the Node’s label update-result and condition InPlaceUpdate`,
    );
  return wait(`Node ${desired.name} to come back from its update, with a new boot id, Ready and open for pods`);
}

/** Takes a host into maintenance because Gardener updates its Node in place; null: it does not. */
export function beginRollingUpdate({ desired, observed }: Context): Step | null {
  const { node } = observed;
  if (
    node === null ||
    !desired.lifecycleEnabled ||
    desired.maintenance !== '' ||
    desired.rollingUpdateBootId === node.bootId
  )
    return null;
  if (judgeRollingUpdate(node, null) !== 'begun') return null;
  const annotations = { [hypervisorAnnotations.rollingUpdate]: node.bootId };
  return {
    do: 'patchHypervisor',
    patches: [{ annotations, spec: { maintenance: 'auto' } }],
    words: `Gardener updates Node ${node.name}: take ${desired.name} into maintenance`,
  };
}

/** A maintenance for an update that a person has ended: the next `auto` may be somebody else's. Null: there is nothing to forget. */
export function forgetRollingUpdate({ desired, observed }: Context): Step | null {
  const { name, maintenance, rollingUpdateBootId } = desired;
  if (rollingUpdateBootId === null || maintenance !== '' || judgeRollingUpdate(observed.node, null) === 'begun')
    return null;
  return {
    do: 'patchHypervisor',
    patches: [{ annotations: { [hypervisorAnnotations.rollingUpdate]: null } }],
    words: `Forget the update of Node ${name}, whose maintenance is over`,
  };
}

const endRollingUpdate = ({ name }: DesiredHypervisor): Step => ({
  do: 'patchHypervisor',
  patches: [{ annotations: { [hypervisorAnnotations.rollingUpdate]: null }, spec: { maintenance: '' } }],
  words: `Node ${name} is back from its update: end the maintenance`,
});
