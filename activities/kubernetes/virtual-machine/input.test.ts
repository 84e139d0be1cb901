import { readVirtualMachineInput } from './input.ts';

test.each([
  [{ namespace: 'team', name: 'web' }],
  [{ namespace: 'team-1', name: 'web.example.org', startedBy: 'somebody', mode: 'observe' }],
])('%j is taken as it is', (input) => {
  expect(readVirtualMachineInput(input)).toEqual(input);
});

const wrong: [input: unknown, words: RegExp][] = [
  [undefined, /^the input: /u],
  ['team/web', /^the input: /u],
  [{ name: 'web' }, /^namespace: give the namespace of the VirtualMachine/u],
  [{ namespace: 'team' }, /^name: give the name of the VirtualMachine/u],
  [{ namespace: 'te.am', name: '' }, /namespace: is no namespace.*; name: must not be empty/u],
  [{ namespace: 'team', name: 'Web 1' }, /name: is no name of a VirtualMachine/u],
  [{ namespace: 'team', name: '../x' }, /name: is no name/u],
  [{ namespace: 'team', name: 'web', mode: 'off' }, /mode: /u],
  [
    { namespace: 'team', name: 'web', force: true },
    /force: unknown field; known are namespace, name, startedBy, mode/u,
  ],
];
test.each(wrong)('%j is refused in words', (input, words) => {
  expect(() => readVirtualMachineInput(input)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringMatching(words) }),
  );
});
