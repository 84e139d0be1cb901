import {
  computeService,
  hypervisor,
  instanceDetail,
  stubClient,
  testClock,
} from '../../test/fixtures/activities/nova.ts';
import { findHostIn, shareRegion } from './region-reads.ts';
import type { ComputeServiceRecord, Hypervisor, NovaClient } from './types.ts';

const signal = new AbortController().signal;

/** A region that the test changes, and what it was asked. */
function open() {
  const clock = testClock();
  const world = {
    services: [computeService({ host: 'node-1' })] as ComputeServiceRecord[],
    hypervisors: [hypervisor({ serviceHost: 'node-1' })] as Hypervisor[],
  };
  const asked: string[] = [];
  const answer = async <Value>(what: string, value: () => Value): Promise<Value> => {
    asked.push(what);
    await clock.sleep(10, signal);
    return value();
  };
  const shared = shareRegion(
    stubClient<NovaClient>({
      computeServices: () => answer('services', () => [...world.services]),
      hypervisors: () => answer('hypervisors', () => [...world.hypervisors]),
      serverGroups: () => answer('groups', () => []),
      servers: ({ host, groups }) =>
        answer(`servers ${host}${groups === undefined ? '' : ' without groups'}`, () => [instanceDetail({ host })]),
      server: (id) => answer(`server ${id}`, () => (id === 'gone' ? null : instanceDetail({ id, host: 'node-2' }))),
      updateService: (id) =>
        answer(`update ${id}`, () => {
          world.services = [computeService({ host: 'node-1', status: 'disabled' })];
          return { requestId: 'req', service: world.services[0]! };
        }),
    }),
    clock,
  );
  return { clock, world, asked, ...shared };
}

test('the client’s own lists are asked for after the question, whatever was read before', async () => {
  const { nova, world, clock } = open();
  expect(await nova.computeServices(signal)).toHaveLength(1);
  world.services = [];
  await clock.sleep(1, signal);
  expect(await nova.computeServices(signal)).toHaveLength(0);
});

test('what this process changes is read again, whatever is trusted', async () => {
  const { nova, region, asked } = open();
  expect(await region.services(60_000, signal)).toMatchObject([{ status: 'enabled' }]);
  await nova.updateService('s', { status: 'disabled' }, signal);
  expect(await region.services(60_000, signal)).toMatchObject([{ status: 'disabled' }]);
  expect(asked).toEqual(['services', 'update s', 'services']);
});

test('the servers of a host come with one request, and are shared', async () => {
  const { region, asked, clock } = open();
  await Promise.all(['node-1', 'node-2', 'node-1'].map((host) => region.serversOn(host, 30_000, signal)));
  await clock.sleep(1_000, signal);
  await region.serversOn('node-1', 30_000, signal);
  await region.serversOn('node-1', 500, signal);
  expect(asked.toSorted()).toEqual([
    'groups',
    'servers node-1 without groups',
    'servers node-1 without groups',
    'servers node-2 without groups',
  ]);
});

test('where a server is', async () => {
  const { region } = open();
  expect(await region.hostOf('a', 1_000, signal)).toBe('node-2');
  expect(await region.hostOf('gone', 1_000, signal)).toBeNull();
});

test('a host is found by what is known, with its service as it is now; an unknown one is looked for again', async () => {
  const { region, world, asked, clock } = open();
  await findHostIn(region, 'node-1', signal);
  await clock.sleep(200, signal);
  asked.splice(0);
  world.services = [computeService({ host: 'node-1', status: 'disabled' }), computeService({ host: 'node-2' })];
  world.hypervisors = [...world.hypervisors, hypervisor({ serviceHost: 'node-2' })];
  expect(await findHostIn(region, 'node-1', signal)).toMatchObject({ service: { status: 'disabled' } });
  expect(asked).toEqual(['services']);
  expect(await findHostIn(region, 'node-2', signal)).toMatchObject({ hypervisor: { serviceHost: 'node-2' } });
  await expect(findHostIn(region, 'node-3', signal)).rejects.toMatchObject({ type: 'HostNotFound' });
});
