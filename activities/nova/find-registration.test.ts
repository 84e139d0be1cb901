import { findRegistration, matchRegistration, unpackVersion } from './find-registration.ts';
import { computeService, hypervisor, stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import { shareRegion } from './region-reads.ts';
import type { ComputeServiceRecord, HypervisorWithServers, NovaClient } from './types.ts';

const never = new AbortController().signal;

const node = (change: Partial<HypervisorWithServers> = {}): HypervisorWithServers => ({
  ...hypervisor({ hypervisorHostname: 'node-1.example', hypervisorVersion: 9_002_001 }),
  servers: [],
  ...change,
});

/** @param named what Nova finds by a part of the name; `others` what it has besides */
async function find(
  name: string,
  services: ComputeServiceRecord[],
  named: HypervisorWithServers[],
  others: HypervisorWithServers[] = [],
) {
  const asked: string[] = [];
  const nova = stubClient<NovaClient>({
    computeServices: async () => {
      asked.push('computeServices');
      return services;
    },
    hypervisorsNamed: async (part) => {
      asked.push(`hypervisorsNamed ${part}`);
      return named;
    },
    hypervisors: async () => [...named, ...others],
    servers: async () => [],
    serverGroups: async () => [],
  });
  const { region } = shareRegion(nova, testClock());
  return { found: await findRegistration({ nova, region }, name, 0, never), asked };
}

test('a host that has registered, by its Node’s name, in two requests', async () => {
  const services = [computeService(), computeService({ id: 'c10', host: 'node-10' })];
  const other = node({ id: 'h10', hypervisorHostname: 'node-10.example', serviceHost: 'node-10', serviceId: 'c10' });
  const { found, asked } = await find('node-1.rack', services, [node({ servers: ['a', 'b'] }), other]);
  expect(found).toEqual({
    host: 'node-1',
    zone: 'nova',
    serviceId: 'service-node-1',
    service: { status: 'enabled', disabledReason: null, state: 'up', forcedDown: false },
    hypervisor: { id: 'hypervisor-node-1', hostname: 'node-1.example', type: 'QEMU', version: '9.2.1', servers: 2 },
  });
  expect(asked.toSorted()).toEqual(['computeServices', 'hypervisorsNamed node-1']);
});

test('a host that Nova does not know', async () => {
  expect((await find('node-2', [computeService()], [])).found).toBeNull();
});

test('a name that is a part of another one is no match (H12)', async () => {
  expect(
    (await find('node-1', [], [node({ hypervisorHostname: 'node-10.example', serviceHost: 'node-10' })])).found,
  ).toBeNull();
});

test('a service without a hypervisor is half a registration', async () => {
  expect((await find('node-1', [computeService()], [])).found).toMatchObject({
    serviceId: 'service-node-1',
    hypervisor: null,
  });
});

test('a hypervisor whose hostname is quite another one is found by its service', async () => {
  const { found } = await find('node-1', [computeService()], [], [node({ hypervisorHostname: 'rack7-slot3.example' })]);
  expect(found).toMatchObject({
    serviceId: 'service-node-1',
    hypervisor: { id: 'hypervisor-node-1', hostname: 'rack7-slot3.example', servers: 0 },
  });
});

test('a hypervisor whose service has just gone is no registration', async () => {
  expect((await find('node-1', [], [node()])).found).toBeNull();
});

test('a cell that is down is a failure, not an absence', async () => {
  await expect(find('node-1', [computeService({ cellDown: true, id: '' })], [])).rejects.toMatchObject({
    type: 'HostAttributeMissing',
  });
});

test('two hosts of one short name are ambiguous', () => {
  const hypervisors = ['a', 'b'].map((domain) =>
    hypervisor({ id: domain, serviceHost: `node-1.${domain}`, hypervisorHostname: `node-1.${domain}` }),
  );
  expect(() =>
    matchRegistration(
      'node-1',
      hypervisors.map(({ serviceHost }) => computeService({ host: serviceHost })),
      hypervisors,
    ),
  ).toThrow(expect.objectContaining({ type: 'HostAmbiguous' }));
});

test.each([
  [9_002_001, '9.2.1'],
  [10_000_000, '10.0.0'],
  [0, '0.0.0'],
  [1_000, '0.1.0'],
])('version %i is %s', (packed, version) => {
  expect(unpackVersion(packed)).toBe(version);
});
