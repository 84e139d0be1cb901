import type { Plan, Step } from './step.ts';

/** A plan in a few words, for the rows of tests: `act disableService, createEviction`, `wait`, `done`, `rest`, `become Testing`. */
export function shown(plan: Plan | null): string {
  switch (plan?.next) {
    case undefined:
      return 'nothing';
    case 'act':
      return `act ${plan.steps.map(brief).join(', ')}`;
    case 'wait':
      return `wait: ${plan.for}`;
    case 'done':
      return `${plan.rests ? 'rest' : 'done'}: ${plan.message}`;
    case 'become':
      return `become ${plan.conditions.map(({ reason, message }) => `${reason}: ${message}`).join()}`;
  }
}

function brief(step: Step): string {
  switch (step.do) {
    case 'disableService':
      return `disable "${step.reason}"`;
    case 'enableService':
      return `enable "${step.carrying ?? ''}"`;
    case 'createEviction':
      return `createEviction ${step.eviction.name} ${step.eviction.cause}`;
    case 'addToAggregates':
      return `+${step.aggregates.map(({ name }) => name).join('+')}`;
    case 'removeFromAggregates':
      return `-${step.aggregates.map(({ name }) => name).join('-')}`;
    case 'runCheck':
      return `check ${step.check} ${step.attempt}`;
    case 'deleteService':
      return `deleteService ${step.serviceId}`;
    case 'deleteProvider':
      return `deleteProvider ${step.providerId}${step.consentBy === null ? '' : ` with allocations, by ${step.consentBy}`}`;
    case 'releaseAllocations':
      return `releaseAllocations ${step.providerId} by ${step.consentBy}`;
    case 'patchHypervisor':
      return `patch ${JSON.stringify(step.patches)}`;
    case 'ensureDrainGuard':
      return `guard ${step.guard.minAvailable} ${step.guard.ready ? 'ready' : 'not ready'}`;
    case 'setEvictionDeadline':
      return `deadline ${step.deadline}`;
    case 'createHypervisor':
    case 'deleteEviction':
    case 'taintNode':
    case 'untaintNode':
    case 'deleteTestServers':
    case 'createTraits':
    case 'updateTraits':
      return step.do;
  }
}
