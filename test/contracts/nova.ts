import type { KeystoneSession } from '../../activities/keystone/types.ts';
import { createNovaClient } from '../../activities/nova/client.ts';
import type { Http } from '../../activities/openstack/http.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { createAggregate } from '../../lab/openstack/hosts.ts';
import { createInstance, createInstances, createServerGroup } from '../../lab/openstack/seed.ts';
import { until } from '../flows/until.ts';
import { describeColdActivities } from './nova-cold-activities.ts';
import { describeColdMigrations } from './nova-cold-migrations.ts';
import { describeHostActivities } from './nova-host-activities.ts';
import { describeDeadHosts } from './nova-hosts.ts';
import { describeLiveActivities } from './nova-live-activities.ts';
import { describeLiveMigrations } from './nova-live-migrations.ts';
import { describePreflights } from './nova-preflight.ts';
import { describeRaces, describeSilentHosts } from './nova-races.ts';
import { describeNewServers } from './nova-servers.ts';
import type { ContractTest } from './openstack.ts';

const never = new AbortController().signal;
const deadlineMs = 30_000;
const unknownId = '00000000-0000-4000-8000-000000000000';

/** What drover takes for granted of Nova. */
export function describeNova(test: ContractTest): void {
  describeHosts(test);
  describeServers(test);
  describeLiveMigrations(test);
  describeColdMigrations(test);
  describeNewServers(test);
  describeDeadHosts(test);
  describeRaces(test);
  describeSilentHosts(test);
}

/** What drover's activities make of it. */
export function describeNovaActivities(test: ContractTest): void {
  describeHostActivities(test);
  describeLiveActivities(test);
  describeColdActivities(test);
  describePreflights(test);
}

