import type { NumberedAnswer, SlotAnswer, SlotKind } from '../../contracts/allowance.ts';
import type { VirtualMachineMemory, VirtualMachineObservation } from '../../contracts/virtual-machine/observation.ts';
import type { VirtualMachinePlan, VirtualMachineStep } from '../../contracts/virtual-machine/plan.ts';
import type { Membership } from '../limits/membership.ts';
import { allowanceOf, applyAnswer } from '../limits/membership.ts';

/**
 * A run's place among those that may make, or destroy, a VM of the vCenter now, or that wait for it. It belongs to one run, which gives it
 * back before it ends or continues as new. Plain data and pure functions.
 */
export interface Turn {
  of: SlotKind;
  vcenter: string;
  /** Prefix of workflow ids. */
  cluster: string;
  share: Membership;
  /** As it was when it asked last; null: not known. */
  taken: VirtualMachineObservation['turn']['taken'];
  askAgainMs: number;
}

export const holds = (turn: Turn | null, of: SlotKind): boolean => turn?.of === of && allowanceOf(turn.share) > 0;

/** Whether to ask, or to ask again in case nobody remembers. */
export const isAskDue = (turn: Turn | null, of: SlotKind, nowMs: number): boolean =>
  turn?.of !== of || (!holds(turn, of) && nowMs >= turn.askAgainMs);

export const heard = (turn: Turn, answer: NumberedAnswer): Turn => ({
  ...turn,
  share: applyAnswer(turn.share, answer),
});

export const answered = (turn: Turn, answer: SlotAnswer): Turn => ({
  ...heard(turn, answer),
  taken: answer.limit === null ? null : { inUse: answer.inUse, limit: answer.limit },
});

/** As decisions see it. What is only observed needs no turn. */
export const turnSeen = (turn: Turn | null, observes: boolean): VirtualMachineObservation['turn'] => ({
  create: observes || holds(turn, 'creates'),
  destroy: observes || holds(turn, 'destroys'),
  taken: turn?.taken ?? null,
});

/** Which turn a plan waits for or makes use of; null: none, and one that it has is given back, also while something that failed waits to be tried again. */
export function turnOf(
  { decision, memory }: Pick<VirtualMachinePlan, 'decision' | 'memory'>,
  deleting: boolean,
): SlotKind | null {
  if (decision.next === 'wait' && decision.turn !== undefined) return decision.turn;
  if (isBeingMade(memory)) return 'creates';
  if (
    decision.next === 'act' &&
    (memory.create !== null || decision.steps.some((step) => step.do === 'createVirtualMachine'))
  )
    return 'creates';
  if (!deleting) return null;
  if (decision.next === 'act')
    return decision.steps.some((step) => step.do === 'power' || step.do === 'detachDisks' || step.do === 'destroy')
      ? 'destroys'
      : null;
  // Its guest is shutting down.
  return decision.next === 'wait' && decision.state === 'Deleting' ? 'destroys' : null;
}

export const isBeingMade = ({ create }: VirtualMachineMemory): boolean => create !== null && create.task !== null;

/** What the turn was for has ended, well or not: others wait for just that. */
export const isOver = (of: SlotKind, steps: readonly VirtualMachineStep[], memory: VirtualMachineMemory): boolean =>
  of === 'creates'
    ? memory.create === null && steps.some((step) => step.do === 'createVirtualMachine' || step.do === 'awaitTask')
    : steps.some((step) => step.do === 'destroy');
