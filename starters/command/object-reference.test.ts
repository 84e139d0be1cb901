import { InvalidArgumentError } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { objectOf, type ObjectReference, onlyOneNamed, parseNamespace, unknownObject } from './object-reference.ts';

const machineOf = (first: string, second: string | undefined, namespace: string | undefined): ObjectReference | null =>
  objectOf(['vm', 'pool'], [first, second], namespace)?.reference ?? null;

test.each<[why: string, words: [string, string | undefined, string | undefined], machine: ObjectReference | null]>([
  ['namespace and name', ['vm', 'team/web', undefined], { namespace: 'team', name: 'web' }],
  ['a name with dots', ['vm', 'team/web-1.example', undefined], { namespace: 'team', name: 'web-1.example' }],
  ['a name beside its namespace', ['vm', 'web', 'team'], { namespace: 'team', name: 'web' }],
  ['the namespace twice', ['vm', 'team/web', 'team'], { namespace: 'team', name: 'web' }],
  ['a name alone', ['vm', 'web', undefined], { namespace: null, name: 'web' }],
  ['a virtual machine that is called vm', ['vm', 'vm', undefined], { namespace: null, name: 'vm' }],
  ['a host that is called vm', ['vm', undefined, undefined], null],
  ['a host', ['node-1', undefined, undefined], null],
  ['a host and an instance', ['node-1', 'web', undefined], null],
])('%s', (_why, words, machine) => {
  expect(machineOf(...words)).toEqual(machine);
});

test.each<[why: string, words: [string, string | undefined, string | undefined], said: RegExp]>([
  ['a path', ['vm', 'a/b/c', undefined], /names no virtual machine/],
  ['no name', ['vm', 'team/', undefined], /names no virtual machine/],
  ['no namespace', ['vm', '/web', undefined], /names no virtual machine/],
  ['capitals', ['vm', 'team/Web', undefined], /names no virtual machine/],
  ['two namespaces', ['vm', 'team/web', 'other'], /not in the namespace other/],
  ['the namespace of a host', ['node-1', undefined, 'team'], /Hosts have no namespace/],
])('%s is bad usage', (_why, words, said) => {
  expect(() => machineOf(...words)).toThrow(
    expect.objectContaining({ exitCode: exitCodes.usage, message: expect.stringMatching(said) as string }),
  );
});

test('a pool is named as a virtual machine is', () => {
  expect(objectOf(['vm', 'pool'], ['pool', 'team/gpu'], undefined)).toEqual({
    noun: 'pool',
    reference: { namespace: 'team', name: 'gpu' },
  });
  expect(objectOf(['vm'], ['pool', 'team/gpu'], undefined)).toBeNull();
  expect(() => objectOf(['pool'], ['pool', 'a/b/c'], undefined)).toThrow(/names no agent pool/u);
  expect(unknownObject('pool', { namespace: 'team', name: 'gpu' }, [])).toMatchObject({
    message: 'There is no VsphereAgentPool team/gpu.',
    advice: '`drover pools` lists those there are.',
  });
});

test('a namespace is a label', () => {
  expect(parseNamespace('team-1')).toBe('team-1');
  for (const text of ['', 'Team', 'a.b', '-a', 'a'.repeat(64)])
    expect(() => parseNamespace(text)).toThrow(InvalidArgumentError);
});

const known = ['team/web-1', 'team/db', 'other/db', 'other/ci'].map((name) => ({
  namespace: name.split('/')[0] ?? '',
  name: name.split('/')[1] ?? '',
}));

test.each<[why: string, reference: ObjectReference, advice: string]>([
  [
    'in another namespace',
    { namespace: 'team', name: 'ci' },
    'Did you mean other/ci? `drover vms` lists those there are.',
  ],
  ['misspelt', { namespace: 'team', name: 'wep-1' }, 'Did you mean team/web-1? `drover vms` lists those there are.'],
  [
    'misspelt, of no namespace',
    { namespace: null, name: 'wep-1' },
    'Did you mean team/web-1? `drover vms` lists those there are.',
  ],
  ['misspelt as one elsewhere', { namespace: 'team', name: 'cii' }, '`drover vms` lists those there are.'],
  ['nothing like it', { namespace: 'team', name: 'elsewhere' }, '`drover vms` lists those there are.'],
])('one that is none: %s', (_why, reference, advice) => {
  expect(unknownObject('vm', reference, known, 'Nothing was changed.')).toMatchObject({
    exitCode: exitCodes.notFound,
    advice,
    message: expect.stringMatching(/^There is no VirtualMachine \S+\. Nothing was changed\.$/u),
  });
});

test('a name alone is enough where only one has it', () => {
  expect(onlyOneNamed('vm', 'ci', known)).toEqual({ namespace: 'other', name: 'ci' });
  expect(() => onlyOneNamed('vm', 'db', known)).toThrow(
    expect.objectContaining({
      exitCode: exitCodes.usage,
      message: 'There are 2 VirtualMachines db.',
      advice: 'Say which one: team/db, other/db.',
    }),
  );
  expect(() => onlyOneNamed('vm', 'cl', known)).toThrow(
    expect.objectContaining({
      exitCode: exitCodes.notFound,
      advice: 'Did you mean other/ci? `drover vms` lists those there are.',
    }),
  );
});
