import * as fc from 'fast-check';

/**
 * Input that no user means: what breaks parsers, and what almost fits. All of it shrinks, so that a finding
 * can be read.
 */

const long = 100_000;

/**
 * Each of these makes a regular expression that tries every beginning, or every end, go over the rest again and again.
 */
const longTexts = [
  'a',
  '/',
  '-',
  '.',
  ' ',
  '\n',
  '"',
  '\\',
  '0',
  '[',
  '<style',
  'a:',
  'a.b-',
  'token=',
  '://',
  'é',
].map((unit) => unit.repeat(Math.ceil(long / unit.length)));

const oddTexts = [
  '',
  ' ',
  '\0',
  '\r\n',
  'null',
  'true',
  '-1',
  '0x10',
  '1e9',
  'NaN',
  '\uD800',
  '\u202Eevil',
  '😀',
  'é'.normalize('NFD'),
  'ＡＢＣ',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  '%00',
  '%',
  '${7*7}',
  '$&',
  "'; drop table",
  '<script>alert(1)</script>',
  'a\r\nX-Injected: 1',
  '2026-01-01T00:00:00Z',
  '2026-02-30T25:61:61Z',
  'http://[::1',
  'http://user:pass@host',
  'file:///etc/passwd',
  '{"a":',
  '[]',
  '!!js/function',
  '&a [*a]',
] as const;

const oddNumbers = [
  0,
  -0,
  -1,
  0.5,
  63,
  64,
  65,
  255,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53) - 2,
  1e21,
  1e308,
  5e-324,
] as const;

const oddKeys = [
  '',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toJSON',
  'then',
  'length',
  '0',
  'metadata',
  'spec',
  'a.b',
  '\0',
] as const;

export const hostileText = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...oddTexts) },
    { weight: 15, arbitrary: fc.string() },
    { weight: 5, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
    { weight: 1, arbitrary: fc.constantFrom(...longTexts) },
  );

/** A key of its own even where it is `__proto__`, as JSON.parse makes it. */
function own(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of pairs) {
    if (key === '__proto__')
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
  }
  return object;
}

/** Deeper than a schema looks, less deep than JSON itself goes. */
const nested = (depth: number, kind: 'array' | 'object'): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = kind === 'array' ? [value] : { a: value };
  return value;
};

export const hostileValue = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 10, arbitrary: hostileText() },
    { weight: 10, arbitrary: fc.constantFrom<unknown>(null, true, false, ...oddNumbers) },
    { weight: 6, arbitrary: fc.constantFrom<unknown>([], {}, [null], [[]], [{}], { a: null }) },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.tuple(fc.constantFrom(...oddKeys), fc.constantFrom<unknown>(null, 1, 'x', {}, [])), { maxLength: 3 })
        .map(own),
    },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.constantFrom(nested(1_000, 'array'), nested(1_000, 'object')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        Array.from({ length: 2_000 }, () => null),
        own(Array.from({ length: 2_000 }, (_, index) => [`key-${index}`, index])),
      ),
    },
  );

type Path = readonly (string | number)[];

/** What lies deeper is like what holds it, and following it would need more of a stack than tests have. */
const deepestPlace = 500;

/** The places in plain data, the whole first. */
function places(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || at.length === deepestPlace) return [at];
  const below = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value);
  return [at, ...below.flatMap(([key, item]) => places(item, [...at, key]))];
}

interface Mutation {
  /** Which place; counted round. */
  place: number;
  how: 'replace' | 'delete' | 'rename' | 'wrap' | 'unwrap' | 'repeat' | 'retype' | 'add' | 'garble';
  value: unknown;
  text: string;
}

const mutation = (): fc.Arbitrary<Mutation> =>
  fc.record({
    place: fc.nat(9_999),
    how: fc.constantFrom<Mutation['how']>(
      'replace',
      'replace',
      'delete',
      'rename',
      'wrap',
      'unwrap',
      'repeat',
      'retype',
      'add',
      'garble',
    ),
    value: hostileValue(),
    text: fc.oneof(fc.constantFrom(...oddKeys), hostileText()),
  });

const retyped = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : typeof value === 'string'
      ? Number(value) || 0
      : [value];

/** The value with the change at its place. */
function changed(value: unknown, [key, ...rest]: Path, { how, value: other, text }: Mutation): unknown {
  if (key === undefined) {
    if (how === 'wrap') return [value];
    if (how === 'unwrap')
      return typeof value === 'object' && value !== null ? (Object.values(value)[0] ?? null) : value;
    if (how === 'repeat') return Array.isArray(value) ? [...value, ...value] : [value, value];
    if (how === 'retype') return retyped(value);
    if (how === 'add')
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? own([...Object.entries(value), [text, other]])
        : other;
    if (how === 'garble') return typeof value === 'string' ? value + text : other;
    return other;
  }
  const last = rest.length === 0;
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      index !== key
        ? [item]
        : last && how === 'delete'
          ? []
          : [changed(item, rest, { how, value: other, text, place: 0 })],
    );
  const pairs = Object.entries(value as object).flatMap(([name, item]): [string, unknown][] => {
    if (name !== key) return [[name, item]];
    if (last && how === 'delete') return [];
    if (last && how === 'rename') return [[text, item]];
    return [[name, changed(item, rest, { how, value: other, text, place: 0 })]];
  });
  return own(pairs);
}

function mutate(sample: unknown, mutations: readonly Mutation[]): unknown {
  return mutations.reduce<unknown>((value, one) => {
    const all = places(value);
    return changed(value, all[one.place % all.length] ?? [], one);
  }, sample);
}

/** Plain data near one of the valid samples, seldom far from all. */
export const near = (...samples: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc
        .tuple(fc.constantFrom(...samples), fc.array(mutation(), { minLength: 0, maxLength: 3 }))
        .map(([sample, mutations]) => mutate(sample, mutations)),
    },
    { weight: 1, arbitrary: hostileValue() },
  );

/** No JSON writer makes this, and JSON readers must bear it. */
const deep = 10_000;
const deepTexts = [
  '['.repeat(deep),
  `${'['.repeat(deep)}${']'.repeat(deep)}`,
  `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
];

/** Text of JSON near a sample, whole or broken. */
export const nearJson = (...samples: readonly unknown[]): fc.Arbitrary<string> => {
  const whole = near(...samples).map((value) => JSON.stringify(value));
  return fc.oneof(
    { weight: 40, arbitrary: whole },
    { weight: 6, arbitrary: broken(whole) },
    { weight: 4, arbitrary: hostileText() },
    { weight: 1, arbitrary: fc.constantFrom(...deepTexts) },
  );
};

/** Text near a sample, whole or broken. */
export const nearText = (...samples: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...samples) },
    { weight: 8, arbitrary: broken(fc.constantFrom(...samples)) },
    { weight: 3, arbitrary: hostileText() },
  );

/** Cut off, or with something foreign in the middle. */
const broken = (whole: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .record({
      text: whole,
      at: fc.nat(9_999),
      skip: fc.nat(20),
      foreign: fc.oneof(fc.constant(''), hostileText()),
      cut: fc.boolean(),
    })
    .map(({ text, at, skip, foreign, cut }) => {
      const from = text.length === 0 ? 0 : at % text.length;
      return text.slice(0, from) + foreign + (cut ? '' : text.slice(from + skip));
    });
