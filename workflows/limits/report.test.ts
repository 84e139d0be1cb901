import { readReport } from './report.ts';

const good = { consumer: 'eviction/a', runId: 'r', host: 'a', want: 2, using: 1, deadline: null };

test.each([
  ['as consumers send it', good],
  ['with the answer it goes by', { ...good, acknowledged: { sequence: 3, allowance: 2 } }],
  ['that has acknowledged none', { ...good, acknowledged: null }],
  ['with a deadline', { ...good, deadline: '2027-01-01T00:00:00Z' }],
])('a report %s is taken', (_why, value) => {
  expect(readReport(value)).toEqual(value);
});

test('what a report does not need is left out of it', () => {
  const { deadline: _, ...short } = good;
  expect(readReport({ ...short, other: 1 })).toEqual(good);
});

test.each([
  ['nothing', null],
  ['a word', 'want'],
  ['no consumer', { ...good, consumer: '' }],
  ['no run', { ...good, runId: undefined }],
  ['no host', { ...good, host: 7 }],
  ['less than nothing', { ...good, want: -1 }],
  ['half a migration', { ...good, using: 0.5 }],
  ['no number', { ...good, want: '2' }],
  ['a deadline of another kind', { ...good, deadline: 5 }],
  ['an answer without its number', { ...good, acknowledged: { allowance: 1 } }],
])('%s is no report', (_why, value) => {
  expect(readReport(value)).toBeNull();
});
