import { isDeepStrictEqual } from 'node:util';

import type { StructuralSchema } from '../../../contracts/crds/structural-schema.ts';

/**
 * Steps from an object's root to a field, as `managedFields` writes them: `f:status`, `k:{"type":"Ready"}`, `v:"a"`.
 */
export type FieldPath = readonly string[];

/** Fields of an object. The key of a path is its steps, joined. */
export type FieldSet = ReadonlySet<string>;

export const union = (a: FieldSet, b: FieldSet): FieldSet => new Set([...a, ...b]);
/** The same set where nothing goes, so that what was made of it is found again. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const left = [...a].filter((key) => !b.has(key));
  return left.length === a.size ? a : new Set(left);
}
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => new Set([...a].filter((key) => b.has(key)));

const separator = '\u0000';
const keyOf = (path: FieldPath): string => path.join(separator);
export const stepsOf = (key: string): FieldPath => key.split(separator);

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How two values of an object differ. */
export interface Comparison {
  added: Set<string>;
  modified: Set<string>;
  removed: Set<string>;
}

/**
 * Compares two values field by field, as structured-merge-diff does: a list without a type is one field, what is there
 * on one side only counts with all that is in it.
 */
export function compareFields(before: unknown, after: unknown, schema: StructuralSchema): Comparison {
  const result: Comparison = { added: new Set(), modified: new Set(), removed: new Set() };
  compareAt([], before, after, schema, result);
  return result;
}

function compareAt(
  path: FieldPath,
  before: unknown,
  after: unknown,
  schema: StructuralSchema | undefined,
  result: Comparison,
): void {
  if (before === undefined && after === undefined) return;
  const [children, isLeaf] = childrenOf(before, after, schema);
  if (isLeaf) {
    if (path.length > 0) compareLeaf(keyOf(path), before, after, result);
    return;
  }
  for (const { step, before: was, after: is, schema: below } of children)
    compareAt([...path, step], was, is, below, result);
  if (path.length === 0) return;
  if (before === undefined) result.added.add(keyOf(path));
  else if (after === undefined) result.removed.add(keyOf(path));
}

function compareLeaf(key: string, before: unknown, after: unknown, { added, modified, removed }: Comparison): void {
  if (before === undefined) added.add(key);
  else if (after === undefined) removed.add(key);
  else if (!isDeepStrictEqual(before, after)) modified.add(key);
}

interface Child {
  step: string;
  before: unknown;
  after: unknown;
  schema: StructuralSchema | undefined;
}

function childrenOf(
  before: unknown,
  after: unknown,
  schema: StructuralSchema | undefined,
): [children: Child[], isLeaf: boolean] {
  const given = [before, after].filter((value) => value !== undefined);
  if (given.every(isFields)) {
    if (schema?.['x-kubernetes-map-type'] === 'atomic' || given.every((fields) => Object.keys(fields).length === 0))
      return [[], true];
    const [was = {}, is = {}] = [before, after] as [Fields | undefined, Fields | undefined];
    const names = Object.keys({ ...was, ...is });
    return [
      names.map((name) => ({
        step: `f:${name}`,
        before: was[name],
        after: is[name],
        schema: fieldSchema(schema, name),
      })),
      false,
    ];
  }
  if (given.every((value) => Array.isArray(value)) && isGranular(schema)) {
    if (given.every((items) => items.length === 0)) return [[], true];
    const [was, is] = [itemsByStep(before, schema), itemsByStep(after, schema)];
    const steps = new Set([...was.keys(), ...is.keys()]);
    return [
      [...steps].map((step) => ({ step, before: was.get(step), after: is.get(step), schema: schema?.items })),
      false,
    ];
  }
  return [[], true];
}

export const fieldSchema = (schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined =>
  schema?.properties?.[name] ?? schema?.additionalProperties;

/** Whether a list is kept item by item. */
export const isGranular = (schema: StructuralSchema | undefined): boolean =>
  schema?.['x-kubernetes-list-type'] === 'map' || schema?.['x-kubernetes-list-type'] === 'set';

/** How `managedFields` names an item of a list of maps or of a set. */
export function stepOf(item: unknown, schema: StructuralSchema | undefined): string {
  if (schema?.['x-kubernetes-list-type'] === 'set') return `v:${JSON.stringify(item)}`;
  const keys = (schema?.['x-kubernetes-list-map-keys'] ?? []) as string[];
  const fields = isFields(item) ? item : {};
  const entries = keys
    .toSorted()
    .map((key) => [key, fields[key] ?? schema?.items?.properties?.[key]?.['default']] as const);
  return `k:${JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== undefined)))}`;
}

export const itemsByStep = (items: unknown, schema: StructuralSchema | undefined): Map<string, unknown> =>
  new Map((Array.isArray(items) ? items : []).map((item: unknown) => [stepOf(item, schema), item]));

/** The fields that a configuration names: what has no others below it, and the items of lists. */
export function fieldsOf(value: unknown, schema: StructuralSchema): FieldSet {
  const all = [...compareFields(undefined, value, schema).added];
  const parents = new Set(all.map((key) => keyOf(stepsOf(key).slice(0, -1))));
  return new Set(all.filter((key) => !parents.has(key) || !(stepsOf(key).at(-1) ?? '').startsWith('f:')));
}

/** What was made of sets: neither of them is changed. */
const written = new WeakMap<FieldSet, Fields>();

/** `fieldsV1`: nested objects; a field that is itself in the set, and has others below, has a `.`. */
export function toFieldsV1(set: FieldSet): Fields {
  const known = written.get(set);
  if (known !== undefined) return known;
  type Node = { isMember: boolean; below: Map<string, Node> };
  const root: Node = { isMember: false, below: new Map() };
  for (const key of set) {
    let node = root;
    for (const step of stepsOf(key)) {
      const next: Node = node.below.get(step) ?? { isMember: false, below: new Map() };
      node.below.set(step, next);
      node = next;
    }
    node.isMember = true;
  }
  const write = ({ isMember, below }: Node): Fields => ({
    ...(isMember && below.size > 0 && { '.': {} }),
    ...Object.fromEntries(
      [...below].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([step, node]) => [step, write(node)]),
    ),
  });
  const fields = write(root);
  written.set(set, fields);
  return fields;
}

/** `.status.conditions[type="Ready"].reason`, as conflicts name a field. */
export function fieldWords(key: string): string {
  return stepsOf(key)
    .map((step) => {
      const rest = step.slice(2);
      if (step.startsWith('f:')) return `.${rest}`;
      if (step.startsWith('v:')) return `[=${rest}]`;
      const entries = Object.entries(JSON.parse(rest) as Fields);
      return `[${entries.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}

/** Of a JSON value; several times as fast as `structuredClone`. */
export function copyOf<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf) as Value;
  if (!isFields(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (field !== undefined) copy[name] = typeof field === 'object' ? copyOf(field) : field;
  }
  return copy as Value;
}

/** The fields but for these. */
export const without = (fields: object, ...names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
