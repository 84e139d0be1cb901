import { hypervisorAnnotations } from '../../contracts/ids.ts';
import type { DesiredHypervisor, MaintenanceMode } from '../../contracts/hypervisor/hypervisor.ts';
import { requestCertificate } from './certificate.ts';
import {
  awaitDeletion,
  awaitForeign,
  deleteEviction,
  disableService,
  foreignEvictions,
  ownEviction,
  planEmptying,
  replaceEviction,
} from './emptying.ts';
import { describeLone, disabledBy, judgeRollingUpdate, onboardingOf } from './judge.ts';
import { membershipProblem, planMembership } from './membership.ts';
import { beginTesting, planEnabling } from './onboarding.ts';
import { blocked, execute, reconciled, wait } from './types.ts';
import type { Context, Decision, Draft, Transition } from './types.ts';

/**
 * A host that is taken out of service for a while: disabled, emptied, and kept so until spec.maintenance is cleared. In
 * `ha` the host may be down; what becomes of it then is not decided here.
 */
export function planMaintenance(
  context: Context,
  mode: Exclude<MaintenanceMode, '' | 'termination'>,
): Decision | Transition {
  const { desired, observed } = context;
  const update = judgeRollingUpdate(observed.node, desired.rollingUpdateBootId);
  const isDrovers = mode === 'auto' && desired.rollingUpdateBootId !== null;
  if (isDrovers && update === 'ended') return execute(endRollingUpdate(desired));

  const emptying = planEmptying(context, mode);
  if (emptying !== null) return emptying;
  if (observed.nova === null) return awaitMaintained(context, mode);
  if (desired.lifecycleEnabled && onboardingOf(observed).state === 'succeeded' && membershipProblem(context) === null) {
    const membership = planMembership(context);
    if (membership !== null) return membership;
  }
  if (!isDrovers)
    return reconciled(
      `${desired.name} is disabled and empty${desired.maintenanceReason === null ? '' : `: ${desired.maintenanceReason}`}`,
    );
  if (update === 'failed')
    return blocked(
      `${desired.name} is disabled and empty, and the update of its Node has failed: see the Node’s label update-result and condition InPlaceUpdate`,
    );
  return wait(
    'WaitingForNode',
    `Node ${desired.name} to come back from its update: Ready, open for pods, and booted anew or not selected for an update any more`,
  );
}

/**
 * Nova has no hypervisor of the host. One that registers meanwhile would be enabled, and get guests: it is observed
 * again, and disabled first.
 */
function awaitMaintained(context: Context, mode: Exclude<MaintenanceMode, ''>): Decision {
  const { desired, observed, settings, nowMs } = context;
  const { loneService } = observed;
  if (loneService?.service.status === 'enabled')
    return execute(disableService(loneService.host, mode, desired.maintenanceReason));
  const lone = loneService === null ? '' : `; ${describeLone(loneService)}`;
  return wait(
    'NotRegistered',
    `spec.maintenance to be cleared: Nova knows no ${desired.name} yet${lone}`,
    nowMs + settings.recheckMs,
  );
}

/** Takes a host into maintenance because Gardener updates its Node in place; null: it does not. */
export function beginRollingUpdate({ desired, observed }: Context): Draft | null {
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
    kind: 'patchHypervisor',
    patches: [{ annotations, spec: { maintenance: 'auto' } }],
    summary: `Gardener updates Node ${node.name}: take ${desired.name} into maintenance`,
  };
}

/**
 * A maintenance for an update that a user has ended: the next `auto` may be another one. Null: there is
 * nothing to clear.
 */
export function clearRollingUpdate({ desired, observed }: Context): Draft | null {
  const { name, maintenance, rollingUpdateBootId } = desired;
  if (rollingUpdateBootId === null || maintenance !== '' || judgeRollingUpdate(observed.node, null) === 'begun')
    return null;
  return {
    kind: 'patchHypervisor',
    patches: [{ annotations: { [hypervisorAnnotations.rollingUpdate]: null } }],
    summary: `Clear the update of Node ${name}, whose maintenance is over`,
  };
}

const endRollingUpdate = ({ name }: DesiredHypervisor): Draft => ({
  kind: 'patchHypervisor',
  patches: [{ annotations: { [hypervisorAnnotations.rollingUpdate]: null }, spec: { maintenance: '' } }],
  summary: `Node ${name} is back from its update: end the maintenance`,
});

/**
 * A host that is to be in service. One that comes back from maintenance is tested again before it is enabled, and
 * enabled only if it still carries the reason of that maintenance.
 */
export function planActive(context: Context): Decision | Transition {
  const { desired, observed, settings, nowMs } = context;
  const { nova, hold } = observed;
  // It was there before. Nothing is undone for that: Nova may only be mistaken.
  if (nova === null) {
    const lone = observed.loneService === null ? '' : `: ${describeLone(observed.loneService)}`;
    const missing = `nova-compute to register ${desired.name} in Nova again${lone}`;
    return wait('NotRegistered', missing, nowMs + settings.registrationMs);
  }
  const cleaning = cleanUpMaintenance(context);
  if (cleaning !== null) return cleaning;
  const leaving = ownEviction(context);
  if (leaving !== null) return awaitDeletion(leaving.name);

  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return awaitForeign(foreign);
  const isDriven = desired.lifecycleEnabled && onboardingOf(observed).state === 'succeeded';
  const problem = isDriven ? membershipProblem(context) : null;
  const membership = isDriven && problem === null ? planMembership(context) : null;
  if (membership !== null) return membership;

  if (hold !== null) return blocked(`${desired.name} is held out of service: ${hold.message}`);
  const by = disabledBy(nova);
  if (by === 'maintenance' && isDriven && !desired.skipTests && settings.checks.length > 0) return beginTesting();
  if (by === 'other' || (by === 'novaDefault' && !isDriven))
    return blocked(
      `${nova.host} stays disabled, as it was not for a maintenance of this Hypervisor: ${nova.service.disabledReason ?? 'no reason given'}`,
    );
  const enabling = planEnabling(context);
  if (enabling !== null) return enabling;
  const certificate = requestCertificate(context);
  if (certificate !== null) return execute(certificate);
  return problem === null
    ? reconciled(`${desired.name} is in service`)
    : blocked(`${desired.name} is in service, but ${problem}`);
}

/**
 * An onboarding that a maintenance interrupted goes on without that maintenance's Eviction, as does a host in service.
 * Null: there is none.
 */
export function cleanUpMaintenance({ desired, observed }: Context): Decision | null {
  const own = ownEviction({ desired, observed });
  if (own === null || own.deleting) return null;
  const summary = `The maintenance of ${desired.name} is over: delete Eviction ${own.name}`;
  return execute(own.state === 'succeeded' ? deleteEviction(own, summary) : replaceEviction(own, summary));
}
