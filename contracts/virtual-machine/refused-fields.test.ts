import { definitions } from '../crds/definitions.ts';
import { type StructuralSchema, toStructuralSchema } from '../crds/structural-schema.ts';
import { refuse } from '../crds/refuse.ts';
import { refusedFields, refusedIn } from './refused-fields.ts';

const asked: [why: string, spec: object, fields: string[]][] = [
  ['nothing', {}, []],
  ['what is done', { className: 'small', advanced: { bootDiskCapacity: '10Gi' } }, []],
  ['a key of its own', { crypto: { encryptionClassName: 'c' } }, ['crypto.encryptionClassName']],
  ['the defaults of the definition', { crypto: { useDefaultKeyProvider: true, vTPMMode: 'New' } }, []],
  ['another value than the default', { crypto: { vTPMMode: 'Clone' } }, ['crypto.vTPMMode']],
  ['an object without anything in it', { affinity: { vmAffinity: {} } }, []],
  [
    'something deep in an object',
    { affinity: { vmAffinity: { requiredDuringSchedulingPreferredDuringExecution: [{ topologyKey: 'k' }] } } },
    ['affinity'],
  ],
  ['an empty list', { affinity: { vmAffinity: { requiredDuringSchedulingPreferredDuringExecution: [] } } }, []],
  [
    'one item of several',
    { network: { interfaces: [{ name: 'eth0' }, { name: 'eth1', ipamModes: ['DHCPv4'] }] } },
    ['network.interfaces[].ipamModes'],
  ],
  ['a switch that is as it is by default', { volumes: [{ name: 'a', removable: true }] }, []],
  ['a switch that is not', { volumes: [{ name: 'a' }, { name: 'b', removable: false }] }, ['volumes[].removable']],
  ['what is no list', { volumes: {} }, []],
  ['null', { crypto: null, hardware: { cdrom: null } }, []],
];

test.each(asked)('what is refused of %s', (_why, spec, fields) => {
  expect(refusedIn(spec).map((sentence) => sentence.split(':')[0])).toEqual(fields.map((field) => `spec.${field}`));
});

test('a sentence names the field and what is not done', () => {
  expect(refusedIn({ crypto: { encryptionClassName: 'c' } })).toEqual([
    'spec.crypto.encryptionClassName: drover does not encrypt VMs',
  ]);
});

const specOf = (kind: string) =>
  toStructuralSchema(definitions.find((one) => one.kind === kind)!.schema).properties?.['spec'] ?? {};

test('every field of the tables is one of the definition', () => {
  expect(() => refuse(specOf('VirtualMachine'), refusedFields)).not.toThrow();
  expect(() => refuse(specOf('VirtualMachine'), { 'advanced.wings': { not: 'fly', harmless: [] } })).toThrow(
    'There is no field advanced.wings',
  );
});

test.each([
  ['a text', { type: 'string' }, [], 'self == ""'],
  ['a text with a default', { type: 'string' }, ['New'], 'self == "" || self == "New"'],
  ['one of some words', { type: 'string', enum: ['a', 'New'] }, ['New'], 'self == "New"'],
  ['one of some words without a default', { type: 'string', enum: ['a'] }, [], 'false'],
  ['a switch', { type: 'boolean' }, [false], 'self == false'],
  ['a number', { type: 'integer' }, [], 'false'],
  ['a list', { type: 'array', items: { type: 'string' } }, [], 'size(self) == 0'],
  ['an object', { type: 'object', properties: { a: {}, b: {} } }, [], '!has(self.a) && !has(self.b)'],
] as const)('the rule on %s stands on the field itself, after those that are there', (_why, field, harmless, rule) => {
  const before = { rule: 'true', message: 'before' };
  const schema = { properties: { a: { ...field, 'x-kubernetes-validations': [before] } as StructuralSchema } };
  expect(refuse(schema, { a: { not: 'do that', harmless } }).properties?.['a']).toMatchObject({
    'x-kubernetes-validations': [before, { rule, message: 'drover does not do that' }],
  });
});

test('what a rule on some words costs is bounded', () => {
  const schema = { properties: { a: { type: 'string', enum: ['None', 'MultiWriter'] } } };
  expect(refuse(schema, { a: { not: 'share', harmless: ['None'] } }).properties?.['a']).toMatchObject({
    maxLength: 11,
  });
});

test('and in each item of a list', () => {
  const schema = { properties: { a: { type: 'array', items: { properties: { b: { type: 'integer' } } } } } };
  expect(refuse(schema, { 'a[].b': { not: 'do that', harmless: [0] } })).toMatchObject({
    properties: { a: { items: { properties: { b: { 'x-kubernetes-validations': [{ rule: 'self == 0' }] } } } } },
  });
});
