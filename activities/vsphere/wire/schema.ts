import { faultFamilies } from './vim/fault-families.ts';
import { vimSchema } from './vim/schema.ts';

/** What is known of a field. */
export interface Field {
  name: string;
  /**
   * A type of the schema, or one of `ref`, `any`, `string`, `boolean`, `time`, `long`, `int`, `short`,
   * `byte`, `float`, `double`.
   */
  of: string;
  isOptional: boolean;
  isMany: boolean;
  /** The element says which type below it has. */
  isAbstract: boolean;
}

const notation = /^(?<name>\w+):(?<of>\w+)(?<abstract>~?)(?<many>(?:\[\])?)(?<optional>\??)$/u;

function parseField(text: string): Field {
  const { name = '', of = '', abstract, many, optional } = notation.exec(text)?.groups ?? {};
  return { name, of, isOptional: optional === '?', isMany: many === '[]', isAbstract: abstract === '~' };
}

const faultBases = new Map(
  Object.entries(faultFamilies).flatMap(([base, names]) => names.split(' ').map((name) => [name, base] as const)),
);

/** What the type extends; empty where that is nothing, or nothing is known of it. */
const baseOf = (type: string): string => vimSchema[type]?.[0] || faultBases.get(type) || '';

const known = new Map<string, readonly Field[]>();

/**
 * The fields of a type in the order of the schema, those of its base first; undefined where drover does not
 * use the type.
 */
export function fieldsOf(type: string): readonly Field[] | undefined {
  const found = known.get(type);
  if (found !== undefined) return found;
  if (!Object.hasOwn(vimSchema, type) && !faultBases.has(type)) return undefined;
  const [, ...own] = vimSchema[type] ?? [''];
  const base = baseOf(type);
  const fields = [...(base === '' ? [] : (fieldsOf(base) ?? [])), ...own.map(parseField)];
  known.set(type, fields);
  return fields;
}

/** The type and what it extends, itself first. */
export function* lineage(type: string): Generator<string> {
  for (let at = type; at !== ''; at = baseOf(at)) yield at;
}

/** Whether a type is the base or extends it. */
export const isKindOf = (type: string, base: string): boolean => [...lineage(type)].includes(base);

const numbers = new Set(['long', 'int', 'short', 'byte', 'float', 'double']);
export const isNumber = (of: string): boolean => numbers.has(of);
