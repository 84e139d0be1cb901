import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import type { Context, Decision } from './step.ts';
import { done } from './step.ts';

/** What drover would do, as the end of the matter. */
export const observeOnly = (plan: Decision): Decision => done(describe(plan));

/** Beside a replaced operator every other condition is that operator's, so this is all that is said. */
export function describeObservation({ desired }: Context, plan: Decision): HypervisorStatusPatch {
  const condition = {
    type: hypervisorConditions.observed,
    status: 'True',
    reason: 'Observed',
    message: describe(plan),
    observedGeneration: desired.generation,
  } as const;
  return {
    conditions: [condition],
    removed: [],
    hypervisorId: null,
    serviceId: null,
    traits: null,
    aggregates: null,
    internalIp: null,
    evicted: null,
    libVirtVersion: null,
  };
}

function describe(plan: Decision): string {
  switch (plan.next) {
    case 'act':
      return `Observed only; next would be: ${plan.steps.map(({ words }) => words).join('; ')}`;
    case 'wait':
      return `Observed only; drover would wait for ${plan.for}`;
    case 'done':
      return `Observed only; nothing to do: ${plan.message}`;
  }
}
