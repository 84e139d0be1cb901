import { findCondition, type ConditionUpdate } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { cancelledFailure, fencedHold } from '../../contracts/ids.ts';
import { isEmptied, judgeEvicting } from './emptying.ts';
import { modeOf, onboardingOf } from './judge.ts';
import type { OnboardingState } from './judge.ts';
import type { Context, Draft } from './types.ts';

export interface HighAvailabilityQuestion {
  /** spec.highAvailability */
  wanted: boolean;
  /** drover acts on failed nodes at all. */
  handled: boolean;
  evicted: boolean;
  onboarding: OnboardingState;
}

/** The condition `HaEnabled` of a host. Pure. */
export function highAvailabilityOf(context: Context): ConditionUpdate {
  const { desired, observed, settings } = context;
  const mode = modeOf(desired, observed.node);
  const evicted =
    judgeEvicting(context)?.evicted ??
    (mode === 'termination' ? isEmptied(context) : mode !== '' && observed.recorded.evicted);
  return judgeHighAvailability({
    wanted: desired.highAvailability,
    handled: settings.handlesNodeFailure,
    evicted,
    onboarding: onboardingOf(observed).state,
  });
}

/** The condition `HaEnabled`, the first row that fits. No other operator writes it. */
export function judgeHighAvailability({
  wanted,
  handled,
  evicted,
  onboarding,
}: HighAvailabilityQuestion): ConditionUpdate {
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

/**
 * The step that signals the run of the host's failure; null: nothing concerns that run. It is signalled once about a
 * Node that is not Ready, and about a nova-compute that is down, also where the Node is gone, while failed nodes are
 * handled there; and once for each observation while the host is held because it was fenced, as only that run restores
 * it, and while it is said to have failed and that run is closed, as a user has terminated it. A fenced host that has
 * left Nova has nothing to be restored to. After a user has cancelled that run it is only signalled that the host is
 * well again, or that its Node says something new, so that what was cancelled is over; of a fenced one, that its Node
 * is Ready, so that it can be restored. Pure.
 */
export function signalFailure(context: Context, askedMs: number): Draft | null {
  const { desired, observed, settings, memory } = context;
  const { node, nova, hold, failureRun } = observed;
  if (!settings.handlesNodeFailure || settings.mode === 'observe' || desired.mode === 'observe' || desired.deleting)
    return null;
  const isFenced = hold?.reason === fencedHold && (nova !== null || observed.failure !== null);
  // The run of a fenced host may be open and about to end as cancelled, deaf to what comes.
  const isMissed = hold?.reason === fencedHold ? isFenced : failureRun === 'closed';
  const isComputeDown = nova?.service.state === 'down';
  const isWell = node === null || node.ready;
  const hasFailed = (!isWell || isComputeDown) && (node !== null || desired.nodeUid !== null);
  const cancelled = cancelledAtMs(context);
  if (cancelled !== null) {
    const isOver = node?.ready === true && (isFenced || nova?.service.state === 'up');
    // Of a host that is fenced, another run would evacuate on as long as it is off.
    const isNew = !isFenced && node !== null && node.readySinceMs > cancelled;
    if (!isOver && !isNew) return null;
  } else if (!isFenced && !isMissed && (!hasFailed || highAvailabilityOf(context).status !== 'True')) return null;
  const down = isComputeDown ? '; nova-compute is down' : '';
  const cause =
    node === null
      ? `Node ${desired.name} is gone, boot ${desired.lastBootId ?? 'unknown'}${down}`
      : `Node ${node.name} is ${node.ready ? 'Ready' : 'not Ready'} since ${new Date(node.readySinceMs).toISOString()}, boot ${node.bootId || 'unknown'}${down}`;
  const { signalled } = memory;
  if (signalled?.cause === cause && !(isMissed && signalled.atMs < askedMs)) return null;
  const summary = `Signal the run that judges whether ${desired.name} has failed`;
  return { kind: 'signalNodeFailure', cause, summary, publish: 'before' };
}

/** When a user has cancelled the run of its failure, and no other has said anything since; null: not so. */
function cancelledAtMs({ observed: { recorded } }: Context): number | null {
  const said = findCondition(recorded.conditions, hypervisorConditions.nodeFailure);
  return said?.reason === cancelledFailure ? Date.parse(said.lastTransitionTime) : null;
}
