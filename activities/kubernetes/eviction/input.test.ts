import { isBare, parseEvictionInput } from './input.ts';

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
  expect(parseEvictionInput(input)).toEqual(input);
  expect(parseEvictionInput({ hypervisor: 'n' })).toEqual({ hypervisor: 'n' });
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
  expect(() => parseEvictionInput(given)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', nonRetryable: true, message: expect.stringContaining(problem) }),
  );
});

test('every problem is named at once', () => {
  expect(() => parseEvictionInput({ hypervisor: '', parallelism: 0, colour: 'red' })).toThrow(
    expect.objectContaining({ message: expect.stringMatching(/hypervisor: .*parallelism: .*colour: /u) }),
  );
});

test('of many unknown fields the first are named', () => {
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field-${index}`, index]));
  expect(() => parseEvictionInput({ hypervisor: 'n', ...many })).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/field-0, field-1, .*: unknown field; known are hypervisor/u),
    }),
  );
});

test('only the name alone comes from the bridge', () => {
  expect(isBare({ hypervisor: 'n' })).toBe(true);
  expect(isBare({ hypervisor: 'n', startedBy: 'jane' })).toBe(false);
});
