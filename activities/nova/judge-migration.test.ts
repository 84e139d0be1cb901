import * as fc from 'fast-check';

import type { StuckLimits } from '../../contracts/eviction/eviction.ts';
import type { Migration } from '../../contracts/eviction/instance.ts';
import { endedMigrationStatuses } from '../../contracts/eviction/instance.ts';
import type { MigrationWatch, Stuck } from './judge-migration.ts';
import { beginWatch, estimateTimeLeftMs, judgeMigration, watchMigration } from './judge-migration.ts';

const limits: StuckLimits = { msPerGiB: 150_000, floorMs: 300_000, noProgressMs: 150_000, startMs: 600_000 };

const migration = (status: string, remaining: number | null = null): Migration => ({
  id: 1,
  instanceId: 'a',
  type: 'live-migration',
  status,
  sourceHost: 'source',
  targetHost: 'target',
  memoryTotalBytes: remaining === null ? null : 1_000,
  memoryRemainingBytes: remaining,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: '2026-01-01T00:00:00Z',
});

/** A look at `seconds` after the wait began. */
type Look = [seconds: number, status: string, remaining?: number];

function judge(looks: Look[], gibibytes: number): Stuck | null {
  let watch = beginWatch(0);
  let verdict: Stuck | null = null;
  for (const [seconds, status, remaining] of looks) {
    const observed = migration(status, remaining ?? null);
    watch = watchMigration(watch, observed, seconds * 1_000);
    verdict = judgeMigration(watch, observed, gibibytes, limits, seconds * 1_000);
  }
  return verdict;
}

type Row = [why: string, looks: Look[], gibibytes: number, verdict: Stuck | null];
const rows: Row[] = [
  [
    'accepted is no progress but in time',
    [
      [0, 'accepted'],
      [599, 'accepted'],
    ],
    1,
    null,
  ],
  [
    'the start has its own deadline',
    [
      [0, 'accepted'],
      [600, 'queued'],
    ],
    1,
    'NotStarted',
  ],
  [
    'preparing counts as the start',
    [
      [0, 'preparing'],
      [600, 'preparing'],
    ],
    1,
    'NotStarted',
  ],
  [
    'so does a cold one that is being prepared',
    [
      [0, 'pre-migrating'],
      [600, 'pre-migrating'],
    ],
    1,
    'NotStarted',
  ],
  [
    'the clock starts at running, not at the request',
    [
      [0, 'queued'],
      [500, 'running', 900],
      [640, 'running', 900],
    ],
    1,
    null,
  ],
  [
    'a small server has the floor',
    [
      [0, 'running'],
      [299, 'running'],
    ],
    1,
    null,
  ],
  [
    'and no more',
    [
      [0, 'running'],
      [300, 'running'],
    ],
    1,
    'TooLong',
  ],
  [
    'a large one has its time per GiB',
    [
      [0, 'running', 900],
      [300, 'running', 800],
      [449, 'running', 700],
    ],
    3,
    null,
  ],
  [
    'and no more either',
    [
      [0, 'running', 900],
      [300, 'running', 800],
      [450, 'running', 700],
    ],
    3,
    'TooLong',
  ],
  [
    'no new low of what remains',
    [
      [0, 'running', 900],
      [150, 'running', 900],
    ],
    64,
    'NoProgress',
  ],
  [
    'up and down again is no progress',
    [
      [0, 'running', 500],
      [50, 'running', 900],
      [100, 'running', 501],
      [150, 'running', 500],
    ],
    64,
    'NoProgress',
  ],
  [
    'a new low starts the clock again',
    [
      [0, 'running', 900],
      [149, 'running', 899],
      [298, 'running', 899],
    ],
    64,
    null,
  ],
  [
    'a look without counters is no sign of trouble',
    [
      [0, 'running', 900],
      [100, 'running', 800],
      [200, 'running'],
    ],
    64,
    null,
  ],
  [
    'nor does it hide trouble',
    [
      [0, 'running', 900],
      [150, 'running'],
    ],
    64,
    'NoProgress',
  ],
  [
    'without counters only the whole time counts',
    [
      [0, 'running'],
      [9_000, 'running'],
    ],
    64,
    null,
  ],
  [
    'after the switch-over nothing is copied',
    [
      [0, 'running', 10],
      [200, 'post-migrating', 10],
    ],
    64,
    null,
  ],
  [
    'but it must end',
    [
      [0, 'running', 10],
      [300, 'post-migrating', 10],
    ],
    1,
    'TooLong',
  ],
  [
    'nor is a new low found in post-copy',
    [
      [0, 'running', 10],
      [200, 'running (post-copy)', 10],
    ],
    64,
    null,
  ],
  [
    'which must end, too',
    [
      [0, 'running', 10],
      [300, 'running (post-copy)', 10],
    ],
    1,
    'TooLong',
  ],
  [
    'a cold one that copies',
    [
      [0, 'migrating'],
      [300, 'migrating'],
    ],
    1,
    'TooLong',
  ],
  [
    'finished waits for its confirmation, not for the copy',
    [
      [0, 'migrating'],
      [9_000, 'finished'],
    ],
    1,
    null,
  ],
  ...endedMigrationStatuses.map((status): Row => [
    `${status} is over`,
    [
      [0, 'running', 900],
      [9_000, status],
    ],
    1,
    null,
  ]),
];

