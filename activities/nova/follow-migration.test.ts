import * as fc from 'fast-check';

import { migrationRecord } from '../../test/fixtures/activities/nova.ts';
import { alignedDelayMs, pollDelayMs, withKnownCounters } from './follow-migration.ts';

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

describe('poll delay', () => {
  const poll = { minMs: 250, maxMs: 5_000 };

  type Row = [why: string, runningMs: number | null, timeLeftMs: number | null, delayMs: number];
  const rows: Row[] = [
    ['not running yet: it may fail at any moment', null, null, 250],
    ['just begun', 100, null, 250],
    ['no estimate: a twentieth of what has passed', 20_000, null, 1_000],
    ['no estimate, long: seldom', 3_600_000, null, 5_000],
    ['far from the end: seldom', 60_000, 600_000, 5_000],
    ['a quarter of the time left', 10_000, 4_000, 1_000],
    ['a first estimate is not trusted for long', 1_000, 60_000, 500],
    ['near the end', 10_000, 300, 250],
    ['overdue', 10_000, -5_000, 250],
  ];

  test.each(rows)('%s', (_why, runningMs, timeLeftMs, delayMs) => {
    expect(pollDelayMs(runningMs, timeLeftMs, poll)).toBe(delayMs);
  });

  test('a wake-up lies on the grid, ahead, and near the wished time', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 1_000 }),
        (nowMs, stretch, gridMs) => {
          const delayMs = gridMs + stretch;
          const aligned = alignedDelayMs(nowMs, delayMs, gridMs);
          expect(aligned).toBeGreaterThan(0);
          expect(Math.abs(aligned - delayMs)).toBeLessThanOrEqual(gridMs / 2);
          expect((nowMs + aligned) % gridMs).toBe(0);
        },
      ),
    );
  });
});
