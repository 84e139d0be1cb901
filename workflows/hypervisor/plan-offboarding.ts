import { isOnboarding, modeOf, onboardingOf } from './mode.ts';
import { planAggregates } from './plan-aggregates.ts';
import { planEmptying } from './plan-emptying.ts';
import { planTraits } from './plan-traits.ts';
import { consentAdvice, describeConsumers, releaseConsent } from './release-consent.ts';
import { remainsOn } from './service.ts';
import type { Context, Plan } from './step.ts';
import { act, done, rest, wait } from './step.ts';

/**
 * Takes a host out of Nova for good: eviction → agents → aggregates → traits → service → provider. Nothing is removed before the host is
 * empty, and only what the object itself was registered as: ids, never names that are alike (hypervisor.md C.1, H12). Done: it is
 * decommissioned. Sources: seed 001 "Decommissioning"; hypervisor.md B.7.
 */
export function planOffboarding(context: Context): Plan {
  const { desired, observed, nowMs, settings } = context;
  const { nova, recorded, aggregates, testServers } = observed;
  if (nova === null && testServers.length > 0) {
    return act({ do: 'deleteTestServers', ids: testServers, words: `Delete the test servers of ${desired.name}` });
  }
  const emptying = planEmptying(context, 'termination');
  if (emptying !== null) return emptying;

  const agents = planAgents(context);
  if (agents !== null) return agents;
  const host = nova?.host ?? desired.name;
  const out = planAggregates([], aggregates, host, false).steps;
  if (out.length > 0) return act(...out);
  if (observed.provider !== null) {
    const { steps } = planTraits([], desired, observed);
    if (steps.length > 0) return act(...steps);
  }
  if (nova !== null) {
    if (nova.serviceId !== recorded.serviceId) {
      return wait(
        `nova-compute on ${host} to be stopped: it has registered again, as service ${nova.serviceId}`,
        nowMs + settings.recheckMs,
      );
    }
    const left = remainsOn(nova);
    if (left.length > 0) return wait(`what is left on the host: ${left.join(', ')}`, nowMs + settings.recheckMs);
    return act({
      do: 'deleteService',
      serviceId: nova.serviceId,
      host,
      words: `Remove the compute service of ${host} from Nova`,
    });
  }
  return planProvider(context);
}

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
  return plan.next === 'done' && !plan.rests;
}

/** nova-compute must be gone before its service is removed, or it registers again: the taint drives the agents off the node. */
function planAgents({ observed, settings, nowMs }: Context): Plan | null {
  const { node, agentPods } = observed;
  if (!settings.guardsDrain || node === null) return null;
  if (!node.offboardingTaint)
    return act({
      do: 'taintNode',
      node: node.name,
      words: `Drive the agents off Node ${node.name}: taint it for offboarding`,
    });
  if (agentPods === null) return wait(`a look at the agents on Node ${node.name}`, nowMs + settings.recheckMs);
  return agentPods.length === 0 ? null : wait(describeAgents(agentPods), nowMs + settings.recheckMs);
}

export const describeAgents = (pods: readonly string[]): string =>
  `${pods.length} agent pod(s) still running on node: ${pods.toSorted().join(', ')}`;

function planProvider({ desired, observed: { provider, recorded } }: Context): Plan {
  if (provider === null || provider.uuid !== recorded.hypervisorId) return done('Offboarding successful');
  const { uuid: providerId, consumers } = provider;
  const consentBy = releaseConsent(desired);
  if (consumers > 0 && consentBy === null)
    return rest(`Resource provider ${providerId} still has ${describeConsumers(provider)}. ${consentAdvice}`);
  return act({
    do: 'deleteProvider',
    providerId,
    consentBy: consumers > 0 ? consentBy : null,
    words: `Remove resource provider ${providerId} from Placement`,
  });
}
