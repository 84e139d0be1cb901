import { type Classified, leavesOf, problemsOf, rowOf, type World } from './check.ts';
import { by, type FieldRows, informational, notApplicable, refused, refusedBy } from './field.ts';

test('leaves are fields without any below, whatever is between', () => {
  expect(
    leavesOf({
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: {
          properties: {
            a: { type: 'string' },
            b: { items: { properties: { c: { type: 'integer' }, d: { items: { type: 'string' } } } } },
            e: { additionalProperties: { type: 'string' } },
            f: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
        status: { properties: { conditions: { items: { properties: { type: {} } } } } },
      },
    }),
  ).toEqual(['spec.a', 'spec.b[].c', 'spec.b[].d[]', 'spec.e{}', 'spec.f', 'status.conditions']);
});

test.each([
  ['spec.a.b', 'spec.a.b'],
  ['spec.a.c', 'spec.a.**'],
  ['spec.a.d.e', 'spec.a.**'],
  ['spec.z', 'spec.**'],
  ['status.z', undefined],
])('the row of %s', (leaf, key) => {
  const rows: FieldRows = { 'spec.**': refused, 'spec.a.**': refused, 'spec.a.b': refused };
  expect(rowOf(rows, leaf)?.key).toBe(key);
});

const modules: Readonly<Record<string, string>> = {
  'read.ts': '// ghost\n/** phantom */\nconst { size } = spec; const url = "http://x"; use(size.cpu);',
  'plan.ts': 'ErrNot',
};
const world: World = {
  moduleText: (path) => modules[path] ?? null,
  limits: 'none of `status.crypto`, or `status.a.b`',
};
const problems = (rows: FieldRows, more: Partial<Classified> = {}): string[] =>
  problemsOf({ kind: 'K', leaves: Object.keys(rows), rows, refused: {}, ...more }, world);

const rows: [why: string, found: string[], expected: string[]][] = [
  ['a field that is read', problems({ 'spec.size.cpu': by('read.ts') }), []],
  ['and decided on elsewhere', problems({ 'spec.size.cpu': by(['read.ts', 'plan.ts']) }), []],
  ['under another name', problems({ 'spec.resources.cpu': by('read.ts', 'cpu') }), []],
  ['a field without a row', problems({}, { leaves: ['spec.size.cpu'] }), ['K: spec.size.cpu is not classified']],
  [
    'a row without a field',
    problems({ 'spec.size': informational('') }, { leaves: [] }),
    ['K: spec.size is no field, or no longer one'],
  ],
  [
    'a field that is not read',
    problems({ 'spec.size.memory': by('read.ts') }),
    ['K: spec.size.memory is said to be in read.ts, where there is no memory'],
  ],
  [
    'a comment reads nothing',
    problems({ 'spec.ghost': by('read.ts'), 'spec.phantom': by('read.ts') }),
    [
      'K: spec.ghost is said to be in read.ts, where there is no ghost',
      'K: spec.phantom is said to be in read.ts, where there is no phantom',
    ],
  ],
  [
    'a module that is gone',
    problems({ 'spec.size.cpu': by('gone.ts'), 'spec.size': by(['read.ts', 'lost.ts']) }),
    ['K: spec.size.cpu names gone.ts, which does not exist', 'K: spec.size names lost.ts, which does not exist'],
  ],
  [
    'refused by the table',
    problems({ 'spec.a.b': refused, 'spec.c[].d': refused }, { refused: { a: row(), 'c[].d': row() } }),
    [],
  ],
  [
    'refused, and not in the table',
    problems({ 'spec.ab': refused }, { refused: { a: row() } }),
    [
      'K: spec.ab is said to be refused, and contracts/virtual-machine/refused-fields.ts has no row for it',
      'K: spec.a stands in contracts/virtual-machine/refused-fields.ts, and its row does not say refused',
    ],
  ],
  [
    'in the table, and said to be done',
    problems({ 'spec.size.cpu': by('read.ts') }, { refused: { 'size.cpu': row() } }),
    ['K: spec.size.cpu stands in contracts/virtual-machine/refused-fields.ts, and its row does not say refused'],
  ],
  [
    'refused elsewhere',
    problems({ 'spec.a.cpu': refusedBy('read.ts', 'ErrNot') }),
    ['K: spec.a.cpu is said to be in read.ts, where there is no ErrNot'],
  ],
  [
    'never written, and listed',
    problems({ 'status.crypto.keyID': notApplicable(''), 'status.a[].b': notApplicable('') }),
    [],
  ],
  [
    'never written, and not listed',
    problems({ 'status.a.c': notApplicable('') }),
    ['K: status.a.c is never written, and docs/limits.md does not list it'],
  ],
];

test.each(rows)('%s', (_why, found, expected) => {
  expect(found).toEqual(expected);
});

function row() {
  return { not: 'do that', harmless: [] };
}
