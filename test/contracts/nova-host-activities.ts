import { changeService, findService } from '../../lab/openstack/hosts.ts';
import { coldMigrate, listMigrations, liveMigrate, waitForMigration } from '../../lab/openstack/migrations.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { until } from '../flows/until.ts';
import { boot, openActivities, subject } from './nova-activity-context.ts';
import type { ContractTest } from './openstack.ts';

/** What activities find out and change of a host, on Nova and Placement. */
export function describeHostActivities(test: ContractTest): void {
  test('a host is observed with everything that holds on to it', async (counterpart) => {
    const [server, leaving] = await createInstances(counterpart.admin, [
      { name: 'stays', host: 'node-1' },
      { name: 'hangs', host: 'node-1', migrate: 'hang' },
    ]);
    const moved = await boot(counterpart, { name: 'moved', state: 'SHUTOFF' });
    await waitForMigration(counterpart.admin, moved.id, await coldMigrate(counterpart.admin, moved.id), ['finished']);
    await waitForMigration(counterpart.admin, leaving!.id, await liveMigrate(counterpart.admin, leaving!.id), [
      'running',
    ]);
    const host = await openActivities(counterpart).observeHost({ hypervisor: 'node-1' });
    expect(host).toMatchObject({
      host: 'node-1',
      hypervisorHostname: 'node-1.lab.drover.dev',
      service: { status: 'enabled', state: 'up' },
      schedulingDisabled: false,
    });
    expect(host.instances.map(({ name }) => name).sort()).toEqual(['hangs', 'stays']);
    expect(host.instances.find(({ name }) => name === 'stays')).toEqual({
      id: server!.id,
      name: 'stays',
      status: 'ACTIVE',
      taskState: null,
      vmState: 'active',
      host: 'node-1',
      locked: false,
      memoryMiB: 512,
      vcpus: 1,
      localDiskGiB: 1,
      serverGroups: [],
      fault: null,
    });
    expect(host.migrations.map(({ type, status }) => `${type} ${status}`).sort()).toEqual([
      'live-migration running',
      'migration finished',
    ]);
    expect(host.unknownGuests).toBeNull();
    expect(host.unconfirmedResizes).toEqual([moved.id]);
    // The server that stays, the record that holds the share of the one that leaves, and that of the one that has left.
    expect(host.allocations).toHaveLength(3);
    expect(host.allocations).toContain(server!.id);
  });

  test('a host is not found by a part of its name', async (counterpart) => {
    const activities = openActivities(counterpart);
    await expect(activities.observeHost({ hypervisor: 'node' })).rejects.toMatchObject({
      type: 'HostNotFound',
      nonRetryable: true,
    });
    await expect(activities.observeHost({ hypervisor: 'node-1.example.com' })).resolves.toMatchObject({
      host: 'node-1',
    });
  });

  test('a host is disabled and enabled by its owner only, and leaves a line for each change', async (counterpart) => {
    const activities = openActivities(counterpart);
    const reason = 'drover: eviction node-1, CHG-1';
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason })).resolves.toMatchObject({
      status: 'disabled',
      disabledReason: reason,
    });
    await expect(
      activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: another' }),
    ).resolves.toMatchObject({ disabledReason: reason });
    await until(
      'Placement to show it',
      10_000,
      async () => (await activities.observeHost({ hypervisor: 'node-1' })).schedulingDisabled || 'not disabled',
    );
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(true);
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(true);
    expect(activities.audited).toMatchObject([
      {
        action: 'ensureServiceDisabled',
        object: 'compute-service/node-1',
        before: { status: 'enabled' },
        after: { status: 'disabled' },
        run: { runId: 'test' },
      },
      { action: 'ensureServiceEnabled', before: { disabledReason: reason }, after: { status: 'enabled' } },
    ]);
    expect(activities.audited[0]?.requestId).toMatch(/^req-/u);

    await changeService(counterpart.admin, 'node-1', { status: 'disabled', disabled_reason: 'broken fan' });
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason })).resolves.toMatchObject({
      disabledReason: 'broken fan',
    });
    await expect(activities.ensureServiceEnabled({ host: 'node-1' })).resolves.toBe(false);
    expect(await findService(counterpart.admin, 'node-1')).toMatchObject({
      status: 'disabled',
      disabled_reason: 'broken fan',
    });
    expect(activities.audited).toHaveLength(2);
  });

  test('a host is left alone while drover is stopped', async (counterpart) => {
    const stopGate = async () => {
      throw droverFailure('Stopped', 'Stopped by a test');
    };
    const { id } = await boot(counterpart);
    const activities = openActivities(counterpart, { stopGate });
    await expect(activities.ensureServiceDisabled({ host: 'node-1', reason: 'drover: x' })).rejects.toMatchObject({
      type: 'Stopped',
    });
    await expect(activities.startLiveMigration({ ...subject(id), perTarget: 2 })).rejects.toMatchObject({
      type: 'Stopped',
    });
    expect(await findService(counterpart.admin, 'node-1')).toMatchObject({ status: 'enabled' });
    expect(await listMigrations(counterpart.admin, id)).toEqual([]);
    expect(activities.audited).toEqual([]);
  });
}
