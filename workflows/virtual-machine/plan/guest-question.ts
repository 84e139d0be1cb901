import type { VirtualMachinePatch } from '../../../contracts/virtual-machine/mutations.ts';
import {
  type GuestAsked,
  guestAskedText,
  virtualMachineAnnotations,
} from '../../../contracts/virtual-machine/metadata.ts';
import type { VmContext } from './context.ts';

/**
 * What is noted of a question to a guest, and how a wait for a guest reads that was asked something, and cannot be
 * asked now.
 */

/**
 * Noted before it is asked: its Tools end first, and a run that knows nothing of the question would take that
 * for a refusal.
 */
export const askedNotes = (
  { vm, nowMs }: Pick<VmContext, 'vm' | 'nowMs'>,
  operation: GuestAsked['operation'],
): VirtualMachinePatch[] => [
  {
    annotations: {
      [virtualMachineAnnotations.guestAsked]: guestAskedText({ operation, askedMs: nowMs, bootId: vm.bootId }),
    },
  },
];

/** Whether it was asked before is not known. */
export const perhapsAsked =
  'the guest, which cannot be asked now: it was before, or vCenter’s answer was lost, so it may be doing it already';

/** @param what it is asked to do @param field of the spec that says how hard it is asked */
export const describeRefusal = (what: string, field: 'powerOffMode' | 'suspendMode' | 'restartMode'): string =>
  `the guest, which cannot be asked to ${what}, and ${field} Soft does not force it: start VMware Tools in the guest, or set ${field} to TrySoft or Hard`;
