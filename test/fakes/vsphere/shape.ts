import { fieldsOf, isKindOf, type Field } from '../../../activities/vsphere/wire/schema.ts';
import { isReference } from '../../../activities/vsphere/wire/values.ts';

/**
 * The shapes of values on their way between drover and the model. The model keeps a `$type` on every object; drover
 * gets it only where its codec would leave it: where the element of SOAP has a type of its own.
 */

type Typed = Record<string, unknown> & { $type?: string };

/** A deep copy of an argument as vCenter reads it: each object with its `$type`, without what is undefined. */
export const intake = <Value extends object>(type: string, value: Value): Value & { $type: string } =>
  copyOf(type, value) as Value & { $type: string };

function copyOf(type: string, value: object): Typed {
  const given = value as Typed;
  const $type = given.$type ?? type;
  const fields = (fieldsOf($type) ?? []).flatMap((field) => {
    const found = given[field.name];
    if (found === undefined) return [];
    return [
      [
        field.name,
        field.isMany ? (found as unknown[]).map((item) => intakeItem(field, item)) : intakeItem(field, found),
      ] as const,
    ];
  });
  return { $type, ...Object.fromEntries(fields) };
}

function intakeItem({ of }: Field, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isReference(value) ? { ...value } : copyOf(of, value);
}

/** A copy of the value of a property as drover's codec reads it: what drover does not know of a type is left out. */
export function present(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(present);
  if (typeof value !== 'object' || value === null) return value;
  if (isReference(value)) return { type: value.type, value: value.value };
  const { $type = '' } = value as Typed;
  return { $type, ...presentFields($type, value as Typed) };
}

/** The same, of what a method returns. */
export const presentAs = (type: string, value: object): object => presentFields(type, value as Typed);

function presentFields(type: string, value: Typed): object {
  const fields = (fieldsOf(type) ?? []).flatMap((field) => {
    const found = value[field.name];
    if (found === undefined) return [];
    return [
      [
        field.name,
        field.isMany ? (found as unknown[]).map((item) => presentItem(field, item)) : presentItem(field, found),
      ] as const,
    ];
  });
  return Object.fromEntries(fields);
}

function presentItem({ of, isAbstract }: Field, value: unknown): unknown {
  if (of === 'any') return present(value);
  if (typeof value !== 'object' || value === null) return value;
  if (of === 'ref') return present(value);
  const named = (value as Typed).$type ?? of;
  const type = fieldsOf(named) !== undefined && isKindOf(named, of) ? named : of;
  const fields = presentFields(type, value as Typed);
  return isAbstract || named !== of ? { $type: named, ...fields } : fields;
}
