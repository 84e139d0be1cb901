import type { FoundLeftover } from '../../contracts/machine-safety/sweep.ts';
import { findLeftover } from './delete-leftover.ts';

const port: FoundLeftover = { kind: 'port', id: 'p-1', name: 'lost', createdMs: null, machineClass: 'small' };

test('a leftover is meant by its whole id', () => {
  expect(findLeftover('p-1', { leftovers: [port] })).toBe(port);
});

test.each([
  ['lost', { leftovers: [port] }],
  ['p', { leftovers: [port] }],
  ['p-1', null],
])('none is meant by %s', (id, report) => {
  expect(() => findLeftover(id, report)).toThrow(/none of the leftovers/u);
});