function describeHosts(test: ContractTest): void {
  test('services, hypervisors and providers belong together', async ({ connect }) => {
    const session = connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const services = await nova.computeServices(never);
    const hypervisors = await nova.hypervisors(never);
    expect(services.map(({ host }) => host).toSorted()).toEqual([
      'node-1',
      'node-2',
      'node-3',
      'node-4',
      'node-5',
      'node-6',
    ]);
    for (const hypervisor of hypervisors) {
      expect(hypervisor).toMatchObject({
        hypervisorHostname: `${hypervisor.serviceHost}.lab.drover.dev`,
        state: 'up',
        status: 'enabled',
        hypervisorType: 'QEMU',
        hypervisorVersion: 9_002_000,
      });
      expect(services).toContainEqual({
        id: hypervisor.serviceId,
        host: hypervisor.serviceHost,
        zone: 'nova',
        status: 'enabled',
        disabledReason: null,
        state: 'up',
        forcedDown: false,
        cellDown: false,
      });
    }
    const provider = await placement.providerByName('node-1.lab.drover.dev', never);
    expect(provider?.uuid).toBe(hypervisors.find(({ serviceHost }) => serviceHost === 'node-1')?.id);
    expect(await placement.providerByUuid(provider?.uuid ?? '', never)).toEqual(provider);
    expect(await nova.schedulersUp(never)).toBe(1);
  });

  test('a hypervisor is found by a part of its name, with the ids of its servers', async ({ connect, admin }) => {
    const nova = createNovaClient(connect());
    const { id } = await createInstance(admin, { name: 'counted', host: 'node-2' });
    expect(await nova.hypervisorsNamed('ode-2.lab', never)).toMatchObject([{ serviceHost: 'node-2', servers: [id] }]);
    expect(await nova.hypervisorsNamed('node', never)).toHaveLength(6);
    expect(await nova.hypervisorsNamed('node-77', never)).toEqual([]);
  });

  test('aggregates are listed with their hosts, metadata and zone', async ({ connect, admin }) => {
    const id = await createAggregate(admin, {
      name: 'rack-a',
      hosts: ['node-3'],
      availabilityZone: 'az-a',
      metadata: { ssd: 'true' },
    });
    const expected = {
      id,
      uuid: expect.any(String),
      name: 'rack-a',
      hosts: ['node-3'],
      metadata: { ssd: 'true', availability_zone: 'az-a' },
      availabilityZone: 'az-a',
    };
    expect(await createNovaClient(connect()).aggregates(never)).toEqual([expected]);
  });

  test('a host joins and leaves aggregates, and Nova says why it may not', async ({ connect, admin }) => {
    const session = connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const plain = await createAggregate(admin, { name: 'plain' });
    const zoneA = await createAggregate(admin, { name: 'zone-a', availabilityZone: 'a' });
    const zoneB = await createAggregate(admin, { name: 'zone-b', availabilityZone: 'b' });
    await nova.addToAggregate(plain, 'node-3', never);
    await nova.addToAggregate(zoneA, 'node-3', never);
    expect((await nova.computeServices(never)).find(({ host }) => host === 'node-3')).toMatchObject({ zone: 'a' });
    const uuids = (await nova.aggregates(never))
      .filter(({ hosts }) => hosts.includes('node-3'))
      .map(({ uuid }) => uuid);
    const provider = await placement.providerByName('node-3.lab.drover.dev', never);
    expect((await placement.providerAggregates(provider?.uuid ?? '', never)).toSorted()).toEqual(uuids.toSorted());

    await expect(nova.addToAggregate(plain, 'node-3', never)).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/answered 409 .*already has host node-3/u),
    });
    await expect(nova.addToAggregate(zoneB, 'node-3', never)).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/answered 409 .*already in availability zone/u),
    });
    await expect(nova.addToAggregate(plain, 'node-77', never)).rejects.toMatchObject({
      type: 'HostNotFound',
      message: expect.stringMatching(/answered 404 .*node-77/u),
    });
    await expect(nova.addToAggregate(plain + 1_000, 'node-2', never)).rejects.toMatchObject({
      type: 'AggregateNotFound',
    });
    await expect(nova.removeFromAggregate(plain, 'node-2', never)).rejects.toMatchObject({
      type: 'AggregateNotFound',
      message: expect.stringMatching(/answered 404 .*node-2/u),
    });

    await nova.removeFromAggregate(plain, 'node-3', never);
    await nova.removeFromAggregate(zoneA, 'node-3', never);
    expect(await placement.providerAggregates(provider?.uuid ?? '', never)).toEqual([]);
  });

  test('a host with servers does not change its availability zone', async ({ connect, admin }) => {
    const nova = createNovaClient(connect());
    const zone = await createAggregate(admin, { name: 'zone-a', availabilityZone: 'a', hosts: ['node-4'] });
    await createInstance(admin, { name: 'here', host: 'node-4' });
    await createInstance(admin, { name: 'there', host: 'node-5' });
    await expect(nova.removeFromAggregate(zone, 'node-4', never)).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/availability zone of the host would change from 'a'/u),
    });
    await expect(nova.addToAggregate(zone, 'node-5', never)).rejects.toMatchObject({
      type: 'AggregateRefused',
      message: expect.stringMatching(/availability zone of the host would change/u),
    });
  });

  test('a service is disabled with a reason, which Placement then shows, and enabled again', async ({ connect }) => {
    const session = connect();
    const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
    const service = (await nova.computeServices(never)).find(({ host }) => host === 'node-4');
    const uuid = (await placement.providerByName('node-4.lab.drover.dev', never))?.uuid ?? '';
    const disabled = await nova.updateService(
      service?.id ?? '',
      { status: 'disabled', disabledReason: 'drover: flow test' },
      never,
    );
    expect(disabled).toMatchObject({
      requestId: expect.stringMatching(/^req-/u),
      service: { host: 'node-4', status: 'disabled', disabledReason: 'drover: flow test' },
    });
    await until('Placement to leave the host out', deadlineMs, async () =>
      (await placement.providerTraits(uuid, never)).includes('COMPUTE_STATUS_DISABLED') ? true : 'no trait',
    );
    const again = await nova.updateService(
      service?.id ?? '',
      { status: 'disabled', disabledReason: 'drover: flow test' },
      never,
    );
    expect(again.service).toEqual(disabled.service);
    expect((await nova.updateService(service?.id ?? '', { status: 'enabled' }, never)).service).toMatchObject({
      status: 'enabled',
      disabledReason: null,
    });
    await until('Placement to take the host in again', deadlineMs, async () =>
      (await placement.providerTraits(uuid, never)).includes('COMPUTE_STATUS_DISABLED') ? 'still' : true,
    );
    await expect(nova.updateService(unknownId, { status: 'enabled' }, never)).rejects.toMatchObject({
      type: 'HostNotFound',
    });
  });

  test('forced_down is down at once, and up again', async ({ connect }) => {
    const nova = createNovaClient(connect());
    const id = (await nova.computeServices(never)).find(({ host }) => host === 'node-5')?.id ?? '';
    expect((await nova.updateService(id, { forcedDown: true }, never)).service).toMatchObject({
      state: 'down',
      forcedDown: true,
      status: 'enabled',
    });
    expect((await nova.updateService(id, { forcedDown: false }, never)).service).toMatchObject({
      state: 'up',
      forcedDown: false,
    });
  });

  test('a nova-compute that dies is down after a while, and up when it is back', async ({ connect, fleet }) => {
    const nova = createNovaClient(connect());
    const stateOf = async () =>
      (await nova.computeServices(never)).find(({ host }) => host === 'node-6')?.state ?? 'gone';
    await fleet.crash('node-6');
    expect(await stateOf()).toBe('up');
    await until('Nova to see it down', deadlineMs, async () => ((await stateOf()) === 'down' ? true : 'up'));
    await fleet.start('node-6');
    expect(await stateOf()).toBe('up');
  });

  test('a call that is given up ends with the signal’s reason', async ({ connect }) => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const answer = createNovaClient(connect()).servers({ host: 'node-1' }, controller.signal);
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
}

