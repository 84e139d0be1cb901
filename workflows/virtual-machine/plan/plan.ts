import type { DesiredVirtualMachine, VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type {
  VirtualMachineMemory,
  VirtualMachineObservation,
} from '../../../contracts/virtual-machine/observation.ts';
import type {
  Outcome,
  VirtualMachineDecision,
  VirtualMachinePatch,
  VirtualMachinePlan,
  VirtualMachineStep,
} from '../../../contracts/virtual-machine/plan.ts';
import { describeObserved, describeStatus } from '../describe-status.ts';
import { judgeEvent } from '../judge-event.ts';
import { planDelete } from './plan-delete.ts';
import { noted, notesOf } from '../notes.ts';
import { nextLook } from '../next-look.ts';
import { planNormal } from './plan-normal.ts';
import { forget, noMemory } from '../remember.ts';
import type { Context } from '../step.ts';
import { failureOf, fullName, retry } from '../step.ts';

/**
 * Decides what happens to a VirtualMachine next, and what it then says. Pure. Whatever comes of the decision, the status is published.
 * Sources: seed 000 "Reconcile"; vm-and-machine.md A.4; design section 8.
 *
 * @param desired null: there is no such object
 */
export function planVirtualMachine(
  desired: DesiredVirtualMachine | null,
  observed: VirtualMachineObservation,
  before: VirtualMachineMemory,
  nowMs: number,
  settings: VirtualMachineSettings,
): VirtualMachinePlan {
  if (desired === null)
    return {
      decision: { next: 'done', end: 'gone', state: 'Settled', message: 'There is no such VirtualMachine' },
      memory: noMemory,
      status: null,
      event: null,
      notes: [],
    };
  const memory = forget(before, desired, observed);
  const context: Context = { desired, observed, memory, settings, nowMs };
  const failure = memory.failures.find(({ phase }) => phase === 'observe');
  const { outcome, notes } =
    failure === undefined
      ? decideWithNotes(context)
      : {
          outcome: { kind: 'wait', state: 'Failed', for: failure.message, untilMs: failure.retryAtMs } as const,
          notes: [],
        };
  const decision = toDecision(context, outcome);
  if (settings.mode === 'observe' || desired.mode === 'observe') {
    return {
      decision: { next: 'done', end: 'settled', state: 'Observed', message: 'Only observed' },
      memory,
      status: describeObserved(context, decision),
      event: null,
      notes: [],
    };
  }
  // Once it is released there is nobody to say it; what could not be read is not known.
  const isGone = decision.next === 'done' && decision.end === 'gone';
  return {
    decision,
    memory,
    status: isGone ? null : describeStatus(context, decision),
    event: judgeEvent(context, decision),
    notes,
  };
}

/** What is only noted goes along with what is said, where nothing else is to be done. */
function decideWithNotes(context: Context): { outcome: Outcome; notes: VirtualMachinePatch[] } {
  const outcome = decide(context);
  const notes = context.desired.deleting ? null : notesOf(outcome);
  const then = notes === null ? outcome : decide({ ...context, desired: noted(context.desired, notes) });
  return notes === null || then.kind === 'act' ? { outcome, notes: [] } : { outcome: then, notes };
}

/** Whatever it is that has failed, it is not tried again before its time. */
function decide(context: Context): Outcome {
  const outcome = context.desired.deleting ? planDelete(context) : planNormal(context);
  const [first] = outcome.kind === 'act' ? outcome.steps : [];
  const failure = first === undefined ? undefined : failureOf(context, first.phase);
  return failure === undefined ? outcome : retry(failure);
}

function toDecision(context: Context, outcome: Outcome): VirtualMachineDecision {
  const { desired } = context;
  const name = fullName(desired);
  switch (outcome.kind) {
    case 'act':
      return { next: 'act', steps: outcome.steps, state: stateOfSteps(context, outcome.steps) };
    case 'wait':
      return {
        next: 'wait',
        for: outcome.for,
        untilMs: outcome.untilMs,
        state: outcome.state,
        ...(outcome.turn !== undefined && { turn: outcome.turn }),
      };
    case 'failed': {
      const { reason, message, retryAtMs } = outcome;
      const state =
        reason === 'Paused' || reason === 'NotOwned' || reason === 'Ambiguous' || reason === 'DeletionBlocked'
          ? reason
          : 'Failed';
      if (outcome.requeue) return { next: 'wait', for: `another try: ${message}`, untilMs: retryAtMs, state };
      return { next: 'done', end: 'rests', state, message };
    }
    case 'success': {
      if (desired.deleting) return { next: 'done', end: 'gone', state: 'Deleting', message: `${name} is deleted` };
      const later = nextLook(context);
      return later === null
        ? { next: 'done', end: 'settled', state: 'Settled', message: `${name} is as its spec wants it` }
        : { next: 'wait', for: later.for, untilMs: later.untilMs, state: later.state };
    }
  }
}

const statesOfPower = {
  powerOn: 'PoweringOn',
  powerOff: 'PoweringOff',
  shutdownGuest: 'PoweringOff',
  suspend: 'Suspending',
  standbyGuest: 'Suspending',
  reset: 'Restarting',
  rebootGuest: 'Restarting',
} as const;

function stateOfSteps({ desired, observed }: Context, steps: readonly VirtualMachineStep[]): string {
  const [first] = steps;
  if (desired.deleting) return 'Deleting';
  if (first === undefined) return 'Updating';
  return first.do === 'power'
    ? statesOfPower[first.operation]
    : first.phase === 'create' && observed.vm === null
      ? 'Creating'
      : 'Updating';
}
