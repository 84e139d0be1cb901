import { novaRefusal, openScriptedOpenStack, wireHypervisor, wireService } from '../../test/scripted-openstack.ts';
import { hypervisor, computeService } from './samples.ts';
import { matchRegistration, unpackVersion } from './find-registration.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function find(name: string, services: object[], hypervisors: object[], others: object[] = []) {
  const stage = await openScriptedOpenStack({
    'GET /os-services': () => ({ json: { services } }),
    'GET /os-hypervisors/detail': ({ query }) => {
      if (query.get('hypervisor_hostname_pattern') === null) return { json: { hypervisors: [...hypervisors, ...others] } };
      return hypervisors.length === 0 ? novaRefusal(404, "No hypervisor matching 'x' could be found.") : { json: { hypervisors } };
    },
    'GET /servers/detail': () => ({ json: { servers: [] } }),
    'GET /os-server-groups': () => ({ json: { server_groups: [] } }),
  });
  open.push(stage);
  return { found: await stage.activities.findRegistration({ hypervisor: name }), received: stage.received() };
}

test('a host that has registered, by its Node’s name, in two requests', async () => {
  const { found, received } = await find('node-1', [wireService(), wireService({ id: 'c10', host: 'node-10' })], [
    wireHypervisor({ servers: [{ uuid: 'a' }, { uuid: 'b' }] }),
    wireHypervisor({ id: 'h10', hypervisor_hostname: 'node-10.example', service: { id: 'c10', host: 'node-10' } }),
  ]);
  expect(found).toEqual({
    host: 'node-1',
    zone: 'nova',
    serviceId: 'c1',
    service: { status: 'enabled', disabledReason: null, state: 'up', forcedDown: false },
    hypervisor: { id: 'h1', hostname: 'node-1.example', type: 'QEMU', version: '9.2.1', servers: 2 },
  });
  expect(received.map(({ path, query }) => `${path}?${query.toString()}`).toSorted()).toEqual(['/os-hypervisors/detail?hypervisor_hostname_pattern=node-1&with_servers=true', '/os-services?binary=nova-compute']);
});

test('a host that Nova does not know', async () => {
  expect((await find('node-2', [wireService()], [])).found).toBeNull();
});

test('a name that is a part of another one is no match (H12)', async () => {
  expect((await find('node-1', [], [wireHypervisor({ hypervisor_hostname: 'node-10.example', service: { id: 'c10', host: 'node-10' } })])).found).toBeNull();
});

test('a service without a hypervisor is half a registration', async () => {
  const { found } = await find('node-1', [wireService()], []);
  expect(found).toMatchObject({ serviceId: 'c1', hypervisor: null });
});

test('a hypervisor whose hostname is quite another one is found by its service', async () => {
  const { found } = await find('node-1', [wireService()], [], [wireHypervisor({ hypervisor_hostname: 'rack7-slot3.example' })]);
  expect(found).toMatchObject({ serviceId: 'c1', hypervisor: { id: 'h1', hostname: 'rack7-slot3.example', servers: 0 } });
});

test('a hypervisor whose service has just gone is no registration', async () => {
  expect((await find('node-1', [], [wireHypervisor()])).found).toBeNull();
});

test('a cell that is down is a failure, not an absence', async () => {
  await expect(find('node-1', [{ binary: 'nova-compute', host: 'node-1', status: 'UNKNOWN' }], [])).rejects.toMatchObject({ type: 'HostAttributeMissing' });
});

test('two hosts of one short name are ambiguous', () => {
  const hypervisors = ['a', 'b'].map((domain) => hypervisor({ id: domain, serviceHost: `node-1.${domain}`, hypervisorHostname: `node-1.${domain}` }));
  expect(() => matchRegistration('node-1', hypervisors.map(({ serviceHost }) => computeService({ host: serviceHost })), hypervisors)).toThrow(expect.objectContaining({ type: 'HostAmbiguous' }));
});

test.each([[9_002_001, '9.2.1'], [10_000_000, '10.0.0'], [0, '0.0.0'], [1_000, '0.1.0']])('version %i is %s', (packed, version) => {
  expect(unpackVersion(packed)).toBe(version);
});
