import { createNovaClient } from '../../activities/nova/client.ts';
import { act, waitForServer } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { seed, untilMigration, untilExplained } from './nova-live-migrations.ts';
import type { ContractTest } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;

export function describeColdMigrations(test: ContractTest): void {
  for (const [state, vmState] of [
    ['SHUTOFF', 'stopped'],
    ['ACTIVE', 'active'],
  ] as const) {
    test(`a cold migration of a server in ${state} waits for confirmation, and is over when it is confirmed`, async (counterpart) => {
      const nova = createNovaClient(counterpart.connect());
      const server = await seed(counterpart, 'cold', { state });
      await expect(nova.confirmResize(server.id, never)).rejects.toMatchObject({
        type: 'InstanceStateRefused',
        message: expect.stringMatching(new RegExp(`answered 409 .*vm_state ${vmState}`, 'u')),
      });
      const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
      const record = await untilMigration(nova, server.id, 'finished');
      expect(record).toMatchObject({
        type: 'migration',
        sourceHost: 'node-1',
        targetHost: expect.stringMatching(/^node-[2-6]$/u),
      });
      await waitForServer(counterpart.admin, server.id, 'VERIFY_RESIZE');
      expect((await nova.migrationsInProgress({ host: 'node-1' }, never)).map(({ id }) => id)).toContain(record.id);
      expect(await nova.migrationsCopying(never)).toEqual([]);
      expect(await nova.serverMigration(server.id, record.id, never)).toBeNull();
      expect(await nova.lastActionFailure(server.id, { requestId }, never)).toBeNull();
      await nova.confirmResize(server.id, never);
      await untilMigration(nova, server.id, 'confirmed');
      expect(await waitForServer(counterpart.admin, server.id, state)).toMatchObject({
        'OS-EXT-SRV-ATTR:host': record.targetHost,
      });
      expect((await nova.migrationsInProgress({ host: 'node-1' }, never)).map(({ id }) => id)).not.toContain(record.id);
      const statuses = counterpart
        .migrationEvents(0)
        .filter(({ instance }) => instance === server.id)
        .map(({ status }) => status);
      expect(statuses).toEqual([
        'pre-migrating',
        'pre-migrating',
        'migrating',
        'post-migrating',
        'finished',
        'confirming',
        'confirmed',
      ]);
    });
  }

  test('a cold migration is reverted: the server is where and as it was', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'reverted');
    await nova.coldMigrate(server.id, { host: null }, never);
    await untilMigration(nova, server.id, 'finished');
    await waitForServer(counterpart.admin, server.id, 'VERIFY_RESIZE');
    await act(counterpart.admin, server.id, { revertResize: null });
    await untilMigration(nova, server.id, 'reverted');
    expect(await waitForServer(counterpart.admin, server.id, 'ACTIVE')).toMatchObject({
      'OS-EXT-SRV-ATTR:host': 'node-1',
    });
  });

  test('a cold migration that fails leaves the server as it was, and says why', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'cold-failing', { state: 'SHUTOFF' });
    await counterpart.fleet.script(server.id, ['fail']);
    const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
    await untilMigration(nova, server.id, 'error');
    expect(await untilExplained(nova, server.id, requestId)).toMatch(/the disk could not be copied/u);
    expect(await waitForServer(counterpart.admin, server.id, 'SHUTOFF')).toMatchObject({
      'OS-EXT-SRV-ATTR:host': 'node-1',
    });
  });

  test('a cold migration that loses the disk leaves the server in error', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'cold-lost', { state: 'SHUTOFF' });
    await counterpart.fleet.script(server.id, ['error']);
    const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
    await untilMigration(nova, server.id, 'error');
    expect(await untilExplained(nova, server.id, requestId)).toMatch(/was lost on the way/u);
    await waitForServer(counterpart.admin, server.id, 'ERROR');
    expect((await nova.server(server.id, never))?.fault).toMatch(/was lost on the way/u);
  });

  test('a cold migration goes to a host that is named, and not to the one it is on', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'cold-named', { state: 'SHUTOFF' });
    await expect(nova.coldMigrate(server.id, { host: 'node-1' }, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
      message: expect.stringMatching(/answered 400 /u),
    });
    await expect(nova.coldMigrate(server.id, { host: 'node-99' }, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
      message: expect.stringMatching(/answered 400 .*node-99/u),
    });
    await nova.coldMigrate(server.id, { host: 'node-3' }, never);
    expect(await untilMigration(nova, server.id, 'finished')).toMatchObject({ targetHost: 'node-3' });
  });

  test('a cold migration without any target is refused by the scheduler, afterwards', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const server = await seed(counterpart, 'cold-nowhere', { state: 'SHUTOFF' });
    for (const { id, host } of await nova.computeServices(never))
      if (host !== 'node-1') await nova.updateService(id, { status: 'disabled' }, never);
    const { requestId } = await nova.coldMigrate(server.id, { host: null }, never);
    await untilMigration(nova, server.id, 'error');
    expect(await untilExplained(nova, server.id, requestId)).toMatch(/No valid host/u);
    expect(
      await until('the server to be idle', deadlineMs, async () => (await nova.server(server.id, never)) ?? 'gone'),
    ).toMatchObject({ host: 'node-1', status: 'SHUTOFF' });
  });
}
