import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { aggregatesReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { nodeMarks } from '../../contracts/ids.ts';
import { isolationProblem } from './judge-isolation.ts';
import { modeOf, onboardingOf } from './mode.ts';
import { isEmptied } from './judge-evicting.ts';
import { planTraits } from './plan-traits.ts';
import { isReturning } from './service.ts';
import type { Context } from './step.ts';

export interface WantedAggregates {
  /** Null: they stay as they are. */
  names: string[] | null;
  /** What `AggregatesUpdated` says once the host is in exactly these; null: nothing is said. */
  condition: ConditionUpdate | null;
}

const updated = (
  status: 'True' | 'False',
  reason: keyof typeof aggregatesReasons,
  message: string,
): ConditionUpdate => ({
  type: hypervisorConditions.aggregatesUpdated,
  status,
  reason: aggregatesReasons[reason],
  message,
});

/**
 * Which aggregates a host belongs in now, the first row that fits. Source: hypervisor.md B.4, except that a host that was never tested, or
 * that failed its tests, is never put where guests come (C.1, H13).
 */
export function wantAggregates(context: Context): WantedAggregates {
  const { desired, observed, settings } = context;
  const untouched: WantedAggregates = { names: null, condition: null };
  if (!desired.lifecycleEnabled || observed.nova === null) return untouched;
  if (modeOf(desired, observed.node) === 'termination') {
    return isEmptied(context)
      ? {
          names: [],
          condition: updated('False', 'terminating', 'Aggregates cleared due to termination after eviction'),
        }
      : {
          names: null,
          condition: updated(
            'False',
            'evictionInProgress',
            'Aggregates unchanged while terminating and eviction in progress',
          ),
        };
  }
  const { state } = onboardingOf(observed);
  if (state === 'none' || state === 'aborted') return untouched;
  const zone = zoneOf(context);
  if (state === 'initial' || state === 'testing') {
    // A host that comes back from maintenance is kept off by being disabled; only a server of the tests would need more.
    if (state === 'testing' && isReturning(observed) && !settings.checks.includes('smoke')) return untouched;
    if (zone === null) return untouched;
    const open = isolationProblem(observed.aggregates, settings.testAggregate);
    const condition = updated(
      'False',
      'test',
      `Test aggregate applied during onboarding instead of spec aggregates${open === null ? '' : `; ${open}`}`,
    );
    return { names: [zone, settings.testAggregate], condition };
  }
  if (state === 'handover' && planTraits(desired.customTraits, desired, observed).steps.length > 0) {
    return {
      names: null,
      condition: updated(
        'False',
        'waitingForTraits',
        'Waiting for traits to be applied before switching to spec aggregates',
      ),
    };
  }
  return {
    names: desired.aggregates,
    condition: updated('True', 'succeeded', 'Aggregates from spec applied successfully'),
  };
}

/** The host's zone: the Hypervisor has its Node's label. */
export const zoneOf = ({ desired }: Pick<Context, 'desired'>): string | null => desired.labels[nodeMarks.zone] || null;
