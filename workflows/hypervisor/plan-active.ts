import { foreignEvictions } from './judge-evicting.ts';
import { onboardingOf } from './mode.ts';
import { beginTesting, planEnabling } from './plan-onboarding.ts';
import { membershipProblem, planMembership } from './plan-membership.ts';
import { disabledBy } from './service.ts';
import type { Context, Plan } from './step.ts';
import { act, done, rest, wait } from './step.ts';

/**
 * A host that nobody takes out of service. One that comes back from maintenance is tested again before it is enabled, and enabled only if
 * it still carries the reason of that maintenance. Sources: seed 001 "Re-Enable"; hypervisor.md B.5.
 */
export function planActive(context: Context): Plan {
  const { desired, observed, settings, nowMs } = context;
  const { nova, hold } = observed;
  // It was there before. Nothing is undone for that: Nova may only be mistaken.
  if (nova === null)
    return wait(`nova-compute to register ${desired.name} in Nova again`, nowMs + settings.registrationMs);
  const own = observed.evictions.find(({ ownerUid, deleting }) => ownerUid === desired.uid && !deleting);
  if (own !== undefined)
    return act({
      do: 'deleteEviction',
      name: own.name,
      uid: own.uid,
      words: `The maintenance of ${desired.name} is over: delete Eviction ${own.name}`,
    });
  const leaving = observed.evictions.find(({ ownerUid }) => ownerUid === desired.uid);
  if (leaving !== undefined) return wait(`Eviction ${leaving.name} to be gone`);

  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return wait(`Eviction ${foreign.name}: ${foreign.message}`);
  const isDriven = desired.lifecycleEnabled && onboardingOf(observed).state === 'succeeded';
  const problem = isDriven ? membershipProblem(context) : null;
  const membership = isDriven && problem === null ? planMembership(context) : null;
  if (membership !== null) return membership;

  if (hold !== null) return rest(`${desired.name} is held out of service: ${hold.message}`);
  const by = disabledBy(nova);
  if (by === 'maintenance' && isDriven && !desired.skipTests && settings.checks.length > 0) return beginTesting();
  if (by === 'stranger' || (by === 'novaDefault' && !isDriven))
    return rest(
      `${nova.host} stays disabled, as it was not for a maintenance of this Hypervisor: ${nova.service.disabledReason ?? 'no reason given'}`,
    );
  const enabling = planEnabling(context);
  if (enabling !== null) return enabling;
  return problem === null
    ? done(`${desired.name} is in service`)
    : rest(`${desired.name} is in service, but ${problem}`);
}
