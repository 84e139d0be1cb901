import { modeOf } from './mode.ts';
import { planAggregates } from './plan-aggregates.ts';
import { planTraits } from './plan-traits.ts';
import type { Context, Plan } from './step.ts';
import { act } from './step.ts';
import { wantAggregates } from './want-aggregates.ts';

/** What keeps the traits or aggregates from being as they should be; null: nothing. */
export function membershipProblem(context: Context): string | null {
  return traitsProblem(context) ?? aggregatesProblem(context);
}

/** In the words of the condition `TraitsUpdated`. */
export function traitsProblem({ desired, observed }: Context): string | null {
  const { nova, provider } = observed;
  if (provider === null)
    return `Failed to get current traits from placement: no resource provider ${nova?.hypervisorId ?? observed.recorded.hypervisorId ?? desired.name}`;
  const { invalid } = planTraits(desired.customTraits, desired, observed);
  return invalid.length === 0
    ? null
    : `Failed to update traits in placement: no names of traits: ${invalid.join(', ')}`;
}

/** In the words of the condition `AggregatesUpdated`. */
export function aggregatesProblem(context: Context): string | null {
  const { names } = wantAggregates(context);
  const { nova, aggregates } = context.observed;
  if (names === null || nova === null) return null;
  const { problem } = planAggregates(names, aggregates, nova.host, nova.servers > 0);
  return problem === null ? null : `failed to apply aggregates: ${problem}`;
}

/**
 * Brings traits, and then aggregates, to where they belong now; null: they are, or a problem stands in the way (see
 * {@link membershipProblem}). Traits go first: an aggregate may let guests in that ask for them. Source: hypervisor.md B.3 and B.4.
 */
export function planMembership(context: Context): Plan | null {
  const { desired, observed } = context;
  const { nova, aggregates } = observed;
  if (nova === null || modeOf(desired, observed.node) === 'termination') return null;
  const { steps } = planTraits(desired.customTraits, desired, observed);
  if (steps.length > 0) return act(...steps);
  const { names } = wantAggregates(context);
  if (names === null) return null;
  const ladder = planAggregates(names, aggregates, nova.host, nova.servers > 0);
  return ladder.steps.length > 0 ? act(...ladder.steps) : null;
}
