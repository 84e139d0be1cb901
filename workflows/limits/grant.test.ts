import { readGrant } from './grant.ts';

const granted = { sequence: 2, allowance: 1, limit: 8, consumers: 3 };

test('a grant is taken over, without what else came along', () => {
  expect(readGrant({ ...granted, note: 'x' })).toEqual(granted);
});

test('that of a turn says which', () => {
  expect(readGrant({ ...granted, kind: 'creates' })).toEqual({ ...granted, kind: 'creates' });
  expect(readGrant({ ...granted, kind: 'resizes' })).toEqual(granted);
});

test.each([
  undefined,
  null,
  7,
  'all',
  [],
  {},
  { ...granted, allowance: -1 },
  { ...granted, sequence: '2' },
  { ...granted, limit: Infinity },
  { sequence: 1, allowance: 1 },
])('%j is none', (value) => {
  expect(readGrant(value)).toBeNull();
});
