import { readAbandonment, readConfirmation, readGuestsFailing } from './messages.ts';

test('a confirmation is taken as it was typed, without spaces around it', () => {
  expect(readConfirmation({ incident: 'node-1/1', bootId: ' b ', person: 'jane' })).toEqual({
    incident: 'node-1/1',
    bootId: 'b',
    person: 'jane',
  });
});

test.each([
  undefined,
  null,
  'yes',
  [],
  {},
  { incident: 'i', bootId: 'b' },
  { incident: 'i', bootId: 'b', person: ' ' },
  { incident: 'i', bootId: 1, person: 'p' },
  { incident: 'i', bootId: 'b', person: 'x'.repeat(301) },
  { incident: 'i', bootId: 'b', person: 'p', force: true },
])('%j is none', (argument) => {
  expect(() => readConfirmation(argument)).toThrow(expect.objectContaining({ type: 'InvalidInput' }));
});

const whole = { incident: 'node-1/1', instances: ['web-3'], person: 'jane' };
test.each<[what: string, given: unknown]>([
  ['nothing', undefined],
  ['a text', 'web-3'],
  ['no servers', { ...whole, instances: [] }],
  ['servers that are no list', { ...whole, instances: 'web-3' }],
  ['a server without a name', { ...whole, instances: ['web-3', ' '] }],
  ['a server that is no text', { ...whole, instances: [3] }],
  ['more servers than a host has', { ...whole, instances: Array.from({ length: 1_001 }, (_, index) => `vm-${index}`) }],
  ['no person', { ...whole, person: ' ' }],
  ['no incident', { instances: ['web-3'], person: 'jane' }],
  ['something else besides', { ...whole, all: true }],
])('giving up disks is refused with %s', (_what, given) => {
  expect(() => readAbandonment(given)).toThrow(/Giving up disks is/u);
});

test('giving up disks names each server once', () => {
  expect(readAbandonment({ incident: ' node-1/1 ', instances: ['a', 'b', 'a'], person: ' jane ' })).toEqual({
    incident: 'node-1/1',
    instances: ['a', 'b'],
    person: 'jane',
  });
});

test('a signal about guests is a sentence; anything else is none', () => {
  expect(readGuestsFailing({ message: '2 guests failed' })).toBe('2 guests failed');
  expect(readGuestsFailing({ message: 'x'.repeat(5_000) })).toHaveLength(2_000);
  for (const odd of [undefined, null, 'x', 3, {}, { message: '' }, { message: 3 }])
    expect(readGuestsFailing(odd)).toBeNull();
});
