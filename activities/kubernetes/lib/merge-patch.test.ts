import * as fc from 'fast-check';

import { combinePatches, patchBetween, patchHolds } from './merge-patch.ts';

const rows: [why: string, before: unknown, after: unknown, patch: unknown][] = [
  ['nothing', { a: 1 }, { a: 1 }, undefined],
  ['a field that comes', {}, { a: 1 }, { a: 1 }],
  ['a field that goes', { a: 1, b: 2 }, { b: 2 }, { a: null }],
  ['a field that goes deep down', { a: { b: 1, c: 2 } }, { a: { c: 2 } }, { a: { b: null } }],
  ['a list is replaced', { a: [1, 2] }, { a: [1] }, { a: [1] }],
  ['an object that becomes something else', { a: { b: 1 } }, { a: 1 }, { a: 1 }],
  ['all of it goes', { a: 1 }, undefined, null],
  ['null and nothing are the same', { a: null }, {}, undefined],
];
test.each(rows)('%s', (_why, before, after, patch) => {
  expect(patchBetween(before, after)).toEqual(patch);
});

test.each<[current: unknown, patch: unknown, holds: boolean]>([
  [{ a: { b: 1, c: 2 } }, { a: { b: 1 } }, true],
  [{ a: { b: 1 } }, { a: { b: 2 } }, false],
  [{ a: { b: 1 } }, { a: { c: null } }, true],
  [{ a: { b: 1 } }, { a: { b: null } }, false],
  [undefined, { a: { b: null } }, true],
  [{ a: [1] }, { a: [1, 2] }, false],
])('on %j, %j holds: %j', (current, patch, holds) => {
  expect(patchHolds(current, patch)).toBe(holds);
});

/** As kube-apiserver applies it. */
function apply(current: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const fields =
    typeof current === 'object' && current !== null && !Array.isArray(current)
      ? { ...(current as Record<string, unknown>) }
      : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete fields[key];
    else fields[key] = apply(fields[key], value);
  }
  return fields;
}

test.each([
  [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  [{ a: 1 }, { a: null }, { a: null }],
  [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { b: null, c: 2 } }],
  [{ a: null }, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, { a: [1] }, { a: [1] }],
])('%j and then %j', (earlier, later, both) => {
  expect(combinePatches(earlier, later)).toEqual(both);
});

test('the patch between two makes the one of the other, and then holds', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }));
  const value = fc.letrec<{ fields: Record<string, unknown>; node: unknown }>((tie) => ({
    fields: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('node')),
    node: fc.oneof({ maxDepth: 3 }, leaf, tie('fields')),
  })).fields;
  fc.assert(
    fc.property(value, value, (before, after) => {
      const patch = patchBetween(before, after);
      expect(patch === undefined ? before : apply(before, patch)).toEqual(after);
      expect(patchHolds(after, patch ?? {})).toBe(true);
    }),
  );
});