test.each(rows)('%s', (_why, looks, gibibytes, verdict) => {
  expect(judge(looks, gibibytes)).toBe(verdict);
});

const anyStatus = fc.constantFrom(
  'accepted',
  'queued',
  'preparing',
  'running',
  'running (post-copy)',
  'post-migrating',
);
const anyLook = fc.record({
  status: anyStatus,
  remaining: fc.option(fc.nat(1_000), { nil: null }),
  afterMs: fc.integer({ min: 1, max: 400_000 }),
});
const anyLooks = fc.array(anyLook, { minLength: 1, maxLength: 30 });

/** Every verdict on the way, each with the watch it came from. */
function follow(
  looks: { status: string; remaining: number | null; afterMs: number }[],
  carry: (watch: MigrationWatch) => MigrationWatch = (watch) => watch,
) {
  let nowMs = 0;
  let watch = beginWatch(nowMs);
  return looks.map(({ status, remaining, afterMs }) => {
    nowMs += afterMs;
    const observed = migration(status, remaining);
    watch = carry(watchMigration(watch, observed, nowMs));
    return { nowMs, watch, observed, verdict: judgeMigration(watch, observed, 4, limits, nowMs) };
  });
}

test('nothing is stuck before its shortest limit', () => {
  fc.assert(
    fc.property(anyLooks, (looks) => {
      for (const { nowMs, verdict } of follow(looks))
        if (nowMs < Math.min(limits.noProgressMs, limits.startMs, limits.floorMs)) expect(verdict).toBeNull();
    }),
  );
});

test('what is stuck stays stuck while nothing changes', () => {
  fc.assert(
    fc.property(anyLooks, fc.nat(1_000_000), (looks, laterMs) => {
      const stuck = follow(looks).find(({ verdict }) => verdict !== null);
      if (stuck === undefined) return;
      const laterWatch = watchMigration(stuck.watch, stuck.observed, stuck.nowMs + laterMs);
      expect(judgeMigration(laterWatch, stuck.observed, 4, limits, stuck.nowMs + laterMs)).not.toBeNull();
    }),
  );
});

test('every migration in progress is judged in the end', () => {
  fc.assert(
    fc.property(anyLooks, (looks) => {
      const last = follow(looks).at(-1);
      expect(last).toBeDefined();
      if (last !== undefined)
        expect(
          judgeMigration(last.watch, last.observed, 4, limits, last.nowMs + limits.startMs + 4 * limits.msPerGiB),
        ).not.toBeNull();
    }),
  );
});

test('the watch survives being written down, as heartbeat details are', () => {
  fc.assert(
    fc.property(anyLooks, (looks) => {
      const written = follow(looks, (watch) => JSON.parse(JSON.stringify(watch)) as MigrationWatch);
      expect(written.map(({ verdict }) => verdict)).toEqual(follow(looks).map(({ verdict }) => verdict));
    }),
  );
});

test.each([
  ['half done in 5 s', 5_000, 500, 5_000, 5_000],
  ['counters get old', 5_000, 500, 7_000, 3_000],
  ['overdue', 5_000, 500, 11_000, -1_000],
])('the time left: %s', (_why, lowAtMs, remaining, nowMs, leftMs) => {
  const running = watchMigration(beginWatch(0), migration('running', 1_000), 0);
  expect(estimateTimeLeftMs(watchMigration(running, migration('running', remaining), lowAtMs), nowMs)).toBe(leftMs);
  expect(estimateTimeLeftMs(running, nowMs)).toBeNull();
});
