import { readVirtualMachine } from '../../virtual-machine/read-virtual-machine.ts';
import { readClass } from '../../virtual-machine/read-prerequisites.ts';
import type { VirtualMachineClass } from '../virtual-machine-class.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { definitions } from '../definitions.ts';
import { toStructuralSchema, type StructuralSchema } from '../structural-schema.ts';
import { leavesOf, rowOf } from './check.ts';
import { fieldTable } from './table.ts';

// That a field's name stands in a module says little; here the fields are counted that are read when the whole of an
// object is.

/** An object with every field of a schema. */
function sampleOf(schema: StructuralSchema): unknown {
  if (schema.properties !== undefined)
    return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, sampleOf(field)]));
  if (schema.items !== undefined) return [sampleOf(schema.items)];
  if (schema.additionalProperties !== undefined) return { key: sampleOf(schema.additionalProperties) };
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[])[0];
  if (schema['x-kubernetes-int-or-string'] === true) return '1Gi';
  return { boolean: true, integer: 1, number: 1, string: 'a' }[schema.type ?? ''] ?? {};
}

/** The same value, and the paths of all that is read of it. */
function recording<Value>(value: Value, read: Set<string>, path = ''): Value {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, name, receiver) {
      const found: unknown = Reflect.get(target, name, receiver);
      if (typeof name !== 'string' || typeof found === 'function') return found;
      const below = Array.isArray(target) ? `${path}[]` : path === '' ? name : `${path}.${name}`;
      read.add(below);
      return recording(found, read, below);
    },
  });
}

function readOf(kind: string, module: string, read: (object: unknown) => unknown) {
  const schema = toStructuralSchema(definitions.find((one) => one.kind === kind)!.schema);
  const object = { ...(sampleOf(schema) as object), metadata: { name: 'a', uid: 'u', generation: 1 } };
  const seen = new Set<string>();
  for (const one of [object, another(object)]) read(recording(one, seen));
  const claimed = leavesOf(schema).filter((leaf) => {
    const row = rowOf(fieldTable[kind] ?? {}, leaf)?.row;
    return row?.is === 'implemented' && row.modules[0] === module;
  });
  // Of a list or a map, code that has it has its values.
  const isRead = (leaf: string): boolean => seen.has(leaf) || seen.has(leaf.replace(/(?:\[\]|\{\})$/u, ''));
  return { claimed, unread: claimed.filter((leaf) => !isRead(leaf)) };
}

/** Without what hides something else, and with another value where one decides on it. */
function another(object: object): object {
  const { spec = {} } = object as { spec?: Record<string, object | undefined> };
  return {
    ...object,
    spec: {
      ...spec,
      image: undefined,
      bootOptions: { ...spec['bootOptions'], firmware: 'efi' },
      bootstrap: { ...spec['bootstrap'], linuxPrep: undefined },
    },
  };
}

test('what is said to be read of a VirtualMachine is read', () => {
  const { claimed, unread } = readOf('VirtualMachine', 'contracts/virtual-machine/read-virtual-machine.ts', (object) =>
    JSON.stringify(readVirtualMachine(object as VirtualMachine)),
  );
  expect(claimed.length).toBeGreaterThan(40);
  expect(unread).toEqual([]);
});

test('and of a class', () => {
  const { claimed, unread } = readOf(
    'VirtualMachineClass',
    'contracts/virtual-machine/read-prerequisites.ts',
    (object) => readClass(object as VirtualMachineClass, 1_000),
  );
  expect(claimed.length).toBeGreaterThan(5);
  expect(unread).toEqual([]);
});
