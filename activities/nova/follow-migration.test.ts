import { withKnownCounters } from './follow-migration.ts';
import { migrationRecord } from '../../test/fixtures/activities/nova.ts';

const counters = { memoryTotalBytes: 100, memoryRemainingBytes: 40, diskTotalBytes: 0, diskRemainingBytes: 0 };
const none = { memoryTotalBytes: null, memoryRemainingBytes: null, diskTotalBytes: null, diskRemainingBytes: null };

test.each([
  ['a look with counters stands', { ...counters, memoryRemainingBytes: 20 }, counters, 20],
  ['one without keeps those seen before, so that progress does not flicker', none, counters, 40],
  ['before any were seen there are none', none, none, null],
])('%s', (_why, now, before, remaining) => {
  expect(withKnownCounters(migrationRecord(now), migrationRecord(before)).memoryRemainingBytes).toBe(remaining);
  expect(withKnownCounters(migrationRecord(counters), null)).toMatchObject(counters);
});
