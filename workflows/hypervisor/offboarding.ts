import type { DrainGuard, LoneService, NovaHost } from '../../contracts/hypervisor/hypervisor.ts';
import {
  consentAdvice,
  deleteTestServers,
  describeConsumers,
  disableService,
  planEmptying,
  releaseConsent,
} from './emptying.ts';
import { anOperator } from '../../contracts/hypervisor/conditions.ts';
import { highAvailabilityOf } from './high-availability.ts';
import { isOnboarding, isTerminating, modeOf, onboardingOf, remainsOn } from './judge.ts';
import { planAggregates } from './membership.ts';
import { planTraits } from './traits.ts';
import { blocked, execute, reconciled, wait } from './types.ts';
import type { Context, Decision, Draft, Transition } from './types.ts';

/**
 * Takes a host out of Nova for good: eviction → agents → aggregates → traits → service → provider. Nothing is removed
 * before the host is empty, and only what the object itself was registered as: ids, never names that are alike. A
 * failed step ends the plan. Reconciled: it is decommissioned.
 */
export function planOffboarding(context: Context): Decision | Transition {
  const { desired, observed } = context;
  const { nova, loneService, aggregates, testServers } = observed;
  const host = nova?.host ?? loneService?.host ?? desired.name;
  if (nova === null && testServers.length > 0) return deleteTestServers(testServers, host);
  const emptying = planEmptying(context, 'termination');
  if (emptying !== null) return emptying;
  // It is not empty: agents and aggregates stay with the servers, and nova-compute is what an operator starts again.
  if (nova === null && loneService !== null && loneService.servers > 0) return planLoneService(context, loneService);

  const agents = planAgents(context);
  if (agents !== null) return agents;
  const leaving = [
    ...planAggregates([], aggregates, host, false).steps,
    ...(observed.provider === null ? [] : planTraits([], desired, observed).steps),
  ];
  const removal =
    nova !== null
      ? planService(context, nova)
      : loneService !== null
        ? planLoneService(context, loneService)
        : planProvider(context);
  if (leaving.length === 0) return removal;
  return execute(...leaving, ...(removal.kind === 'execute' ? removal.steps : []));
}

/** Its service is removed only where it is the one that the object was registered as, and nothing is left. */
function planService({ observed: { recorded }, nowMs, settings }: Context, nova: NovaHost): Decision {
  const { host, serviceId } = nova;
  const recheckMs = nowMs + settings.recheckMs;
  if (serviceId !== recorded.serviceId) return wait('RegisteredAgain', registeredAgain(nova), recheckMs);
  const left = remainsOn(nova);
  if (left.length > 0) return wait('NotEmpty', `what is left on the host: ${left.join(', ')}`, recheckMs);
  return execute(deleteService(serviceId, host));
}

/**
 * A service without a hypervisor is the host's all the same: left behind it would count as one that has registered
 * again. Nothing can be moved off it, so what Nova still has there is for an operator.
 */
function planLoneService({ desired, observed: { recorded }, nowMs, settings }: Context, lone: LoneService): Decision {
  const { host, serviceId, service, servers } = lone;
  const recheckMs = nowMs + settings.recheckMs;
  if (serviceId !== recorded.serviceId) return wait('RegisteredAgain', registeredAgain(lone), recheckMs);
  if (service.status === 'enabled') return execute(disableService(host, 'termination', desired.maintenanceReason));
  if (servers > 0)
    return wait(
      'NotEmpty',
      `${anOperator} to start nova-compute on ${host}, or to move or delete the ${servers} server(s) that Nova has there: it has a service and no hypervisor, so nothing can be moved off it`,
      recheckMs,
    );
  if (service.state === 'up')
    return wait(
      'ComputeUp',
      `nova-compute on ${host} to be stopped: it runs, without a hypervisor in Nova, and would register its service again`,
      recheckMs,
    );
  return execute(deleteService(serviceId, host));
}

const registeredAgain = ({ host, serviceId }: Pick<LoneService, 'host' | 'serviceId'>): string =>
  `nova-compute on ${host} to be stopped: it has registered again, as service ${serviceId}`;

const deleteService = (serviceId: string, host: string): Draft => ({
  kind: 'deleteService',
  serviceId,
  host,
  summary: `Remove the compute service of ${host} from Nova`,
});

