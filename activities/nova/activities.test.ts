import { countBySource, createAllowanceActivities, queuesBySource } from './activities.ts';
import { migrationRecord, testClock } from '../../test/fixtures/activities/nova.ts';

test('counts what copies, by source host', () => {
  const migrations = [
    migrationRecord({ sourceHost: 'a' }),
    migrationRecord({ sourceHost: 'a', type: 'migration', status: 'migrating' }),
    migrationRecord({ sourceHost: 'b', status: 'queued' }),
    migrationRecord({ sourceHost: 'b', type: 'migration', status: 'finished' }),
    migrationRecord({ sourceHost: 'c', type: 'evacuation' }),
    migrationRecord({ sourceHost: 'c', type: 'resize', status: 'migrating' }),
  ];
  expect(countBySource(migrations)).toEqual({ a: 2, b: 1 });
});

test('where Nova keeps live migrations waiting, and what it works at there', () => {
  const migrations = [
    migrationRecord({ sourceHost: 'a', status: 'queued' }),
    migrationRecord({ sourceHost: 'a', status: 'queued' }),
    migrationRecord({ sourceHost: 'a', status: 'running' }),
    migrationRecord({ sourceHost: 'a', status: 'post-migrating' }),
    // It has not reached nova-compute, or is no live one.
    migrationRecord({ sourceHost: 'a', status: 'accepted' }),
    migrationRecord({ sourceHost: 'a', type: 'migration', status: 'queued' }),
    migrationRecord({ sourceHost: 'a', status: 'running (post-copy)' }),
    migrationRecord({ sourceHost: 'b', status: 'preparing' }),
    migrationRecord({ sourceHost: 'c', status: 'queued' }),
  ];
  expect(queuesBySource(migrations)).toEqual({ a: { running: 3, waiting: 2 }, c: { running: 0, waiting: 1 } });
});

test('an observation says what the settings and the waits of this process know, and shows the limit in force', async () => {
  const shown: unknown[] = [];
  const pace = { bytesPerSecond: 100, migrations: 2, hosts: 2 };
  const activities = createAllowanceActivities({
    nova: {
      migrationsCopying: () => Promise.resolve([migrationRecord({ sourceHost: 'a', status: 'running' })]),
    } as never,
    limit: 8,
    leastLimit: 4,
    pace: { read: () => pace, observe: () => undefined },
    checkMs: 1,
    silentMs: 2,
    clock: testClock(),
    scope: () => ({ signal: new AbortController().signal }) as never,
    onObserved: (region, world) => void shown.push([region, world.limit]),
  });
  const world = { limit: 8, leastLimit: 4, checkMs: 1, silentMs: 2, inProgress: { a: 1 }, queues: {}, pace };
  expect(await activities.observeAllowance({ region: 'R' })).toEqual(world);
  expect(await activities.observeAllowance({ region: 'R', limitInForce: 6 })).toEqual(world);
  expect(shown).toEqual([
    ['R', 8],
    ['R', 6],
  ]);
});
