/** An object within one vCenter: `{ type: 'VirtualMachine', value: 'vm-61' }`. */
export interface ManagedObjectReference {
  type: string;
  value: string;
}

/** A value whose type only its own element tells: text, number, boolean, reference, an object with its `$type`, or a list of one of them. */
export type AnyValue = unknown;

export const isReference = (value: unknown): value is ManagedObjectReference =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  'value' in value &&
  typeof value.value === 'string' &&
  Object.keys(value).length === 2;
