import { coldMigrate, listMigrations, waitForMigration } from '../../lab/openstack/migrations.ts';
import { boot, limits, openActivities, started, subject } from './nova-activity-context.ts';
import type { ContractTest } from './openstack.ts';

/** Cold migrations, and waits for servers. */
export function describeColdActivities(test: ContractTest): void {
  test('a cold migration ends as finished and is confirmed by drover, once', async (counterpart) => {
    const { id } = await boot(counterpart, { state: 'SHUTOFF' });
    const activities = openActivities(counterpart);
    const { id: migrationId } = started(await activities.startColdMigration({ ...subject(id), perTarget: 2 }));
    const end = await activities.awaitMigration({ ...subject(id), migrationId, ...limits });
    expect(end).toMatchObject({
      status: 'finished',
      message: null,
      observation: {
        instance: { status: 'VERIFY_RESIZE', vmState: 'resized', taskState: null },
        migration: { id: migrationId },
      },
    });
    const confirmed = await activities.confirmMigration({ ...subject(id), migrationId });
    expect(confirmed).toMatchObject({
      status: 'confirmed',
      observation: { instance: { status: 'SHUTOFF', host: end.targetHost }, migration: null },
    });
    await expect(activities.confirmMigration({ ...subject(id), migrationId })).resolves.toMatchObject({
      status: 'confirmed',
    });
    expect(activities.audited.map(({ action }) => action)).toEqual(['startColdMigration', 'confirmMigration']);
    expect((await activities.observeHost({ hypervisor: 'node-1' })).allocations).toEqual([]);
  });

  test('a cold migration of another user is not taken for drover’s own', async (counterpart) => {
    const { id } = await boot(counterpart, { state: 'SHUTOFF' });
    await waitForMigration(counterpart.admin, id, await coldMigrate(counterpart.admin, id), ['finished']);
    await expect(
      openActivities(counterpart).startColdMigration({ ...subject(id), perTarget: 2 }),
    ).resolves.toMatchObject({ outcome: 'changed', observation: { migration: { status: 'finished' } } });
  });

  test('a cold migration whose acknowledgement was lost is known by what the attempt left behind', async (counterpart) => {
    const { id } = await boot(counterpart, { state: 'SHUTOFF' });
    const first = openActivities(counterpart);
    const migration = started(await first.startColdMigration({ ...subject(id), perTarget: 2 }));
    await waitForMigration(counterpart.admin, id, migration.id, ['finished']);
    await expect(
      openActivities(counterpart, { details: first.beats[0] }).startColdMigration({ ...subject(id), perTarget: 2 }),
    ).resolves.toMatchObject({ outcome: 'started', migration: { id: migration.id } });
    expect(await listMigrations(counterpart.admin, id)).toHaveLength(1);
  });

  test('a busy server is waited for', async (counterpart) => {
    await counterpart.fleet.change('node-1', { destroySeconds: 2 });
    const { id } = await boot(counterpart);
    await counterpart.admin.compute('DELETE', `/servers/${id}`);
    const activities = openActivities(counterpart);
    await expect(activities.awaitInstanceIdle({ instanceId: id, deadlineMs: 50 })).resolves.toMatchObject({
      instance: { taskState: 'deleting' },
    });
    await expect(activities.awaitInstanceIdle({ instanceId: id, deadlineMs: 20_000 })).resolves.toEqual({
      instance: null,
      migration: null,
    });
  });
}
