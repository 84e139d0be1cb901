import type { DrainGuard } from '../../contracts/hypervisor/hypervisor.ts';
import { highAvailabilityFacts, judgeHighAvailability } from './judge-high-availability.ts';
import { isTerminating, onboardingOf } from './mode.ts';
import { isOffboarded } from './plan-offboarding.ts';
import type { Context, Step } from './step.ts';

/**
 * What holds Gardener's drain back: a pod that may not go until the host is offboarded, and that is not ready until it is onboarded, so
 * that the node's critical components are not either. Source: hypervisor.md B.8.
 */
export function judgeDrainGuard(context: Context): DrainGuard {
  const { desired, observed } = context;
  const isOnboarded = onboardingOf(observed).state === 'succeeded';
  const isHaOff = judgeHighAvailability(highAvailabilityFacts(context)).status === 'False';
  const mayGo = isOffboarded(context) && (!isOnboarded || !isTerminating(desired, observed.node) || isHaOff);
  return { minAvailable: mayGo ? 0 : 1, ready: isOnboarded };
}

/** The step that puts it right; null: it is, or nobody asks for it. */
export function guardDrain(context: Context): Step | null {
  const { desired, observed, settings } = context;
  const { node, drainGuard } = observed;
  if (!settings.guardsDrain || !desired.lifecycleEnabled || node === null) return null;
  const guard = judgeDrainGuard(context);
  if (drainGuard?.minAvailable === guard.minAvailable && drainGuard.ready === guard.ready) return null;
  const words =
    guard.minAvailable === 1 ? `Hold the drain of Node ${node.name} back` : `Let the drain of Node ${node.name} go on`;
  return { do: 'ensureDrainGuard', node: node.name, guard, words };
}
