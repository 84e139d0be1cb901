import { droverFailure } from '../../../runtime/failure.ts';
import { fieldsOf, isKindOf, isNumber, type Field } from '../wire/schema.ts';
import { isReference } from '../wire/values.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';

/** What a class says in words of its own, and what is the VM's or the call's. */
const modelled = new Set([
  'numCPUs',
  'memoryMB',
  'cpuAllocation',
  'memoryAllocation',
  'extraConfig',
  'name',
  'uuid',
  'instanceUuid',
  'files',
  'changeVersion',
]);

/**
 * `spec.configSpec` of a class, in vim25's JSON, as far as drover does not model it.
 *
 * @throws InvalidObject for what drover cannot say to vCenter: a VM without it would not be what the class promises
 */
export function classConfigSpec(json: Record<string, unknown>): VirtualMachineConfigSpec {
  const rest = Object.fromEntries(Object.entries(json).filter(([name]) => !modelled.has(name)));
  return objectOf('VirtualMachineConfigSpec', rest, 'spec.configSpec');
}

function objectOf(declared: string, json: object, path: string): object {
  const named = '_typeName' in json && typeof json._typeName === 'string' ? json._typeName : declared;
  const fields = fieldsOf(named);
  if (fields === undefined || !isKindOf(named, declared)) throw unknown(path, named);
  const read = Object.entries(json).flatMap(([name, value]) => {
    if (name === '_typeName' || value === null) return [];
    const field = fields.find((one) => one.name === name);
    if (field === undefined) throw unknown(`${path}.${name}`, named);
    return [
      [name, field.isMany ? list(field, value, `${path}.${name}`) : valueOf(field, value, `${path}.${name}`)] as const,
    ];
  });
  return { ...(named === declared ? {} : { $type: named }), ...Object.fromEntries(read) };
}

const list = (field: Field, value: unknown, path: string): unknown[] => {
  if (!Array.isArray(value)) throw unknown(path, 'list');
  return value.map((item, index) => valueOf(field, item, `${path}[${index}]`));
};

function valueOf({ of }: Field, value: unknown, path: string): unknown {
  if (of === 'any') return plain(value, path);
  if (of === 'ref') {
    if (typeof value !== 'object' || value === null) throw unknown(path, 'reference');
    const { _typeName: _, ...reference } = value as Record<string, unknown>;
    if (!isReference(reference)) throw unknown(path, 'reference');
    return reference;
  }
  if (fieldsOf(of) !== undefined) {
    if (typeof value !== 'object' || value === null) throw unknown(path, of);
    return objectOf(of, value, path);
  }
  const isRight = isNumber(of)
    ? typeof value === 'number'
    : of === 'boolean'
      ? typeof value === 'boolean'
      : typeof value === 'string';
  if (!isRight) throw unknown(path, of);
  return value;
}

/** `{_typeName: 'string', _value: 'a'}`, or the value itself. */
function plain(value: unknown, path: string): string | number | boolean {
  const inner = typeof value === 'object' && value !== null && '_value' in value ? value._value : value;
  if (typeof inner !== 'string' && typeof inner !== 'number' && typeof inner !== 'boolean')
    throw unknown(path, 'value');
  return inner;
}

const unknown = (path: string, type: string) =>
  droverFailure(
    'InvalidObject',
    `${path} of the class holds what drover cannot write (${type}): leave it out of the class, or say it in vCenter itself`,
  );
