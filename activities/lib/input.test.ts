import {
  readEvictionInput,
  readHypervisorInput,
  readLibraryInput,
  readResourcePolicyInput,
  readVirtualMachineInput,
} from './input.ts';

describe('of an eviction', () => {
  test('everything that may be said is taken as it is', () => {
    const input = {
      hypervisor: 'node-1.example.com',
      reason: 'new firmware',
      cause: 'rolling-update',
      deadline: '2026-01-31T12:00:00+01:00',
      reEnable: false,
      parallelism: 64,
      acceptObstacles: ['CapacityShort', 'PciDevice/4f0c'],
      consent: ['cold-migrate'],
      mode: 'observe',
      startedBy: 'jane',
    };
    expect(readEvictionInput(input)).toEqual(input);
    expect(readEvictionInput({ hypervisor: 'n' })).toEqual({ hypervisor: 'n' });
  });

  const refused: [given: unknown, problem: string][] = [
    [undefined, 'the input: Invalid input: expected object, received undefined'],
    ['node-1', 'the input: Invalid input: expected object, received string'],
    [{}, 'hypervisor: give the name of the hypervisor'],
    [{ hypervisor: '' }, 'hypervisor: must not be empty'],
    [{ hypervisor: 'a/b' }, 'hypervisor: is no host name'],
    [{ hypervisor: 'a b' }, 'hypervisor: is no host name'],
    [{ hypervisor: 'a'.repeat(254) }, 'hypervisor: is longer than a host name can be'],
    [{ hypervisor: 'n', reason: '' }, 'reason: must not be empty'],
    [{ hypervisor: 'n', reason: ' \n' }, 'reason: must not be empty'],
    [{ hypervisor: 'n', reason: 7 }, 'reason: Invalid input: expected string, received number'],
    [{ hypervisor: 'n', cause: 'maintenance' }, 'cause: Invalid option'],
    [{ hypervisor: 'n', deadline: 'tomorrow' }, 'deadline: must be an RFC 3339 time'],
    [{ hypervisor: 'n', reEnable: 'yes' }, 'reEnable: Invalid input: expected boolean, received string'],
    [{ hypervisor: 'n', parallelism: 0 }, 'parallelism: must be from 1 to 64'],
    [{ hypervisor: 'n', parallelism: 1e9 }, 'parallelism: must be from 1 to 64'],
    [{ hypervisor: 'n', parallelism: 1.5 }, 'parallelism: Invalid input: expected int, received number'],
    [{ hypervisor: 'n', acceptObstacles: ['All'], startedBy: 'j' }, 'acceptObstacles.0: is no obstacle id'],
    [{ hypervisor: 'n', consent: ['stop'], startedBy: 'j' }, 'consent.0: Invalid option'],
    [{ hypervisor: 'n', consent: ['cold-migrate'] }, 'startedBy: say who consents'],
    [{ hypervisor: 'n', mode: 'off' }, 'mode: Invalid option'],
    [{ hypervisor: 'n', hypervisors: 'm' }, 'hypervisors: unknown field; known are hypervisor, reason, cause'],
  ];

  test.each(refused)('%j is refused', (given, problem) => {
    expect(() => readEvictionInput(given)).toThrow(
      expect.objectContaining({ type: 'InvalidInput', nonRetryable: true, message: expect.stringContaining(problem) }),
    );
  });

  test('every problem is named at once', () => {
    expect(() => readEvictionInput({ hypervisor: '', parallelism: 0, colour: 'red' })).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/hypervisor: .*parallelism: .*colour: /u) }),
    );
  });

  test('of many unknown fields the first are named', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field-${index}`, index]));
    expect(() => readEvictionInput({ hypervisor: 'n', ...many })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/field-0, field-1, .*: unknown field; known are hypervisor/u),
      }),
    );
  });
});

describe('of a hypervisor’s run', () => {
  test.each([[{ hypervisor: 'node-1' }], [{ hypervisor: 'node-1.example.org', startedBy: 'jane', mode: 'observe' }]])(
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
});

describe('of a virtual machine’s run', () => {
  test.each([
    [{ namespace: 'team', name: 'web' }],
    [{ namespace: 'team-1', name: 'web.example.org', startedBy: 'jane', mode: 'observe' }],
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
});

describe('of a content library’s run', () => {
  test.each([
    [{ library: 'images' }, { library: 'images' }],
    [
      { library: 'images', namespace: 'team-a' },
      { library: 'images', namespace: 'team-a' },
    ],
  ])('%j', (input, expected) => expect(readLibraryInput(input)).toEqual(expected));

  test.each([
    [undefined, /expected object/u],
    [{}, /library: give the name or the id/u],
    [{ library: '' }, /library: must not be empty/u],
    [{ library: 'images', namespace: 'Team' }, /namespace: is no namespace/u],
    [{ library: 'images', vcenter: 'prod' }, /vcenter: unknown field; known are library, namespace/u],
  ])('%j is refused', (input, message) => {
    expect(() => readLibraryInput(input)).toThrow(
      expect.objectContaining({ type: 'InvalidInput', message: expect.stringMatching(message) }),
    );
  });
});

test('of a resource policy’s run', () => {
  const input = { namespace: 'team', name: 'gold' };
  expect(readResourcePolicyInput(input)).toEqual(input);
  expect(() => readResourcePolicyInput({ ...input, mode: 'act' })).toThrow(
    /mode: unknown field; known are namespace, name/u,
  );
});
