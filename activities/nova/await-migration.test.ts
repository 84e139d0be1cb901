import type { Migration } from '../../contracts/eviction/instance.ts';
import type { MigrationReport } from '../../contracts/eviction/migrate-instance.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { awaitMigration } from './await-migration.ts';
import { abortMigration, forceCompleteMigration } from './end-migration.ts';
import { startMigration } from './start-migration.ts';
import {
  instanceDetail,
  migrationRecord,
  stubClient,
  testClock,
  testScope,
} from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail, NovaClient } from './types.ts';

/** What the lab's Nova does not do on demand. */

const subject = { instanceId: 'a', sourceHost: 'node-1', eviction: { name: 'node-1', uid: 'uid' }, attempt: 1 };
const request = {
  ...subject,
  migrationId: 1,
  gibibytes: 1,
  stuck: { msPerGiB: 150_000, floorMs: 300_000, noProgressMs: 150_000, startMs: 600_000 },
  poll: { minMs: 250, maxMs: 2_000 },
};

function openTools(nova: Partial<NovaClient>, scope = testScope()) {
  const reports: MigrationReport[] = [];
  return {
    nova: stubClient<NovaClient>(nova),
    sharedRead: async () => (await nova.migration?.('a', 1, scope.signal)) ?? null,
    clock: testClock(),
    scope,
    stopGate: async () => {},
    audit: { record: async () => {} },
    report: async (report: MigrationReport) => void reports.push(report),
    region: { room: async () => 'room' as const, refresh: async () => {}, claim: () => () => {}, started: () => {} },
    reports,
  };
}

const server = (change: Partial<InstanceDetail> = {}) => instanceDetail({ host: 'node-2', ...change });

test('Nova completes a migration and leaves the server where it was: both are told', async () => {
  const tools = openTools({
    migration: async () => migrationRecord({ status: 'completed' }),
    server: async () => server({ host: 'node-1', status: 'MIGRATING', taskState: 'migrating' }),
  });
  const beganMs = tools.clock.now();
  const end = await awaitMigration(tools, request);
  expect(end).toMatchObject({
    status: 'completed',
    stuck: null,
    observation: { instance: { host: 'node-1', taskState: 'migrating' }, migration: null },
  });
  expect(end.message).toBe(
    'Nova says migration 1 is completed, but the server is still on node-1 (MIGRATING, migrating)',
  );
  expect(tools.clock.now() - beganMs).toBeGreaterThanOrEqual(60_000);
  expect(tools.clock.now() - beganMs).toBeLessThan(70_000);
  expect(tools.reports.at(-1)?.message).toBe(end.message);
});

test('the server’s status lies early, so the record decides; then the server is waited for', async () => {
  const records = ['running', 'running', 'completed'];
  const servers = [server({ taskState: 'migrating', host: 'node-1' }), server({ taskState: 'migrating' }), server()];
  let polls = 0;
  const migration = async (): Promise<Migration> => {
    polls += 1;
    return migrationRecord({ status: records.shift() ?? 'completed' });
  };
  const tools = openTools({
    migration,
    serverMigration: async () => null,
    server: async () => servers.shift() ?? server(),
  });
  await expect(awaitMigration(tools, request)).resolves.toMatchObject({
    status: 'completed',
    message: null,
    observation: { instance: { host: 'node-2', taskState: null } },
  });
  expect(polls).toBe(3);
});

test('another worker goes on by the clock that the first one left behind', async () => {
  const running = migrationRecord({ status: 'running', memoryTotalBytes: 1_000, memoryRemainingBytes: 500 });
  const nova = {
    migration: async () => running,
    serverMigration: async () => running,
    server: async () => server(),
    migrationsOf: async () => [running],
  };
  const beats: unknown[] = [];
  const since = testClock().now() - 140_000;
  const left = { sinceMs: since, runningSinceMs: since, totalBytes: 1_000, lowBytes: 500, lowSinceMs: since };
  const tools = openTools(
    nova,
    testScope({ heartbeatDetails: left, heartbeat: (details) => void beats.push(details) }),
  );
  const beganMs = tools.clock.now();
  await expect(awaitMigration(tools, request)).resolves.toMatchObject({
    status: 'stuck',
    stuck: 'NoProgress',
    observation: { migration: { id: 1 } },
  });
  expect(tools.clock.now() - beganMs).toBeLessThan(15_000);
  expect(beats[0]).toEqual(left);
});

