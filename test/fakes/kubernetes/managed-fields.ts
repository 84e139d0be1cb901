import { isDeepStrictEqual } from 'node:util';

import type { StructuralSchema } from '../../../contracts/crds/structural-schema.ts';
import type { Fields, FieldSet } from './field-set.ts';
import {
  compareFields,
  difference,
  fieldSchema,
  fieldsOf,
  fieldWords,
  intersection,
  isFields,
  isGranular,
  stepOf,
  stepsOf,
  toFieldsV1,
  union,
} from './field-set.ts';
import { applyConflict } from './refusal.ts';

/** Who owns which fields of an object, in one operation on one of its resources. */
export interface Manager {
  manager: string;
  operation: 'Update' | 'Apply';
  apiVersion: string;
  /** RFC 3339. */
  time: string;
  subresource: string;
  fields: FieldSet;
}

/** Who writes. */
export type Writer = Omit<Manager, 'fields'>;

/** What kube-apiserver keeps of an object by itself, and no manager owns. */
const unowned: FieldSet = new Set(
  [
    ['f:apiVersion'],
    ['f:kind'],
    ['f:metadata'],
    ...[
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'generation',
      'managedFields',
      'resourceVersion',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
    ].map((name) => ['f:metadata', `f:${name}`]),
  ].map((path) => path.join('\u0000')),
);

/** The entries of `metadata.managedFields`. */
export const writeManagers = (managers: readonly Manager[]): object[] =>
  managers
    .toSorted((a, b) => order(a).localeCompare(order(b)))
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(fields),
      ...(subresource !== '' && { subresource }),
    }));

const order = ({ operation, time, manager, subresource }: Manager): string =>
  [operation, time, manager, subresource].join('\u0000');

const isSame = (a: Writer, b: Writer): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion);

/** After an update: the manager that changes a field owns it, and alone; what is gone has no owner. */
export function afterUpdate(
  managers: readonly Manager[],
  writer: Writer,
  before: Fields,
  after: Fields,
  schema: StructuralSchema,
): Manager[] {
  const { added, modified, removed } = compareFields(before, after, schema);
  const taken = difference(union(added, modified), unowned);
  if (taken.size === 0 && removed.size === 0) return [...managers];
  const others = managers
    .filter((one) => !isSame(one, writer))
    .map((one) => ({ ...one, fields: difference(difference(one.fields, taken), removed) }));
  const own = managers.find((one) => isSame(one, writer))?.fields ?? new Set<string>();
  const fields = union(difference(own, removed), taken);
  const time = taken.size === 0 ? (managers.find((one) => isSame(one, writer))?.time ?? writer.time) : writer.time;
  return [...others, { ...writer, time, fields }].filter(({ fields: { size } }) => size > 0);
}

/** The object and its owners after a server-side apply. @throws Refusal 409 where others own what it would change */
export function applyConfiguration(
  managers: readonly Manager[],
  writer: Writer,
  live: Fields,
  config: Fields,
  schema: StructuralSchema,
  isForced: boolean,
): { object: Fields; managers: Manager[] } {
  const last = managers.find((one) => isSame(one, writer));
  const wanted = difference(fieldsOf(config, schema), unowned);
  const others = managers.filter((one) => !isSame(one, writer));
  const kept = others.reduce((all: FieldSet, { fields }) => union(all, fields), wanted);
  const dropped = difference(last?.fields ?? new Set<string>(), kept);
  const object = removeFields(mergeConfiguration(live, config, schema) as Fields, dropped, kept, schema);

  const { added, modified, removed } = compareFields(live, object, schema);
  const changed = union(added, modified);
  const conflicts = others.flatMap((other) =>
    [...intersection(other.fields, changed)].map((key) => ({
      manager: managerWords(other, writer),
      field: fieldWords(key),
    })),
  );
  if (conflicts.length > 0 && !isForced) throw applyConflict(conflicts);
  const left = others
    .map((one) => ({ ...one, fields: difference(difference(one.fields, changed), removed) }))
    .filter(({ fields: { size } }) => size > 0);
  const isSettled = last !== undefined && isDeepStrictEqual(last.fields, wanted) && isDeepStrictEqual(live, object);
  return {
    object,
    managers:
      wanted.size === 0 ? left : [...left, { ...writer, time: isSettled ? last.time : writer.time, fields: wanted }],
  };
}

/** As conflicts name a manager. */
function managerWords({ manager, operation, apiVersion, subresource }: Manager, writer: Writer): string {
  const named = `"${manager}"${subresource === '' ? '' : ` with subresource "${subresource}"`}`;
  return operation === 'Apply' && apiVersion === writer.apiVersion ? named : `${named} using ${apiVersion}`;
}

/** What the configuration says in the place of what is there; what it does not speak of stays. */
function mergeConfiguration(live: unknown, config: unknown, schema: StructuralSchema | undefined): unknown {
  if (isFields(live) && isFields(config)) {
    const merged = Object.entries(config).map(([name, value]) => [
      name,
      mergeConfiguration(live[name], value, fieldSchema(schema, name)),
    ]);
    return { ...live, ...(Object.fromEntries(merged) as Fields) };
  }
  if (!Array.isArray(live) || !Array.isArray(config) || !isGranular(schema)) return config;
  const merged = new Map(live.map((item: unknown) => [stepOf(item, schema), item]));
  for (const item of config as unknown[]) {
    const step = stepOf(item, schema);
    merged.set(step, merged.has(step) ? mergeConfiguration(merged.get(step), item, schema?.items) : item);
  }
  return [...merged.values()];
}

/** Takes fields away, and what is empty then, unless a manager keeps it. */
function removeFields(object: Fields, dropped: FieldSet, kept: FieldSet, schema: StructuralSchema): Fields {
  const isKept = (path: readonly string[]): boolean => {
    const key = path.join('\u0000');
    return kept.has(key) || [...kept].some((other) => other.startsWith(`${key}\u0000`));
  };
  return [...dropped]
    .map(stepsOf)
    .filter((path) => !isKept(path))
    .reduce((current, path) => removeAt(current, path, schema) as Fields, object);
}

function removeAt(value: unknown, [step, ...rest]: readonly string[], schema: StructuralSchema | undefined): unknown {
  if (step === undefined) return undefined;
  if (isFields(value)) {
    const name = step.slice(2);
    if (!Object.hasOwn(value, name)) return value;
    const { [name]: below, ...others } = value;
    const left = removeAt(below, rest, fieldSchema(schema, name));
    return left === undefined ? others : { ...value, [name]: left };
  }
  if (!Array.isArray(value)) return value;
  return (value as unknown[]).flatMap((item) => {
    if (stepOf(item, schema) !== step) return [item];
    const left = removeAt(item, rest, schema?.items);
    return left === undefined ? [] : [left];
  });
}
