import { createNovaClient } from '../../activities/nova/client.ts';
import type { NovaClient } from '../../activities/nova/types.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { createAggregate } from '../../lab/openstack/hosts.ts';
import { createInstance, deleteInstances, waitForServer } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { seedScripted, untilExplained, untilMigration } from './nova-live-migrations.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;

const serviceOf = async (nova: NovaClient, host: string) => {
  const found = (await nova.computeServices(never)).find((service) => service.host === host);
  if (found === undefined) throw new Error(`no service on ${host}`);
  return found;
};

/** nova-compute is dead, and Nova knows it. */
async function killHost({ fleet }: OpenStackCounterpart, nova: NovaClient, host: string): Promise<void> {
  await fleet.crash(host);
  await nova.updateService((await serviceOf(nova, host)).id, { forcedDown: true }, never);
}

export function describeDeadHosts(test: ContractTest): void {
  test('a server of a live host is not evacuated', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await createInstance(counterpart.admin, { name: 'alive', host: 'node-2' });
    await expect(nova.evacuate(id, { host: null }, never)).rejects.toMatchObject({
      type: 'HostUp',
      message: expect.stringMatching(/answered 400 .*Compute service of node-2 is still in use/u),
    });
    await expect(nova.evacuate(id, { host: 'node-99' }, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
      message: expect.stringMatching(/answered 404 .*Compute host node-99 not found/u),
    });
    expect(await nova.migrationsOf(id, never)).toEqual([]);
  });

  for (const [state, status] of [
    ['ACTIVE', 'ACTIVE'],
    ['SHUTOFF', 'SHUTOFF'],
  ] as const) {
    test(`a server in ${state} of a dead host is evacuated, and is ${status} elsewhere`, async (counterpart) => {
      const session = counterpart.connect();
      const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
      const { id } = await createInstance(counterpart.admin, { name: 'evacuated', host: 'node-2', state });
      await killHost(counterpart, nova, 'node-2');
      await nova.evacuate(id, { host: 'node-3' }, never);
      const [record] = await nova.migrationsOf(id, never);
      expect(record).toMatchObject({ type: 'evacuation', sourceHost: 'node-2' });
      expect(await untilMigration(nova, id, 'done')).toMatchObject({ id: record?.id, targetHost: 'node-3' });
      expect(await waitForServer(counterpart.admin, id, status)).toMatchObject({ 'OS-EXT-SRV-ATTR:host': 'node-3' });
      expect(
        counterpart
          .migrationEvents(0)
          .filter(({ instance }) => instance === id)
          .map((event) => event.status),
      ).toEqual(['accepted', 'pre-migrating', 'done']);
      // What it has of the dead host stays, and so does its guest, until nova-compute is back.
      expect(Object.keys(await placement.consumerAllocations(id, never))).toHaveLength(2);
      expect((await counterpart.fleet.hosts())['node-2']).toMatchObject({ guests: 1 });
      const { id: serviceId } = await serviceOf(nova, 'node-2');
      const reason = /answered 400 .*Unable to force up host node-2 as `done` evacuation migration records remain/u;
      await expect(nova.updateService(serviceId, { forcedDown: false }, never)).rejects.toMatchObject({
        type: 'EvacuatedGuestsRemain',
        message: expect.stringMatching(reason),
      });
      await counterpart.fleet.start('node-2');
      await untilMigration(nova, id, 'completed');
      expect(await nova.updateService(serviceId, { forcedDown: false }, never)).toMatchObject({
        service: { forcedDown: false, state: 'up' },
      });
      expect(Object.keys(await placement.consumerAllocations(id, never))).toHaveLength(1);
      expect((await counterpart.fleet.hosts())['node-2']).toMatchObject({ guests: 0 });
    });
  }

  test('an evacuation that finds no host ends in error with the reason, and can be asked for again', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    await counterpart.fleet.change('node-2', { traits: ['CUSTOM_LAB'] });
    const { id } = await createInstance(counterpart.admin, { name: 'picky', host: 'node-2', flavor: 'lab.trait' });
    await killHost(counterpart, nova, 'node-2');
    for (const attempt of [1, 2]) {
      const { requestId } = await nova.evacuate(id, { host: null }, never);
      await untilMigration(nova, id, 'error');
      expect(await nova.migrationsOf(id, never)).toHaveLength(attempt);
      expect(await untilExplained(nova, id, requestId)).toMatch(/^No valid host was found/u);
      expect(await waitForServer(counterpart.admin, id, 'ERROR')).toMatchObject({ 'OS-EXT-SRV-ATTR:host': 'node-2' });
    }
  });

  test('a live migration off a dead host is accepted, and in error', async (counterpart) => {
    const nova = createNovaClient(counterpart.connect());
    const { id } = await seedScripted(counterpart, 'stuck', ['ok']);
    await killHost(counterpart, nova, 'node-1');
    const { requestId } = await nova.liveMigrate(id, { host: null }, never);
    await untilMigration(nova, id, 'error');
    expect(await untilExplained(nova, id, requestId)).toMatch(/Compute service of node-1 is unavailable at this time/u);
    expect(await waitForServer(counterpart.admin, id, 'ACTIVE')).toMatchObject({ 'OS-EXT-SRV-ATTR:host': 'node-1' });
    await expect(nova.coldMigrate(id, { host: null }, never)).rejects.toMatchObject({
      type: 'MigrationRefused',
      message: expect.stringMatching(/answered 409 /u),
    });
  });
}

