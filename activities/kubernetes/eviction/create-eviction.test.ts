import { readEvictionAnnotations } from '../../../contracts/eviction/annotations.ts';
import type { EvictionInput } from '../../../contracts/eviction/eviction.ts';
import { annotationsOf, namesFor } from './create-eviction.ts';

const names: [hypervisor: string, name: string][] = [
  ['node-1', 'node-1'],
  ['node-1.example.com', 'node-1.example.com'],
  ['Node_1', 'node-1'],
  ['a..b', 'a-b'],
  ['a-.b', 'a-b'],
  ['a.-b', 'a-b'],
  [`${'a'.repeat(239)}.b`, 'a'.repeat(239)],
];

test.each(names)('the Eviction of %s is called %s, or that with a suffix', (hypervisor, name) => {
  const [first = '', second = ''] = namesFor(hypervisor, 'run-1');
  expect(first).toBe(name);
  expect(second).toMatch(new RegExp(`^${name}-[0-9a-f]{8}$`, 'u'));
  for (const one of [first, second])
    expect(one).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/u);
});

test('a repeat chooses the same name, another run another one', () => {
  expect(namesFor('n', 'run-1')).toEqual(namesFor('n', 'run-1'));
  expect(namesFor('n', 'run-1')[1]).not.toBe(namesFor('n', 'run-2')[1]);
});

test('everything that the input asks for can be read from the annotations', () => {
  const input: EvictionInput = {
    hypervisor: 'n',
    reason: 'r',
    cause: 'decommission',
    deadline: '2026-01-31T12:00:00Z',
    reEnable: false,
    parallelism: 4,
    acceptObstacles: ['Vgpu', 'PciDevice/1'],
    consent: ['cold-migrate', 'force-complete'],
    mode: 'observe',
    startedBy: 'jane@example.com',
  };
  const { hypervisor: _, reason: __, acceptObstacles, ...asked } = input;
  const written = annotationsOf(input, 'run-1', new Date(0));
  expect(readEvictionAnnotations(written)).toEqual({
    asked: { ...asked, acceptedObstacles: acceptObstacles },
    problems: [],
  });
  expect(written['drover.dev/consent-by']).toBe('jane@example.com 1970-01-01T00:00:00.000Z');
});

test('what is not asked for is not written', () => {
  expect(annotationsOf({ hypervisor: 'n', reason: 'r', consent: [] }, 'run-1', new Date(0))).toEqual({
    'drover.dev/run-id': 'run-1',
  });
});
