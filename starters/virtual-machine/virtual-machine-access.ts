import { type ObjectAccess, objectAccess, type ObjectCalls } from '../command/object-access.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { shownVirtualMachines } from './virtual-machine-objects.ts';

/** VirtualMachines as commands use them. */
export const virtualMachineAccess = (kubernetes: ObjectCalls, abort: AbortSignal): ObjectAccess<VirtualMachineObject> =>
  objectAccess(kubernetes, { noun: 'vm', resource: shownVirtualMachines }, abort);