/** The same services, but no page holds more than `limit`. */
function smallPages(session: KeystoneSession, limit: number): { session: KeystoneSession; pages: string[] } {
  const pages: string[] = [];
  const http: Http = {
    send(request, signal) {
      const url = new URL(request.url);
      if (url.pathname.endsWith('/detail') || url.pathname.endsWith('/os-server-groups')) {
        url.searchParams.set('limit', String(limit));
        pages.push(url.pathname.split('/').slice(-2).join('/'));
      }
      return session.http.send({ ...request, url }, signal);
    },
    close: () => Promise.resolve(),
  };
  return { session: { ...session, http }, pages };
}

function describeServers(test: ContractTest): void {
  test('all pages of servers, hypervisors and groups come through, however small they are', async ({
    connect,
    admin,
  }) => {
    const group = await createServerGroup(admin, 'spread', 'soft-anti-affinity');
    await createServerGroup(admin, 'two', 'anti-affinity');
    await createServerGroup(admin, 'three', 'affinity');
    const specs = Array.from({ length: 5 }, (_, index) => ({
      name: `page-${index}`,
      host: 'node-1',
      ...(index === 0 ? { serverGroup: group } : {}),
    }));
    const made = await createInstances(admin, specs);
    await createInstance(admin, { name: 'elsewhere', host: 'node-2' });
    const { session, pages } = smallPages(connect(), 2);
    const nova = createNovaClient(session);
    const servers = await nova.servers({ host: 'node-1' }, never);
    expect(servers.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(servers.filter(({ serverGroups }) => serverGroups.includes(group)).map(({ id }) => id)).toEqual([
      made[0]?.id,
    ]);
    expect(await nova.hypervisors(never)).toHaveLength(6);
    expect(pages.filter((path) => path === 'servers/detail')).toHaveLength(3);
    expect(pages.filter((path) => path === 'os-hypervisors/detail').length).toBeGreaterThanOrEqual(3);
    const groups = await nova.serverGroups(never);
    expect(groups.map(({ policy }) => policy).toSorted()).toEqual(['affinity', 'anti-affinity', 'soft-anti-affinity']);
    expect(groups).toContainEqual({
      id: group,
      name: 'spread',
      policy: 'soft-anti-affinity',
      maxServersPerHost: 1,
      members: [made[0]?.id],
    });
  });

  test('a server has what compatibility checks need', async ({ connect, admin }) => {
    const nova = createNovaClient(connect());
    const server = await createInstance(admin, {
      name: 'detailed',
      host: 'node-1',
      flavor: 'lab.small',
      metadata: { owner: 'flow' },
    });
    const found = await nova.server(server.id, never);
    expect(found).toMatchObject({
      id: server.id,
      name: 'detailed',
      status: 'ACTIVE',
      taskState: null,
      vmState: 'active',
      host: 'node-1',
      hypervisorHostname: 'node-1.lab.drover.dev',
      locked: false,
      memoryMiB: 2048,
      vcpus: 1,
      localDiskGiB: 10,
      onlyVolumes: false,
      serverGroups: [],
      fault: null,
      availabilityZone: 'nova',
      pinnedAvailabilityZone: null,
      flavorName: 'lab.small',
      extraSpecs: {},
      imageId: admin.handle.imageId,
      imageProperties: expect.any(Object),
      metadata: { owner: 'flow' },
    });
    const [listed] = (await nova.servers({ host: 'node-1' }, never)).filter(({ id }) => id === server.id);
    expect(listed).toEqual(found);
    expect(await nova.server(unknownId, never)).toBeNull();
  });

  test('no servers is an answer of a host that is there, and a failure for one that is not', async ({ connect }) => {
    const nova = createNovaClient(connect());
    expect(await nova.servers({ host: 'node-6' }, never)).toEqual([]);
    // H1: the short or the long form of a name must not read as an empty host.
    await expect(nova.servers({ host: 'node-6.lab.drover.dev' }, never)).rejects.toMatchObject({
      type: 'HostNotFound',
    });
  });
}
