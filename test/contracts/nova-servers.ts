import { createNovaClient } from '../../activities/nova/client.ts';
import type { NewServer, NovaClient } from '../../activities/nova/types.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import {
  createInstance,
  createInstances,
  deleteInstances,
  listServers,
  requestInstance,
  type SeedState,
  waitForServer,
} from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { seed, seedScripted, untilMigration } from './nova-live-migrations.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;

const tiny = ({ admin }: OpenStackCounterpart, change: Partial<NewServer> = {}): NewServer => ({
  name: 'smoke',
  flavorId: 'lab.tiny',
  imageId: admin.handle.imageId,
  host: 'node-2',
  metadata: { purpose: 'contract' },
  ...change,
});

const untilStatus = (nova: NovaClient, id: string, status: string) =>
  until(`${id} to be ${status}`, deadlineMs, async () => {
    const found = await nova.server(id, never);
    return found?.status === status && found.taskState === null ? found : `${found?.status} ${found?.taskState}`;
  });

export function describeNewServers(test: ContractTest): void {
  test('a server that is asked for on a host comes up there, has a console, and is deleted', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id, requestId } = await nova.createServer(tiny(counterpart), never);
    expect(requestId).toMatch(/^req-/u);
    expect(await nova.serversNamed('smoke', never)).toMatchObject([
      { id, name: 'smoke', metadata: { purpose: 'contract' } },
    ]);
    expect(await untilStatus(nova, id, 'ACTIVE')).toMatchObject({ host: 'node-2', vmState: 'active' });
    expect(await nova.consoleOutput(id, 10, never)).toMatch(/Booting.*\nsmoke login: /u);
    expect(await nova.consoleOutput(id, 1, never)).not.toMatch(/Booting/u);
    expect(await nova.serversNamed('smok', never)).toEqual([]);
    expect(await nova.serversNamedLike('smok', never)).toMatchObject([{ id }]);
    expect(await nova.serversNamedLike('moke', never)).toEqual([]);
    await nova.deleteServer(id, never);
    await until('the server to be gone', deadlineMs, async () =>
      (await nova.server(id, never)) === null ? true : 'still there',
    );
    await until('no trace of it', deadlineMs, async () =>
      (await listServers(counterpart.admin)).length === 0 ? true : 'still listed',
    );
    await expect(nova.deleteServer(id, never)).rejects.toMatchObject({
      type: 'InstanceNotFound',
      message: expect.stringMatching(/answered 404 /u),
    });
    await expect(nova.consoleOutput(id, 10, never)).rejects.toMatchObject({ type: 'InstanceNotFound' });
  });

  const refusals: [what: string, change: Partial<NewServer>, reason: RegExp][] = [
    ['no such flavor', { flavorId: 'nope' }, /answered 400 .*nope/u],
    ['no such host', { host: 'node-77' }, /answered 400 .*node-77/u],
  ];
  for (const [what, change, reason] of refusals) {
    test(`a server is refused at once where there is ${what}`, async (counterpart) => {
      const nova = createNovaClient(counterpart.connect());
      await expect(nova.createServer(tiny(counterpart, change), never)).rejects.toMatchObject({
        type: 'SmokeServerRefused',
        message: expect.stringMatching(reason),
      });
      expect(await nova.serversNamed('smoke', never)).toEqual([]);
    });
  }

  test('a server that no host can take is in error, on no host, with the reason, and can be deleted', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await nova.createServer(tiny(counterpart, { flavorId: 'lab.trait' }), never);
    expect(await untilStatus(nova, id, 'ERROR')).toMatchObject({
      host: null,
      vmState: 'error',
      fault: expect.stringMatching(/^No valid host was found/u),
    });
    await expect(nova.consoleOutput(id, 10, never)).rejects.toMatchObject({ type: 'ConsoleUnavailable' });
    await nova.deleteServer(id, never);
    await until('the server to be gone', deadlineMs, async () =>
      (await nova.server(id, never)) === null ? true : 'still there',
    );
  });

  test('a server does not go to a disabled host, nor to one without room', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    await changeService(counterpart.admin, 'node-2', { status: 'disabled', disabled_reason: 'test' });
    const { id } = await nova.createServer(tiny(counterpart), never);
    expect((await untilStatus(nova, id, 'ERROR')).fault).toMatch(/^No valid host was found/u);
    await createInstance(counterpart.admin, { name: 'huge', host: 'node-3', flavor: 'lab.huge' });
    const second = await nova.createServer(tiny(counterpart, { flavorId: 'lab.huge', host: 'node-3' }), never);
    expect((await untilStatus(nova, second.id, 'ERROR')).fault).toMatch(/^No valid host was found/u);
  });

  test('a server arrives late on a host that was disabled after the scheduler had chosen it', async ({
    connect,
    admin,
    fleet,
  }) => {
    const session = connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    await fleet.change('node-6', { buildDelaySeconds: 2 });
    const id = await requestInstance(admin, { name: 'late', host: 'node-6' });
    await until('the scheduler to have chosen', deadlineMs, async () =>
      (await placement.consumer(id, never)) === null ? 'not yet' : true,
    );
    await changeService(admin, 'node-6', { status: 'disabled', disabled_reason: 'test' });
    expect(await nova.servers({ host: 'node-6' }, never)).toEqual([]);
    expect(await waitForServer(admin, id, 'ACTIVE')).toMatchObject({ 'OS-EXT-SRV-ATTR:host': 'node-6' });
  });

  test('a trait and an inventory of a host draw the servers that need them', async ({ admin, fleet }) => {
    await fleet.change('node-4', { traits: ['CUSTOM_LAB'], inventory: { VGPU: 1 } });
    const servers = await createInstances(admin, [
      { name: 'traited', flavor: 'lab.trait' },
      { name: 'accelerated', flavor: 'lab.vgpu' },
    ]);
    expect(servers.map((server) => server['OS-EXT-SRV-ATTR:host'])).toEqual(['node-4', 'node-4']);
  });

  test('servers are in the states that evictions meet', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const states: SeedState[] = ['SHUTOFF', 'PAUSED', 'SUSPENDED', 'RESCUE', 'ERROR', 'VERIFY_RESIZE'];
    const seeded = await createInstances(
      counterpart.admin,
      states.map((state) => ({ name: state.toLowerCase(), host: 'node-4', state, locked: state === 'PAUSED' })),
    );
    const found = await Promise.all(seeded.map(({ id }) => nova.server(id, never)));
    expect(found.map((server) => [server?.status, server?.vmState, server?.locked])).toEqual([
      ['SHUTOFF', 'stopped', false],
      ['PAUSED', 'paused', true],
      ['SUSPENDED', 'suspended', false],
      ['RESCUE', 'rescued', false],
      ['ERROR', 'error', false],
      ['VERIFY_RESIZE', 'resized', false],
    ]);
  });

  test('a server that is being deleted is busy until it is gone', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    await counterpart.fleet.change('node-1', { destroySeconds: 2 });
    const { id } = await seed(counterpart, 'dying');
    await nova.deleteServer(id, never);
    await until('it to be deleting', deadlineMs, async () =>
      (await nova.server(id, never))?.taskState === 'deleting' ? true : 'not yet',
    );
    await expect(nova.liveMigrate(id, { host: null }, never)).rejects.toMatchObject({
      type: 'InstanceBusy',
      message: expect.stringMatching(/answered 409 .*task_state deleting/u),
    });
    await nova.deleteServer(id, never);
    await until('the server to be gone', deadlineMs, async () =>
      (await nova.server(id, never)) === null ? true : 'still there',
    );
  });

  test('a server that is deleted while it migrates is gone with its record, and the copy ends in error', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await seedScripted(counterpart, 'doomed', ['hang']);
    await nova.liveMigrate(id, { host: 'node-2' }, never);
    await untilMigration(nova, id, 'running');
    await deleteInstances(counterpart.admin, [id]);
    expect(await nova.migrationsOf(id, never)).toEqual([]);
    expect(await nova.migrationsCopying(never)).toEqual([]);
    await counterpart.fleet.script(id, ['ok']);
    await until(
      'the copy to end',
      deadlineMs,
      () =>
        counterpart.migrationEvents(0).some((event) => event.instance === id && event.status === 'error') || 'not yet',
    );
  });

  test('a server of a host that is down is deleted in Nova, and its guest stays', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await seed(counterpart, 'lost', { host: 'node-5' });
    await counterpart.fleet.crash('node-5');
    await changeService(counterpart.admin, 'node-5', { forced_down: true });
    await nova.deleteServer(id, never);
    await until('the server to be gone', deadlineMs, async () =>
      (await nova.server(id, never)) === null ? true : 'still there',
    );
    expect((await counterpart.fleet.hosts())['node-5']).toMatchObject({ running: false, guests: 1 });
  });

  test('strict server groups keep servers apart and together', async (counterpart) => {
    const { admin } = counterpart;
    const make = async (name: string, policy: string) =>
      (
        await admin.compute<{ server_group: { id: string } }>('POST', '/os-server-groups', {
          body: { server_group: { name, policy } },
        })
      ).server_group.id;
    const [apart, together] = [await make('apart', 'anti-affinity'), await make('together', 'affinity')];
    const [first, second] = [
      await createInstance(admin, { name: 'first', serverGroup: apart }),
      await createInstance(admin, { name: 'second', serverGroup: apart }),
    ];
    expect(second['OS-EXT-SRV-ATTR:host']).not.toBe(first['OS-EXT-SRV-ATTR:host']);
    const [third, fourth] = [
      await createInstance(admin, { name: 'third', serverGroup: together }),
      await createInstance(admin, { name: 'fourth', serverGroup: together }),
    ];
    expect(fourth['OS-EXT-SRV-ATTR:host']).toBe(third['OS-EXT-SRV-ATTR:host']);
    const nova = createNovaClient(counterpart.connect());
    await nova.liveMigrate(third.id, { host: null }, never);
    await untilMigration(nova, third.id, 'error');
  });
}
