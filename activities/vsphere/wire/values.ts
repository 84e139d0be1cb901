/** An object within one vCenter: `{ type: 'VirtualMachine', value: 'vm-61' }`. */
export interface ManagedObjectReference {
  type: string;
  value: string;
}

/**
 * A value whose type is declared by its own element only: text, number, boolean, reference, an object with its `$type`,
 * or a list of one of them.
 */
export type AnyValue = unknown;

export const isReference = (value: unknown): value is ManagedObjectReference =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  'value' in value &&
  typeof value.value === 'string' &&
  Object.keys(value).length === 2;

/** References to objects of a vCenter, by their ids. */
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