/** The host that comes and goes; it is in no fleet when the counterpart starts, and stays in it. */
const added = 'node-8';

async function addHost({ fleet }: OpenStackCounterpart, nova: NovaClient): Promise<string> {
  const { [added]: known } = await fleet.hosts();
  if (known === undefined) await fleet.change(added, {});
  else if (!known.running) await fleet.reinstall(added);
  return (await serviceOf(nova, added)).id;
}

const untilDown = (nova: NovaClient, host: string) =>
  until(`Nova to see ${host} down`, deadlineMs, async () =>
    (await serviceOf(nova, host)).state === 'down' ? true : 'up',
  );

/** @param test on a counterpart to which a host may be added for good */
export function describeNewHosts(test: ContractTest): void {
  test('a host that is added registers with the same id in Nova and in Placement', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const serviceId = await addHost(counterpart, nova);
    expect(await serviceOf(nova, added)).toMatchObject({ id: serviceId, status: 'enabled', state: 'up', zone: 'nova' });
    const [hypervisor] = await nova.hypervisorsNamed(added, never);
    expect(hypervisor).toMatchObject({
      serviceId,
      serviceHost: added,
      hypervisorHostname: `${added}.lab.drover.dev`,
      servers: [],
    });
    expect(await placement.providerByUuid(hypervisor?.id ?? '', never)).toMatchObject({
      name: `${added}.lab.drover.dev`,
    });
    const server = await createInstance(counterpart.admin, { name: 'first', host: added });
    expect(await nova.servers({ host: added }, never)).toMatchObject([{ id: server.id }]);
  });

  test('a service goes only when it has no servers and no migrations, with its memberships and its provider; the next one is another', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const serviceId = await addHost(counterpart, nova);
    const [hypervisor] = await nova.hypervisorsNamed(added, never);
    const aggregate = await createAggregate(counterpart.admin, { name: 'fast', hosts: [added, 'node-1'] });
    const server = await createInstance(counterpart.admin, { name: 'last', host: added });
    const moved = await createInstance(counterpart.admin, { name: 'moved', host: added, state: 'VERIFY_RESIZE' });
    await expect(nova.deleteService(serviceId, never)).rejects.toMatchObject({
      type: 'HostNotEmpty',
      message: expect.stringMatching(/answered 409 .*hosting instances/u),
    });
    await deleteInstances(counterpart.admin, [server.id]);
    await expect(nova.deleteService(serviceId, never)).rejects.toMatchObject({
      type: 'HostNotEmpty',
      message: expect.stringMatching(/answered 409 .*in-progress migrations/u),
    });
    await deleteInstances(counterpart.admin, [moved.id]);
    await counterpart.fleet.crash(added);
    await untilDown(nova, added);
    await nova.deleteService(serviceId, never);
    expect((await nova.computeServices(never)).map(({ host }) => host)).not.toContain(added);
    expect(await nova.hypervisorsNamed(added, never)).toEqual([]);
    expect((await nova.aggregates(never)).find(({ id }) => id === aggregate)?.hosts).toEqual(['node-1']);
    expect(await placement.providerByUuid(hypervisor?.id ?? '', never)).toBeNull();
    await expect(nova.deleteService(serviceId, never)).rejects.toMatchObject({
      type: 'HostNotFound',
      message: expect.stringMatching(/answered 404 /u),
    });
    await expect(nova.addToAggregate(aggregate, added, never)).rejects.toMatchObject({ type: 'HostNotFound' });
    expect(await addHost(counterpart, nova)).not.toBe(serviceId);
  });

  test('a dead host whose servers were evacuated goes with what they had of it', async (counterpart) => {
    const session = counterpart.connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const serviceId = await addHost(counterpart, nova);
    const [hypervisor] = await nova.hypervisorsNamed(added, never);
    const { id } = await createInstance(counterpart.admin, { name: 'evacuated', host: added });
    await killHost(counterpart, nova, added);
    await nova.evacuate(id, { host: null }, never);
    await untilMigration(nova, id, 'done');
    await nova.deleteService(serviceId, never);
    expect(Object.keys(await placement.consumerAllocations(id, never))).toHaveLength(1);
    expect(await placement.providerByUuid(hypervisor?.id ?? '', never)).toBeNull();
    // With guests of whom Nova thinks that they are elsewhere, nova-compute does not begin anew.
    await expect(counterpart.fleet.start(added)).rejects.toThrow(/existing instances/u);
    await counterpart.fleet.reinstall(added);
    expect(await serviceOf(nova, added)).toMatchObject({ state: 'up', forcedDown: false });
  });
}
