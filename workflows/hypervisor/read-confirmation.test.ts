import { readConfirmation } from './read-confirmation.ts';

test('a confirmation is taken as it was typed, without spaces around it', () => {
  expect(readConfirmation({ incident: 'node-1/1', bootId: ' b ', person: 'jane' })).toEqual({ incident: 'node-1/1', bootId: 'b', person: 'jane' });
});

test.each([undefined, null, 'yes', [], {}, { incident: 'i', bootId: 'b' }, { incident: 'i', bootId: 'b', person: ' ' }, { incident: 'i', bootId: 1, person: 'p' }, { incident: 'i', bootId: 'b', person: 'x'.repeat(301) }, { incident: 'i', bootId: 'b', person: 'p', force: true }])(
  '%j is none',
  (argument) => {
    expect(() => readConfirmation(argument)).toThrow(expect.objectContaining({ type: 'InvalidInput' }));
  },
);
