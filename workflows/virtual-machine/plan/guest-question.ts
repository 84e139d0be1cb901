/** How a wait for a guest reads that was asked something, and cannot be asked now. */

/** Whether it was asked before is not known. */
export const perhapsAsked =
  'the guest, which cannot be asked now: vCenter’s answer was lost when it was, so it may be doing it already';

/** @param what it is asked to do @param field of the spec that says how hard it is asked */
export const describeRefusal = (what: string, field: 'powerOffMode' | 'suspendMode' | 'restartMode'): string =>
  `the guest, which cannot be asked to ${what}, and ${field} Soft does not force it: start VMware Tools in the guest, or set ${field} to TrySoft or Hard`;
