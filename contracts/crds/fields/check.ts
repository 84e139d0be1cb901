import type { RefusedFields } from '../../virtual-machine/refused-fields.ts';
import type { StructuralSchema } from '../structural-schema.ts';
import { type FieldRow, type FieldRows, refusedFieldsModule } from './field.ts';

/** What the classification of fields is judged by. Pure. */

/** Every field of an object that has none below, but for what all objects share; a list of conditions is one. */
export function leavesOf({ properties = {} }: StructuralSchema): string[] {
  return Object.entries(properties)
    .filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name))
    .flatMap(([name, schema]) => leavesBelow(schema, name));
}

function leavesBelow({ properties, items, additionalProperties }: StructuralSchema, path: string): string[] {
  if (path === 'status.conditions') return [path];
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, schema]) => leavesBelow(schema, `${path}.${name}`));
  if (items !== undefined) return leavesBelow(items, `${path}[]`);
  return additionalProperties === undefined ? [path] : leavesBelow(additionalProperties, `${path}{}`);
}

/** The row of a field: its own, or the nearest above that stands for all below it. */
export function rowOf(rows: FieldRows, leaf: string): { key: string; row: FieldRow } | null {
  const steps = leaf.split('.');
  const keys = [leaf, ...steps.map((_, index) => [...steps.slice(0, steps.length - index - 1), '**'].join('.'))];
  for (const key of keys) {
    const row = rows[key];
    if (row !== undefined) return { key, row };
  }
  return null;
}

export interface Classified {
  kind: string;
  leaves: readonly string[];
  rows: FieldRows;
  /** Below `spec`. */
  refused: RefusedFields;
}

export interface World {
  /** Text of a module; null: there is none. */
  moduleText: (path: string) => string | null;
  /** Text of docs/limits.md. */
  limits: string;
}

/** What is wrong with the rows of a kind, in sentences; none: all is classified, and what is claimed is so. */
export function problemsOf({ kind, leaves, rows, refused }: Classified, world: World): string[] {
  const found = leaves.map((leaf) => ({ leaf, found: rowOf(rows, leaf) }));
  const used = new Set(found.flatMap(({ found: row }) => (row === null ? [] : [row.key])));
  const ofRow = [...used].flatMap((key) => {
    const row = rows[key];
    return row === undefined ? [] : claimProblems(key, row, refused, world);
  });
  const isRefused = (path: string): boolean =>
    found.some(({ leaf, found: row }) => row?.row.is === 'refused' && isBelow(leaf, `spec.${path}`));
  return [
    ...found.flatMap(({ leaf, found: row }) => (row === null ? [`${leaf} is not classified`] : [])),
    ...Object.keys(rows).flatMap((key) => (used.has(key) ? [] : [`${key} is no field, or no longer one`])),
    ...ofRow,
    ...Object.keys(refused).flatMap((path) =>
      isRefused(path) ? [] : [`spec.${path} stands in ${refusedFieldsModule}, and its row does not say refused`],
    ),
  ].map((problem) => `${kind}: ${problem}`);
}

const isBelow = (leaf: string, path: string): boolean =>
  leaf === path || (leaf.startsWith(path) && /^[.[{]/u.test(leaf.slice(path.length)));

function claimProblems(key: string, row: FieldRow, refused: RefusedFields, world: World): string[] {
  switch (row.is) {
    case 'implemented': {
      const [first, ...others] = row.modules;
      const missing = others.filter((module) => world.moduleText(module) === null);
      return [
        ...missing.map((module) => `${key} names ${module}, which does not exist`),
        ...nameProblems(key, first, row.names ?? namesIn(key), world),
      ];
    }
    case 'refused':
      if (row.module !== refusedFieldsModule)
        return nameProblems(key, row.module, [...(row.names ?? namesIn(key).slice(-1)), row.reason], world);
      return Object.keys(refused).some((path) => isBelow(key, `spec.${path}`))
        ? []
        : [`${key} is said to be refused, and ${row.module} has no row for it`];
    case 'notApplicable':
      return limitsName(key, world.limits) ? [] : [`${key} is never written, and docs/limits.md does not list it`];
    case 'informational':
      return [];
  }
}

function nameProblems(key: string, module: string, names: readonly string[], world: World): string[] {
  const text = world.moduleText(module);
  if (text === null) return [`${key} names ${module}, which does not exist`];
  const words = new Set(withoutComments(text).match(/[\p{L}_$][\p{L}\p{N}_$]*/gu));
  const absent = names.filter((name) => !words.has(name));
  return absent.length === 0 ? [] : [`${key} is said to be in ${module}, where there is no ${absent.join(', ')}`];
}

/** The last two names of a path, without `spec`, `status`, and marks of lists. */
const namesIn = (key: string): string[] =>
  key
    .split('.')
    .map((step) => step.replaceAll(/\[\]|\{\}/gu, ''))
    .filter((step, index) => step !== '**' && !(index === 0 && (step === 'spec' || step === 'status')))
    .slice(-2);

const withoutComments = (text: string): string => text.replaceAll(/\/\*.*?\*\/|(?<=^|\s)\/\/[^\n]*/gsu, '');

/** By its own path, or by one above it below `status`; marks of lists left out. */
function limitsName(key: string, limits: string): boolean {
  const steps = key.replaceAll(/\[\]|\{\}/gu, '').split('.');
  return steps.slice(1).some((_, index) => limits.includes(`\`${steps.slice(0, index + 2).join('.')}\``));
}
