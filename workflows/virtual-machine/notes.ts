import type { AppliedClass, DesiredVirtualMachine } from '../../contracts/virtual-machine/lifecycle.ts';
import { virtualMachineAnnotations as keys } from '../../contracts/virtual-machine/marks.ts';
import type { Outcome, VirtualMachinePatch } from '../../contracts/virtual-machine/plan.ts';

/** Annotations by which drover remembers what it has done. Nothing that comes next waits for them. */
const remembered: readonly string[] = [keys.lastResizedClass, keys.firstBootDone, keys.creating, keys.copies];

/** What an outcome only notes; null: it does something else, or more. Pure. */
export function notesOf(outcome: Outcome): VirtualMachinePatch[] | null {
  const [step, ...others] = outcome.kind === 'act' ? outcome.steps : [];
  if (step?.do !== 'patchVirtualMachine' || others.length > 0) return null;
  const isNote = ({ annotations = {}, ...rest }: VirtualMachinePatch): boolean =>
    Object.keys(rest).length === 0 && Object.keys(annotations).every((key) => remembered.includes(key));
  return step.patches.every(isNote) ? step.patches : null;
}

/** The object as it is once that is written. Pure. */
export const noted = (desired: DesiredVirtualMachine, notes: readonly VirtualMachinePatch[]): DesiredVirtualMachine =>
  notes.reduce((before, { annotations = {} }) => {
    const {
      [keys.lastResizedClass]: applied,
      [keys.firstBootDone]: booted,
      [keys.creating]: creating,
      [keys.copies]: copies,
    } = annotations;
    return {
      ...before,
      ...(typeof applied === 'string' && { lastResizedClass: readApplied(applied) }),
      ...(booted !== undefined && { firstBootDone: booted === 'true' }),
      ...(creating !== undefined && { creatingSince: creating }),
      // Notes only take it away.
      ...(copies === null && { copiesAt: null }),
    };
  }, desired);

function readApplied(text: string): AppliedClass {
  const {
    Name: name,
    UID: uid,
    Generation: generation,
  } = JSON.parse(text) as { Name: string; UID: string; Generation: number };
  return { name, uid, generation };
}
