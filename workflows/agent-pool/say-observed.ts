import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { describePlan, type Plan, type Step } from '../lib/plan.ts';

/** Beside agent-forge-operator every other condition is that operator's, so this is all that is said. Pure. */
export function sayObserved(plan: Plan<Step>, observedGeneration: number): Omit<ConditionUpdate, 'type'> {
  const { message } = describePlan(plan);
  const isIntent = plan.kind === 'done' && plan.reason === 'ObserveOnly';
  return {
    status: 'True',
    reason: 'Observed',
    message: isIntent ? message : `drover only observes, and would change nothing: ${message}`,
    observedGeneration,
  };
}
