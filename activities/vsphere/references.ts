import type { ManagedObjectReference } from './wire/values.ts';

/** Objects of a vCenter by their ids. */
const of =
  (type: string) =>
  (value: string): ManagedObjectReference => ({ type, value });

export const vmRef = of('VirtualMachine');
export const folderRef = of('Folder');
export const poolRef = of('ResourcePool');
export const hostRef = of('HostSystem');
export const datacenterRef = of('Datacenter');
export const datastoreRef = of('Datastore');
export const taskRef = of('Task');
