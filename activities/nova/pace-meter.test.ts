import type { Migration } from '../../contracts/eviction/instance.ts';
import { createPaceMeter, meterPace } from './pace-meter.ts';
import type { NovaClient } from './types.ts';

const migration = (id: number, host: string, remaining: number | null, more: Partial<Migration> = {}): Migration => ({
  id,
  instanceId: `server-${id}`,
  type: 'live-migration',
  status: 'running',
  sourceHost: host,
  targetHost: 'node-9',
  memoryTotalBytes: 100_000,
  memoryRemainingBytes: remaining,
  diskTotalBytes: null,
  diskRemainingBytes: null,
  createdAt: '2026-01-01T00:00:00Z',
  ...more,
});

function metered() {
  const clock = { nowMs: 0, monotonicMs: (): number => clock.nowMs };
  return { clock, pace: createPaceMeter(clock) };
}

test('of three copies, that in the middle', () => {
  const { clock, pace } = metered();
  const rates = { 1: 100, 2: 300, 3: 200 } as const;
  for (clock.nowMs = 0; clock.nowMs <= 10_000; clock.nowMs += 2_000)
    for (const [id, rate] of Object.entries(rates))
      pace.observe(migration(Number(id), id === '1' ? 'node-1' : 'node-2', 50_000 - (rate * clock.nowMs) / 1_000));
  expect(pace.read()).toEqual({ bytesPerSecond: 200, migrations: 3, hosts: 2 });
  // To read takes nothing away.
  expect(pace.read()).toMatchObject({ bytesPerSecond: 200 });
});

test('pages that are sent again and again are counted, though what remains gets no less', () => {
  const { clock, pace } = metered();
  pace.observe(migration(1, 'node-1', 5_000, { memoryProcessedBytes: 1_000 }));
  clock.nowMs = 10_000;
  pace.observe(migration(1, 'node-1', 6_000, { memoryProcessedBytes: 4_000 }));
  expect(pace.read()).toEqual({ bytesPerSecond: 300, migrations: 1, hosts: 1 });
});

test.each<[string, Partial<Migration>]>([
  ['has not begun to copy', { status: 'preparing' }],
  ['is cold', { type: 'migration' }],
  ['was read without counters', { memoryRemainingBytes: null }],
])('one that %s says nothing', (_why, more) => {
  const { clock, pace } = metered();
  pace.observe(migration(1, 'node-1', 5_000, more));
  clock.nowMs = 10_000;
  pace.observe(migration(1, 'node-1', 1_000, more));
  expect(pace.read()).toBeNull();
});

test('a few seconds say nothing, and what is a minute old is forgotten', () => {
  const { clock, pace } = metered();
  pace.observe(migration(1, 'node-1', 5_000));
  clock.nowMs = 4_000;
  pace.observe(migration(1, 'node-1', 1_000));
  expect(pace.read()).toBeNull();
  clock.nowMs = 62_000;
  pace.observe(migration(1, 'node-1', 500));
  expect(pace.read()).toMatchObject({ bytesPerSecond: 9 });
  clock.nowMs = 200_000;
  expect(pace.read()).toBeNull();
});

test('counted reads of a client are metered, and answered as they are', async () => {
  const { clock, pace } = metered();
  let remaining: number | null = 5_000;
  const nova = meterPace(
    {
      serverMigration: (_id: string, migrationId: number) =>
        Promise.resolve(remaining === null ? null : migration(migrationId, 'node-1', remaining)),
    } as unknown as NovaClient,
    pace,
  );
  const never = new AbortController().signal;
  expect(await nova.serverMigration('server-1', 1, never)).toMatchObject({ memoryRemainingBytes: 5_000 });
  [clock.nowMs, remaining] = [10_000, 1_000];
  await nova.serverMigration('server-1', 1, never);
  remaining = null;
  expect(await nova.serverMigration('server-1', 1, never)).toBeNull();
  expect(pace.read()).toEqual({ bytesPerSecond: 400, migrations: 1, hosts: 1 });
});