/** Nothing of the host is left in Nova and Placement, and it is on its way out. */
export function isOffboarded(context: Context): boolean {
  const { desired, observed } = context;
  if (
    !desired.lifecycleEnabled ||
    modeOf(desired, observed.node) !== 'termination' ||
    isOnboarding(onboardingOf(observed).state)
  )
    return false;
  const plan = planOffboarding(context);
  return plan.kind === 'done' && plan.outcome === 'reconciled';
}

/**
 * nova-compute must be gone before its service is removed, or it registers again: the taint drives the agents
 * off the node.
 */
function planAgents({ observed, settings, nowMs }: Context): Decision | null {
  const { node, agentPods } = observed;
  if (!settings.guardsDrain || node === null) return null;
  if (!node.offboardingTaint)
    return execute({
      kind: 'taintNode',
      node: node.name,
      summary: `Drive the agents off Node ${node.name}: taint it for offboarding`,
    });
  const recheckMs = nowMs + settings.recheckMs;
  if (agentPods === null) return wait('WaitingForAgents', `the agents on Node ${node.name} to be observed`, recheckMs);
  return agentPods.length === 0 ? null : wait('WaitingForAgents', describeAgents(agentPods), recheckMs);
}

/**
 * A termination that was taken back: the taint would go on driving the agents off, nova-compute among them. Where the
 * lifecycle is not driven it is drover's only if drover has held the drain of that Node back. Null: there is nothing to
 * take back.
 */
export function releaseNode({ desired, observed, settings }: Context): Draft | null {
  const { node, drainGuard } = observed;
  if (!settings.guardsDrain || node?.offboardingTaint !== true || isTerminating(desired, node)) return null;
  const isWanted = desired.lifecycleEnabled ? modeOf(desired, node) === 'termination' : drainGuard === null;
  if (isWanted) return null;
  const summary = `Let the agents back on Node ${node.name}: ${desired.name} is not taken out of Nova any more`;
  return { kind: 'untaintNode', node: node.name, summary };
}

export const describeAgents = (pods: readonly string[]): string =>
  `${pods.length} agent pod(s) still running on node: ${pods.toSorted().join(', ')}`;

function planProvider({ desired, observed: { provider, recorded } }: Context): Decision {
  if (provider === null || provider.uuid !== recorded.hypervisorId) return reconciled('Offboarding successful');
  const { uuid: providerId, consumers } = provider;
  const consentBy = releaseConsent(desired);
  if (consumers > 0 && consentBy === null)
    return blocked(`Resource provider ${providerId} still has ${describeConsumers(provider)}. ${consentAdvice}`);
  return execute({
    kind: 'deleteProvider',
    providerId,
    consentBy: consumers > 0 ? consentBy : null,
    summary: `Remove resource provider ${providerId} from Placement`,
  });
}

/**
 * What holds Gardener's drain back: a pod that may not go until the host is offboarded, and that is not ready until it
 * is onboarded, so that the node's critical components are not either.
 */
export function judgeDrainGuard(context: Context): DrainGuard {
  const { desired, observed } = context;
  const isOnboarded = onboardingOf(observed).state === 'succeeded';
  const isHaOff = highAvailabilityOf(context).status === 'False';
  const mayGo = isOffboarded(context) && (!isOnboarded || !isTerminating(desired, observed.node) || isHaOff);
  return { minAvailable: mayGo ? 0 : 1, ready: isOnboarded };
}

/**
 * The step that puts it right; null: it is, or the settings do not want it. Where the lifecycle is not driven (any
 * more), nothing is made, and what drover has left there holds nothing back.
 */
export function guardDrain(context: Context): Draft | null {
  const { desired, observed, settings } = context;
  const { node, drainGuard } = observed;
  if (!settings.guardsDrain || node === null) return null;
  if (!desired.lifecycleEnabled && drainGuard === null) return null;
  const guard: DrainGuard =
    desired.lifecycleEnabled || drainGuard === null
      ? judgeDrainGuard(context)
      : { minAvailable: 0, ready: drainGuard.ready };
  if (drainGuard?.minAvailable === guard.minAvailable && drainGuard.ready === guard.ready) return null;
  const summary =
    guard.minAvailable === 1 ? `Hold the drain of Node ${node.name} back` : `Let the drain of Node ${node.name} go on`;
  return { kind: 'ensureDrainGuard', node: node.name, guard, summary };
}
