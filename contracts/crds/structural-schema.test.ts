import { z } from 'zod';
import { conditions, int64, quantity, time, withRules } from './schema.ts';
import { toStructuralSchema } from './structural-schema.ts';

const field = (schema: z.ZodType) => toStructuralSchema(z.object({ field: schema })).properties?.['field'];

const rows: [why: string, schema: z.ZodType, structural: object][] = [
  ['a description', z.string().describe('words'), { type: 'string', description: 'words' }],
  [
    'limits of a string',
    z.string().min(1).max(9).regex(/^a+$/),
    { type: 'string', minLength: 1, maxLength: 9, pattern: '^a+$' },
  ],
  ['an enum', z.enum(['', 'a']), { type: 'string', enum: ['', 'a'] }],
  ['a constant', z.literal('a'), { type: 'string', enum: ['a'] }],
  ['what may be null', z.string().nullable(), { type: 'string', nullable: true }],
  ['an integer without the bounds of JavaScript', z.int(), { type: 'integer' }],
  ['an int64 with a bound of its own', int64().min(0), { type: 'integer', format: 'int64', minimum: 0 }],
  [
    'an intersection is one object',
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
  ],
  [
    'a bound that is not met is a Boolean beside it',
    z.number().gt(3),
    { type: 'number', minimum: 3, exclusiveMinimum: true },
  ],
  ['a time without a pattern', time(), { type: 'string', format: 'date-time' }],
  [
    'a map without a schema of its names',
    z.record(z.string(), z.boolean()),
    { type: 'object', additionalProperties: { type: 'boolean' } },
  ],
  [
    'an object that keeps unknown fields',
    z.looseObject({}),
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  ],
  [
    'an object that refuses them prunes them',
    z.strictObject({ a: z.string() }),
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
  ['an empty object', z.object({}), { type: 'object' }],
  ['a default of an array', z.array(z.string()).default([]), { type: 'array', items: { type: 'string' }, default: [] }],
  [
    'rules, also of what is optional',
    withRules(z.string(), { cel: 'self != oldSelf', message: 'must change' }).optional(),
    { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != oldSelf', message: 'must change' }] },
  ],
];

test.each(rows)('%s', (_why, schema, structural) => {
  expect(field(schema)).toEqual(structural);
});

test('a quantity is int-or-string, in the one form that kube-apiserver takes', () => {
  expect(field(quantity())).toEqual({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: expect.stringContaining('[KMGTPE]i'),
  });
});

test('conditions are a map by type', () => {
  expect(field(conditions())).toMatchObject({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: { required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'] },
  });
});

test('required is what has no default or has one that is always filled in', () => {
  const schema = z.object({
    plain: z.string(),
    optional: z.string().optional(),
    filled: z.boolean().default(true),
    suggested: z.string().default('unknown').optional(),
  });
  expect(toStructuralSchema(schema)).toMatchObject({
    required: ['plain', 'filled'],
    properties: { filled: { default: true }, suggested: { default: 'unknown' } },
  });
  expect(schema.parse({ plain: '' })).toEqual({ plain: '', filled: true, suggested: 'unknown' });
});

const refused: [why: string, schema: z.ZodType, message: string][] = [
  ['a union', z.union([z.string(), z.boolean()]), '$.field: a structural schema has no unions'],
  ['an exclusion', z.never(), '$.field: a structural schema has no not'],
  ['a look-ahead', z.array(z.string().regex(/^(?!a)/)), '$.field[]: Go cannot match'],
  [
    'properties beside a map',
    z.object({ a: z.string() }).catchall(z.number()),
    '$.field: properties and additionalProperties',
  ],
];

test.each(refused)('%s is refused with its path', (_why, schema, message) => {
  expect(() => field(schema)).toThrow(message);
});

test('a schema that contains itself is refused', () => {
  const node = z.object({
    get next() {
      return node.optional();
    },
  });
  expect(() => field(node)).toThrow('Cycle detected');
});
