import * as fc from 'fast-check';

import { migrationRecord, stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import { alignedDelayMs, createSharedRead, pollDelayMs, withKnownCounters } from './follow-migration.ts';
import type { NovaClient } from './types.ts';

const counters = { memoryTotalBytes: 100, memoryRemainingBytes: 40, diskTotalBytes: 0, diskRemainingBytes: 0 };
const none = { memoryTotalBytes: null, memoryRemainingBytes: null, diskTotalBytes: null, diskRemainingBytes: null };

test.each([
  ['a look with counters stands', { ...counters, memoryRemainingBytes: 20 }, counters, 20],
  ['one without keeps those observed before, so that progress does not flicker', none, counters, 40],
  ['before any were observed there are none', none, none, null],
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
    ['overdue for longer: it may never end', 60_000, -20_000, 1_000],
    ['overdue for very long: seldom', 400_000, -300_000, 5_000],
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

const signal = new AbortController().signal;

function openSharedRead(changed: ReturnType<typeof migrationRecord>[]) {
  const asked: string[] = [];
  const nova = stubClient<NovaClient>({
    migrationsChangedSince: async (time) => {
      asked.push(`since ${time}`);
      return changed;
    },
    migration: async (instanceId, id) => {
      asked.push(`${instanceId}/${id}`);
      return id === 9 ? null : migrationRecord({ id, instanceId, status: 'asked alone' });
    },
  });
  return { look: createSharedRead(nova, testClock()), asked };
}

const known = (id: number, createdAt = '2026-01-01T10:00:00Z') => migrationRecord({ id, instanceId: 'vm', createdAt });

test('one wait asks for its own', async () => {
  const { look, asked } = openSharedRead([]);
  await expect(look(known(1), signal)).resolves.toMatchObject({ id: 1, status: 'asked alone' });
  expect(asked).toEqual(['vm/1']);
});

test('several that are due together share a request, which reaches back to the oldest of them', async () => {
  const { look, asked } = openSharedRead([
    migrationRecord({ id: 1, status: 'completed' }),
    migrationRecord({ id: 2, status: 'running' }),
    migrationRecord({ id: 7, status: 'error' }),
  ]);
  const found = await Promise.all([look(known(1), signal), look(known(2, '2026-01-01T09:00:00.123456Z'), signal)]);
  expect(found.map((migration) => migration?.status)).toEqual(['completed', 'running']);
  expect(asked).toEqual(['since 2026-01-01T08:59:00.123Z']);
});

test('one that is older than ten minutes does not make the list longer', async () => {
  const { look, asked } = openSharedRead([migrationRecord({ id: 1, status: 'running' })]);
  // It is a quarter of an hour after the epoch.
  await Promise.all([look(known(1), signal), look(known(2, '1970-01-01T00:00:00Z'), signal)]);
  expect(asked).toEqual(['since 1970-01-01T00:05:40.005Z', 'vm/2']);
});

test('who is not in the answer asks alone, and may find that there is nothing', async () => {
  const { look, asked } = openSharedRead([migrationRecord({ id: 1, status: 'running' })]);
  const found = await Promise.all([look(known(1), signal), look(known(2), signal), look(known(9), signal)]);
  expect(found.map((migration) => migration?.status)).toEqual(['running', 'asked alone', undefined]);
  expect(asked.slice(1)).toEqual(['vm/2', 'vm/9']);
});

test('who is cancelled lets the others wait on', async () => {
  const { look } = openSharedRead([
    migrationRecord({ id: 1, status: 'running' }),
    migrationRecord({ id: 2, status: 'running' }),
  ]);
  const cancel = new AbortController();
  const [mine, theirs] = [look(known(1), cancel.signal), look(known(2), signal)];
  cancel.abort(new Error('cancelled'));
  await expect(mine).rejects.toThrow('cancelled');
  await expect(theirs).resolves.toMatchObject({ id: 2 });
});

test('the next moment has its own request', async () => {
  const { look, asked } = openSharedRead([migrationRecord({ id: 1 }), migrationRecord({ id: 2 })]);
  await Promise.all([look(known(1), signal), look(known(2), signal)]);
  await Promise.all([look(known(1), signal), look(known(2), signal)]);
  expect(asked).toHaveLength(2);
});
