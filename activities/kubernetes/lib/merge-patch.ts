import { isDeepStrictEqual } from 'node:util';

/** Merge patches, as RFC 7386 has them: null takes away, objects are merged, everything else is replaced. */

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the patch would change nothing. What is not there and null are the same. */
export function patchHolds(current: unknown, patch: unknown): boolean {
  if (!isFields(patch)) return isDeepStrictEqual(current ?? null, patch ?? null);
  const fields = isFields(current) ? current : {};
  return Object.entries(patch).every(([key, value]) => patchHolds(fields[key], value));
}

/** Both patches as one: what the later one says counts. */
export function combinePatches(earlier: unknown, later: unknown): unknown {
  if (!isFields(earlier) || !isFields(later)) return later;
  return {
    ...earlier,
    ...Object.fromEntries(Object.entries(later).map(([key, value]) => [key, combinePatches(earlier[key], value)])),
  };
}

/** The patch that makes `after` of `before`; undefined: there is no difference. */
export function patchBetween(before: unknown, after: unknown): unknown {
  if (isDeepStrictEqual(before ?? null, after ?? null)) return undefined;
  if (!isFields(before) || !isFields(after)) return after ?? null;
  const keys = Object.keys({ ...before, ...after });
  const changes = keys
    .map((key) => [key, patchBetween(before[key], after[key])] as const)
    .filter(([, change]) => change !== undefined);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}
