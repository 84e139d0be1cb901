import { labClock } from '../../lab/clock.ts';
import type { MigrateMode } from '../../lab/openstack/host-profile.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import { listMigrations, waitForMigration } from '../../lab/openstack/migrations.ts';
import { createInstances, deleteInstances } from '../../lab/openstack/seed.ts';
import {
  boot,
  hostOf,
  limits,
  moveLive,
  openActivities,
  shortestPollMs,
  started,
  subject,
} from './nova-activity-context.ts';
import type { ContractTest } from './openstack.ts';

/** Live migrations, from the request to their end. */
export function describeLiveActivities(test: ContractTest): void {
  test('a live migration moves a server, at little cost', async (counterpart) => {
    const { id } = await boot(counterpart, { seconds: 4 });
    const sinceMs = labClock().now();
    const activities = openActivities(counterpart);
    const end = await moveLive(activities, id, { ...limits.stuck, noProgressMs: 60_000 });
    const target = await hostOf(counterpart, id);
    expect(end).toMatchObject({
      status: 'completed',
      stuck: null,
      targetHost: target,
      message: null,
      observation: { instance: { host: target, status: 'ACTIVE', taskState: null }, migration: null },
    });
    expect(target).not.toBe('node-1');
    const polls = counterpart
      .apiCalls('nova', sinceMs)
      .filter(
        ({ method, path, userAgent }) => method === 'GET' && path.includes('migrations') && userAgent === 'drover',
      );
    // A start reads about twenty times; then come polls, each after the shortest wait at least.
    const tookMs = labClock().now() - sinceMs;

    expect(polls.length).toBeLessThanOrEqual(25 + tookMs / shortestPollMs);
    expect(activities.reports.at(-1)).toMatchObject({
      migration: { status: 'completed', targetHost: target },
      message: null,
    });
    expect(activities.reports.map(({ migration }) => migration?.status)).toContain('running');
    expect(activities.beats.length).toBeGreaterThan(3);
    expect(activities.audited).toMatchObject([{ action: 'startLiveMigration', object: `server/${id}` }]);
  });

  test('a live migration is started once, however often it is asked for', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'hang' });
    const starts = await Promise.all(
      [1, 2, 3].map(() => openActivities(counterpart).startLiveMigration({ ...subject(id), perTarget: 2 })),
    );
    const again = await openActivities(counterpart).startLiveMigration({ ...subject(id), perTarget: 2 });
    expect(new Set([...starts, again].map((start) => started(start).id)).size).toBe(1);
    expect(await listMigrations(counterpart.admin, id)).toHaveLength(1);
  });

  test('a live migration whose acknowledgement was lost is found again, even when it has ended', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'fail', seconds: 0.1 });
    const first = openActivities(counterpart);
    const migration = started(await first.startLiveMigration({ ...subject(id), perTarget: 2 }));
    await first.awaitMigration({ ...subject(id), migrationId: migration.id, ...limits });
    const details = first.beats[0];
    expect(
      started(await openActivities(counterpart, { details }).startLiveMigration({ ...subject(id), perTarget: 2 })).id,
    ).toBe(migration.id);
    expect(await listMigrations(counterpart.admin, id)).toHaveLength(1);
  });

  for (const migrate of ['hang', 'slow'] as const) {
    test(`a live migration that does not get on (${migrate}) is stuck, and is aborted`, async (counterpart) => {
      const { id } = await boot(counterpart, { migrate });
      const activities = openActivities(counterpart);
      const end = await moveLive(activities, id);
      expect(end).toMatchObject({
        status: 'stuck',
        stuck: 'NoProgress',
        observation: { migration: { status: 'running' }, instance: { taskState: 'migrating' } },
      });
      expect(activities.reports.at(-1)?.message).toMatch(/^Stuck/u);
      const migrationId = end.observation.migration!.id;
      const aborted = await activities.abortMigration({ ...subject(id), migrationId });
      expect(aborted).toMatchObject({
        status: 'cancelled',
        stuck: null,
        message: null,
        observation: { instance: { host: 'node-1', status: 'ACTIVE', taskState: null }, migration: null },
      });
      await expect(activities.abortMigration({ ...subject(id), migrationId })).resolves.toMatchObject({
        status: 'cancelled',
      });
      expect(activities.audited.map(({ action }) => action)).toEqual(['startLiveMigration', 'abortMigration']);
    });
  }

  test('a live migration that takes longer than its size allows is stuck', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'hang' });
    const activities = openActivities(counterpart);
    const migrationId = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 })).id;
    const stuck = { ...limits.stuck, floorMs: 1_000, noProgressMs: 60_000 };
    await expect(activities.awaitMigration({ ...subject(id), migrationId, ...limits, stuck })).resolves.toMatchObject({
      stuck: 'TooLong',
    });
  });

  test('a live migration that waits in Nova’s queue has its own deadline', async (counterpart) => {
    await counterpart.fleet.change('node-1', { maxConcurrentLiveMigrations: 1 });
    const [first, second] = await createInstances(counterpart.admin, [
      { name: 'first', host: 'node-1', migrate: 'hang' },
      { name: 'second', host: 'node-1', seconds: 0.2 },
    ]);
    const activities = openActivities(counterpart);
    const blocking = started(await activities.startLiveMigration({ ...subject(first!.id), perTarget: 2 }));
    await waitForMigration(counterpart.admin, first!.id, blocking.id, ['running']);
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(second!.id), perTarget: 2 }));
    const stuck = { ...limits.stuck, startMs: 1_500 };
    await expect(
      activities.awaitMigration({ ...subject(second!.id), migrationId, ...limits, stuck }),
    ).resolves.toMatchObject({ stuck: 'NotStarted', observation: { migration: { status: 'queued' } } });
    await expect(activities.abortMigration({ ...subject(second!.id), migrationId })).resolves.toMatchObject({
      status: 'cancelled',
      observation: { instance: { host: 'node-1', taskState: null } },
    });
  });

  test('a live migration is finished by force', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'hang' });
    const activities = openActivities(counterpart);
    const stuck = await moveLive(activities, id);
    const migrationId = stuck.observation.migration!.id;
    await activities.forceCompleteMigration({ ...subject(id), migrationId });
    await expect(activities.awaitMigration({ ...subject(id), migrationId, ...limits })).resolves.toMatchObject({
      status: 'completed',
      message: null,
    });
    await activities.forceCompleteMigration({ ...subject(id), migrationId });
    expect(activities.audited.map(({ action }) => action)).toEqual(['startLiveMigration', 'forceCompleteMigration']);
  });

  type Failure = [migrate: MigrateMode, status: string, server: string, reason: RegExp];
  const failures: Failure[] = [
    ['fail', 'failed', 'ACTIVE', /gives no reason/u],
    ['error', 'error', 'ERROR', /gives no reason/u],
    // Nova says `error` instead when its roll-back is slow.
    ['prefail', 'failed|error', 'ACTIVE', /prepare/u],
    ['precheck-source', 'error', 'ACTIVE', /shared storage/iu],
    ['precheck-dest', 'error', 'ACTIVE', /No valid host|do not match|CPU/iu],
  ];
  for (const [migrate, status, server, reason] of failures) {
    test(`a live migration that fails (${migrate}) ends with the reason that Nova gives`, async (counterpart) => {
      const { id } = await boot(counterpart, { migrate });
      const end = await moveLive(openActivities(counterpart), id);
      expect(end).toMatchObject({
        status: expect.stringMatching(new RegExp(`^(${status})$`, 'u')),
        stuck: null,
        observation: { instance: { host: 'node-1', status: server, taskState: null }, migration: null },
      });
      expect(end.message).toMatch(reason);
    });
  }

  test('a live migration without any target is refused by the scheduler, afterwards (H6)', async (counterpart) => {
    const { id } = await boot(counterpart);
    for (const host of ['node-2', 'node-3', 'node-4', 'node-5', 'node-6'])
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'test' });
    const end = await moveLive(openActivities(counterpart), id);
    expect(end).toMatchObject({ status: 'error', targetHost: null });
    expect(end.message).toMatch(/No valid host/u);
  });

  test('a live migration moves a paused server, and a locked one for an administrator', async (counterpart) => {
    const [paused, locked] = await createInstances(counterpart.admin, [
      { name: 'paused', host: 'node-1', seconds: 0.2, state: 'PAUSED' },
      { name: 'locked', host: 'node-1', seconds: 0.2, locked: true },
    ]);
    await expect(moveLive(openActivities(counterpart), paused!.id)).resolves.toMatchObject({
      status: 'completed',
      observation: { instance: { vmState: 'paused' } },
    });
    await expect(moveLive(openActivities(counterpart), locked!.id)).resolves.toMatchObject({ status: 'completed' });
  });

  test('a live migration is not asked for where it is not needed, or of no use', async (counterpart) => {
    const [suspended, elsewhere, gone] = await createInstances(counterpart.admin, [
      { name: 'suspended', host: 'node-1', state: 'SUSPENDED' },
      { name: 'elsewhere', host: 'node-2' },
      { name: 'gone', host: 'node-1' },
    ]);
    await deleteInstances(counterpart.admin, [gone!.id]);
    const activities = openActivities(counterpart);
    const start = (id: string) => activities.startLiveMigration({ ...subject(id), perTarget: 2 });
    await expect(start(suspended!.id)).resolves.toMatchObject({
      outcome: 'changed',
      observation: { instance: { vmState: 'suspended' } },
    });
    await expect(start(elsewhere!.id)).resolves.toMatchObject({
      outcome: 'changed',
      observation: { instance: { host: 'node-2' } },
    });
    await expect(start(gone!.id)).resolves.toEqual({
      outcome: 'changed',
      observation: { instance: null, migration: null },
    });
    await expect(activities.observeInstance({ instanceId: gone!.id })).resolves.toEqual({
      instance: null,
      migration: null,
    });
    expect(activities.audited).toEqual([]);
  });

  test('a live migration waits for room on a target, and a wait ends when there is some', async (counterpart) => {
    for (const host of ['node-3', 'node-4', 'node-5', 'node-6'])
      await changeService(counterpart.admin, host, { status: 'disabled', disabled_reason: 'test' });
    const [first, second] = await createInstances(counterpart.admin, [
      { name: 'first', host: 'node-1', migrate: 'hang' },
      { name: 'second', host: 'node-1', seconds: 0.2 },
    ]);
    const activities = openActivities(counterpart);
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(first!.id), perTarget: 1 }));
    await expect(activities.startLiveMigration({ ...subject(second!.id), perTarget: 1 })).resolves.toEqual({
      outcome: 'targetsBusy',
    });
    await expect(activities.awaitTargetRoom({ sourceHost: 'node-1', perTarget: 1, deadlineMs: 500 })).resolves.toBe(
      false,
    );
    await expect(activities.observeAllowance({ region: 'RegionOne' })).resolves.toEqual({
      limit: 8,
      checkMs: 1_000,
      silentMs: 2_000,
      inProgress: { 'node-1': 1 },
      queues: {},
      pace: null,
    });
    const room = activities.awaitTargetRoom({ sourceHost: 'node-1', perTarget: 1, deadlineMs: 30_000 });
    await waitForMigration(counterpart.admin, first!.id, migrationId, ['running']);
    await activities.abortMigration({ ...subject(first!.id), migrationId });
    await expect(room).resolves.toBe(true);
    await expect(moveLive(activities, second!.id)).resolves.toMatchObject({
      status: 'completed',
      targetHost: 'node-2',
    });
  });

  test('a live migration of a server that is deleted meanwhile ends with nothing', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'hang' });
    const activities = openActivities(counterpart);
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
    await waitForMigration(counterpart.admin, id, migrationId, ['running']);
    const end = activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    await deleteInstances(counterpart.admin, [id]);
    await counterpart.fleet.script(id, ['ok']);
    await expect(end).resolves.toMatchObject({ observation: { instance: null, migration: null } });
  });

  test('a live migration is let go by a wait that is cancelled', async (counterpart) => {
    const { id } = await boot(counterpart, { migrate: 'hang' });
    const activities = openActivities(counterpart);
    const { id: migrationId } = started(await activities.startLiveMigration({ ...subject(id), perTarget: 2 }));
    const waiting = activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    activities.cancelled.abort(new Error('cancelled by a test'));
    await expect(waiting).rejects.toThrow('cancelled by a test');
    expect((await listMigrations(counterpart.admin, id)).map(({ status }) => status)).not.toContain('cancelled');
  });
}