test('details that are none are as good as none', async () => {
  const tools = openTools(
    { migration: async () => migrationRecord({ status: 'completed' }), server: async () => server() },
    testScope({ heartbeatDetails: { known: [1] } }),
  );
  await expect(awaitMigration(tools, request)).resolves.toMatchObject({ status: 'completed' });
});

test('Nova’s refusal is handed back in its own words', async () => {
  const words = 'Cannot live migrate with an encrypted memory';
  const liveMigrate = async () => {
    throw droverFailure('MigrationRefused', `Nova answered 409: ${words}`, { details: { status: 409, words } });
  };
  const tools = openTools({
    server: async () => server({ host: 'node-1' }),
    migrationsOf: async () => [],
    liveMigrate,
  });
  await expect(startMigration(tools, 'live', { ...subject, perTarget: 2 })).resolves.toEqual({
    outcome: 'refused',
    message: words,
  });
});

test('a request that Nova took and never made a record of gives the server back', async () => {
  const liveMigrate = async () => ({ requestId: 'req-1' });
  const tools = openTools({
    server: async () => server({ host: 'node-1' }),
    migrationsOf: async () => [],
    liveMigrate,
  });
  await expect(startMigration(tools, 'live', { ...subject, perTarget: 2 })).resolves.toMatchObject({
    outcome: 'changed',
    observation: { migration: null },
  });
});

test('a cold migration whose record comes late is found by the next attempt, which knows that it is its own', async () => {
  let taskState: string | null = null;
  const beats: unknown[] = [];
  const records: Migration[] = [];
  const nova: Partial<NovaClient> = {
    server: async () => server({ host: 'node-1', vmState: 'stopped', taskState }),
    migrationsOf: async () => records,
    coldMigrate: async () => {
      taskState = 'resize_prep';
      return { requestId: 'req-1' };
    },
  };
  const first = openTools(nova, testScope({ heartbeat: (beat) => void beats.push(beat) }));
  await expect(startMigration(first, 'cold', { ...subject, perTarget: 2 })).rejects.toMatchObject({
    type: 'NovaUnavailable',
    nonRetryable: false,
  });
  records.push(migrationRecord({ id: 8, type: 'migration', status: 'pre-migrating', sourceHost: 'node-1' }));
  const second = openTools(nova, testScope({ heartbeatDetails: beats.at(-1) }));
  await expect(startMigration(second, 'cold', { ...subject, perTarget: 2 })).resolves.toMatchObject({
    outcome: 'started',
    migration: { id: 8 },
  });
});

test('a migration that another client cancels is told as that', async () => {
  const tools = openTools({
    migration: async () => migrationRecord({ status: 'cancelled' }),
    server: async () => server({ host: 'node-1' }),
  });
  await expect(awaitMigration(tools, request)).resolves.toMatchObject({
    status: 'cancelled',
    message: 'Another user cancelled migration 1',
  });
});

test('an abort that Nova takes and never acts on is given up in two minutes, and says so', async () => {
  let asked = 0;
  const tools = openTools({
    migration: async () => migrationRecord({ status: 'running' }),
    serverMigration: async () => null,
    migrationsOf: async () => [migrationRecord({ status: 'running' })],
    server: async () => server({ host: 'node-1', taskState: 'migrating' }),
    abortMigration: async () => {
      asked += 1;
      return { requestId: 'req-1' };
    },
  });
  const beganMs = tools.clock.now();
  const end = await abortMigration(tools, { ...subject, migrationId: 1 });
  expect(end).toMatchObject({ status: 'stuck', stuck: 'TooLong', observation: { migration: { id: 1 } } });
  const tookMs = tools.clock.now() - beganMs;
  expect(tookMs).toBeGreaterThanOrEqual(120_000);
  expect(tookMs).toBeLessThan(130_000);
  expect(asked).toBeGreaterThan(5);
  expect(tools.reports.at(-1)?.message).toBe('Nova does not end it');
});

test('a guest in post-copy is followed to its end, and Nova is asked neither to abort nor to complete it', async () => {
  const postCopied = migrationRecord({ status: 'running (post-copy)' });
  let reads = 0;
  const tools = openTools({
    migration: async () => {
      reads += 1;
      return reads > 40 ? migrationRecord({ status: 'completed' }) : postCopied;
    },
    serverMigration: async () => null,
    server: async () => server(),
  });
  await expect(forceCompleteMigration(tools, { ...subject, migrationId: 1 })).resolves.toBeUndefined();
  await expect(abortMigration(tools, { ...subject, migrationId: 1 })).resolves.toMatchObject({
    status: 'completed',
    observation: { instance: { host: 'node-2' }, migration: null },
  });
});
