import { readHypervisorInput } from './hypervisor-input.ts';

test.each([[{ hypervisor: 'node-1' }], [{ hypervisor: 'node-1.example.org', startedBy: 'somebody', mode: 'observe' }]])(
  '%j is taken as it is',
  (input) => {
    expect(readHypervisorInput(input)).toEqual(input);
  },
);

const wrong: [input: unknown, words: RegExp][] = [
  [undefined, /^the input: /u],
  ['node-1', /^the input: /u],
  [{}, /^hypervisor: give the name of the hypervisor/u],
  [{ hypervisor: '' }, /hypervisor: must not be empty/u],
  [{ hypervisor: 'Node 1' }, /hypervisor: is no name of a Hypervisor/u],
  [{ hypervisor: 'node-1', mode: 'off' }, /mode: /u],
  [{ hypervisor: 'node-1', force: true }, /force: unknown field; known are hypervisor, startedBy, mode/u],
];
test.each(wrong)('%j is refused in words', (input, words) => {
  expect(() => readHypervisorInput(input)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringMatching(words) }),
  );
});
