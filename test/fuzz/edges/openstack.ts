import * as fc from 'fast-check';

import { createImageCalls } from '../../../activities/glance/images.ts';
import { endpointIn, openSession } from '../../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../../activities/keystone/types.ts';
import { createNovaClient } from '../../../activities/nova/client.ts';
import type { NovaClient } from '../../../activities/nova/types.ts';
import type { Http, HttpAnswer } from '../../../activities/openstack/http.ts';
import { createPlacementClient } from '../../../activities/placement/client.ts';
import type { PlacementClient } from '../../../activities/placement/types.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { settingsFor } from '../../scripted-service.ts';
import { type Edge, edge } from '../edge.ts';
import { hostileText, nearJson, nearText } from '../hostile.ts';

const never = new AbortController().signal;

interface Wire {
  status: number;
  text: string;
}

const refusals = [
  { itemNotFound: { code: 404, message: 'no such server' } },
  { error: { code: 401, message: 'no', title: 'Unauthorized' } },
  { errors: [{ status: 404, title: 'Not Found', detail: 'no' }] },
];

/** Mostly an answer that says yes. */
const wire = (...samples: readonly unknown[]): fc.Arbitrary<Wire> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ status: fc.constantFrom(200, 200, 202), text: nearJson(...samples) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        status: fc.constantFrom(204, 301, 400, 401, 403, 404, 404, 409, 413, 429, 500, 502, 503),
        text: fc.oneof(nearJson(...refusals), hostileText()),
      }),
    },
  );

const version = { status: 200, text: JSON.stringify({ version: { version: '2.96', min_version: '2.1' } }) };

/** A service that answers everything with the same, but for Nova's version document. */
function serving({ status, text }: Wire): KeystoneSession {
  const answer = (url: URL): HttpAnswer => ({
    headers: {},
    requestId: 'req-1',
    ...(url.pathname === '/v2.1/' ? version : { status, text }),
  });
  const http: Http = { send: ({ url }) => Promise.resolve(answer(url)), close: () => Promise.resolve() };
  return {
    region: 'RegionOne',
    http,
    token: () => Promise.resolve('the-token'),
    use: (send) => send('the-token'),
    endpoint: () => Promise.resolve('http://service/v2.1'),
    identity: () => Promise.reject(new Error('no test asks')),
    close: () => Promise.resolve(),
  };
}

const general: ErrorCode[] = ['AnswerMalformed', 'CredentialRefused', 'NotPermitted', 'RequestRefused'];
const ofNova: ErrorCode[] = [...general, 'NovaUnavailable', 'HostAttributeMissing'];
const ofPlacement: ErrorCode[] = [...general, 'PlacementUnavailable'];

const nova = (
  what: string,
  samples: readonly unknown[],
  read: (client: NovaClient) => Promise<unknown>,
  failures: readonly ErrorCode[] = [],
): Edge =>
  edge({
    name: `Nova: ${what}`,
    inputs: wire(...samples),
    failures: [...ofNova, ...failures],
    read: (answer) => read(createNovaClient(serving(answer))),
  });

const placement = (
  what: string,
  samples: readonly unknown[],
  read: (client: PlacementClient) => Promise<unknown>,
  failures: readonly ErrorCode[] = [],
): Edge =>
  edge({
    name: `Placement: ${what}`,
    inputs: wire(...samples),
    failures: [...ofPlacement, ...failures],
    read: (answer) => read(createPlacementClient(serving(answer))),
  });

const service = {
  id: 'c1',
  binary: 'nova-compute',
  host: 'node-1',
  zone: 'nova',
  status: 'enabled',
  state: 'up',
  disabled_reason: null,
  forced_down: false,
};
const hypervisor = {
  id: 'h',
  hypervisor_hostname: 'node-1',
  hypervisor_type: 'QEMU',
  hypervisor_version: 9_002_000,
  state: 'up',
  status: 'enabled',
  service: { id: 'c1', host: 'node-1' },
};
const server = {
  id: 'a',
  name: 'vm-1',
  status: 'ACTIVE',
  tenant_id: 'p',
  user_id: 'u',
  created: '2026-01-01T00:00:00Z',
  'OS-EXT-SRV-ATTR:host': 'node-1',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-STS:vm_state': 'active',
  locked: false,
  flavor: {
    original_name: 'm1',
    vcpus: 1,
    ram: 512,
    disk: 1,
    ephemeral: 0,
    swap: 0,
    extra_specs: { 'hw:mem_page_size': 'large' },
  },
  image: { id: 'i', properties: { hw_machine_type: 'q35' } },
  'os-extended-volumes:volumes_attached': [{ id: 'v' }],
  metadata: { a: 'b' },
  server_groups: ['g'],
  fault: { message: 'No valid host' },
};
const group = { id: 'g', name: 'g', policy: 'anti-affinity', rules: { max_server_per_host: 2 }, members: ['a'] };
const migration = {
  id: 3,
  uuid: 'm',
  instance_uuid: 'a',
  migration_type: 'live-migration',
  status: 'running',
  source_compute: 'node-1',
  dest_compute: 'node-2',
  created_at: '2026-01-01T00:00:00',
};
const counters = { memory_total_bytes: 10, memory_remaining_bytes: 5, disk_total_bytes: 0, disk_remaining_bytes: 0 };
const action = {
  message: 'Error',
  events: [
    {
      event: 'compute_live_migration',
      result: 'Error',
      details: 'no',
      traceback: 'a\nb',
      finish_time: '2026-01-01T00:00:00',
    },
  ],
};
const links = [{ rel: 'next', href: 'http://service/servers?marker=b' }];

const provider = { uuid: 'p', name: 'node-1', parent_provider_uuid: null, root_provider_uuid: 'p' };
const allocations = { allocations: { a: { resources: { VCPU: 1, MEMORY_MB: 512 } } } };
const inventory = { total: 8, reserved: 0, min_unit: 1, max_unit: 8, step_size: 1, allocation_ratio: 2 };
const candidates = {
  allocation_requests: [allocations],
  provider_summaries: {
    p: {
      resources: { VCPU: { capacity: 8, used: 1 } },
      traits: ['HW_CPU_X86_AVX'],
      parent_provider_uuid: null,
      root_provider_uuid: 'p',
    },
  },
};

const token = {
  token: {
    issued_at: '2026-01-01T00:00:00.000000Z',
    expires_at: '2026-01-01T01:00:00.000000Z',
    user: { name: 'drover' },
    project: { name: 'admin' },
    roles: [{ name: 'admin' }],
    catalog: [
      {
        type: 'compute',
        endpoints: [{ interface: 'public', region_id: 'RegionOne', region: 'RegionOne', url: 'http://service/v2.1' }],
      },
    ],
  },
};

/** A login with an answer of Keystone's, and the first question to its catalog. */
async function logIn({ status, text }: Wire): Promise<unknown> {
  const session = openSession(settingsFor('http://keystone'), {
    clock: systemClock,
    http: {
      send: () =>
        Promise.resolve({ status, text, headers: { 'x-subject-token': 'a-token-of-keystone' }, requestId: 'req-1' }),
      close: () => Promise.resolve(),
    },
  });
  return [await session.endpoint('compute', never), await session.identity(never)];
}

export const openstackEdges: readonly Edge[] = [
  nova(
    'compute services',
    [{ services: [service, { binary: 'nova-compute', host: 'node-2', status: 'UNKNOWN' }] }],
    (client) => client.computeServices(never),
  ),
  nova(
    'hypervisors',
    [{ hypervisors: [hypervisor], hypervisors_links: links }, { hypervisors: [hypervisor] }],
    (client) => client.hypervisors(never),
  ),
  nova(
    'servers, their groups and services',
    [
      { servers: [server], servers_links: links, server_groups: [group], services: [service] },
      { servers: [server], server_groups: [], services: [service] },
    ],
    (client) => client.servers({ host: 'node-1' }, never),
    ['HostNotFound'],
  ),
  nova('a server', [{ server }], (client) => client.server('a', never)),
  nova('server groups', [{ server_groups: [group] }, { server_groups: [] }], (client) => client.serverGroups(never)),
  nova(
    'aggregates',
    [{ aggregates: [{ id: 1, uuid: 'u', name: 'az', availability_zone: 'nova', hosts: ['node-1'], metadata: {} }] }],
    (client) => client.aggregates(never),
  ),
  nova('migrations', [{ migrations: [migration], migrations_links: links }, { migrations: [migration] }], (client) =>
    client.migrationsCopying(never),
  ),
  nova('a migration with counters', [{ migration: { ...migration, server_uuid: 'a', ...counters } }], (client) =>
    client.serverMigration('a', 3, never),
  ),
  nova(
    'an instance action',
    [{ instanceActions: [{ action: 'live-migration', request_id: 'req-1' }], instanceAction: action, server }],
    (client) => client.lastActionFailure('a', { action: 'live-migration' }, never),
  ),
  nova('an order to migrate', [{}], (client) => client.liveMigrate('a', { host: null }, never), [
    'InstanceBusy',
    'InstanceNotFound',
    'InstanceStateRefused',
    'MigrationRefused',
  ]),
  nova(
    'hypervisors by a part of their name',
    [{ hypervisors: [{ ...hypervisor, servers: [{ uuid: 'a', name: 'vm-1' }] }] }],
    (client) => client.hypervisorsNamed('node-1', never),
  ),
  nova(
    'servers of a name',
    [{ servers: [server], servers_links: links }, { servers: [server, { ...server, id: 'b' }] }],
    (client) => client.serversNamed('vm-1', never),
  ),
  nova(
    'servers whose name begins so',
    [{ servers: [server], servers_links: links }, { servers: [server, { ...server, id: 'b' }] }],
    (client) => client.serversNamedLike('vm-', never),
  ),
  nova(
    'a service that is forced down',
    [{ service }],
    (client) => client.updateService('c1', { forcedDown: true }, never),
    ['EvacuatedGuestsRemain', 'HostNotFound', 'ServiceConflict'],
  ),
  nova('an order to remove a service', [{}], (client) => client.deleteService('c1', never), [
    'HostNotEmpty',
    'HostNotFound',
  ]),
  nova('an order to an aggregate', [{ aggregate: {} }], (client) => client.addToAggregate(1, 'node-1', never), [
    'AggregateNotFound',
    'AggregateRefused',
    'HostNotFound',
    'ProviderConflict',
  ]),
  nova('an order to evacuate', [{}], (client) => client.evacuate('a', { host: null }, never), [
    'HostUp',
    'InstanceBusy',
    'InstanceNotFound',
    'InstanceStateRefused',
    'MigrationRefused',
  ]),
  nova(
    'a new server',
    [{ server: { id: 'a', links: [] } }],
    (client) => client.createServer({ name: 'n', flavorId: 'f', imageId: 'i', host: 'node-1', metadata: {} }, never),
    ['SmokeServerRefused'],
  ),
  nova('an order to delete a server', [{}], (client) => client.deleteServer('a', never), [
    'InstanceBusy',
    'InstanceNotFound',
    'InstanceStateRefused',
  ]),
  nova('a console', [{ output: 'login:' }], (client) => client.consoleOutput('a', 10, never), [
    'ConsoleUnavailable',
    'InstanceNotFound',
  ]),
  edge({
    name: 'Nova: the version document',
    inputs: wire({ version: { version: '2.96', min_version: '2.1' } }),
    failures: ofNova,
    read: (answer) => {
      const session = serving({ status: 200, text: JSON.stringify({ server }) });
      const http: Http = {
        ...session.http,
        send: (request, signal) =>
          request.url.pathname === '/v2.1/'
            ? Promise.resolve({ ...answer, headers: {}, requestId: '' })
            : session.http.send(request, signal),
      };
      return createNovaClient({ ...session, http }).server('a', never);
    },
  }),
  edge({
    name: 'Keystone: the URL of a service in the catalog',
    inputs: nearText('http://service/v2.1', 'https://service:8774/v2.1/', 'https://service/compute'),
    failures: [...ofNova, 'EndpointNotFound'],
    read: (url) =>
      createNovaClient({
        ...serving({ status: 200, text: '{"aggregates": []}' }),
        endpoint: (type) =>
          Promise.resolve(
            endpointIn(
              [{ type, endpoints: [{ interface: 'public', region: 'RegionOne', url }] }],
              type,
              'RegionOne',
              'public',
            ),
          ),
      }).aggregates(never),
  }),
  placement('providers', [{ resource_providers: [provider] }], (client) => client.providerByName('node-1', never)),
  placement('a provider', [provider], (client) => client.providerByUuid('p', never)),
  placement('traits', [{ traits: ['A'] }], (client) => client.providerTraits('p', never), ['HostNotFound']),
  placement(
    'traits and their generation',
    [{ traits: ['A'], resource_provider_generation: 3 }],
    (client) => client.traitsWithGeneration('p', never),
    ['HostNotFound'],
  ),
  placement('traits that exist', [{ traits: ['CUSTOM_A'] }], (client) => client.existingTraits(['CUSTOM_A'], never)),
  placement('an order to make a trait', [{}], (client) => client.createTrait('CUSTOM_A', never)),
  placement(
    'an order to replace traits',
    [{ traits: ['A'], resource_provider_generation: 4 }],
    (client) => client.replaceTraits('p', { generation: 3, traits: ['A'] }, never),
    ['HostNotFound', 'ProviderConflict'],
  ),
  placement(
    'a consumer',
    [{ ...allocations, consumer_generation: 3, project_id: 'p', user_id: 'u' }, { allocations: {} }],
    (client) => client.consumer('a', never),
  ),
  placement(
    'an order to write a consumer',
    [{}],
    (client) => client.rewriteConsumer('a', { generation: 3, allocations: {}, projectId: 'p', userId: 'u' }, never),
    ['ConsumerConflict'],
  ),
  placement('an order to delete a provider', [{}], (client) => client.deleteProvider('p', never), [
    'HostNotFound',
    'ProviderInUse',
  ]),
  placement('allocations', [allocations], (client) => client.providerAllocations('p', never), ['HostNotFound']),
  placement(
    'allocations with their generation',
    [{ ...allocations, resource_provider_generation: 3 }],
    (client) => client.allocationsWithGeneration('p', never),
    ['HostNotFound'],
  ),
  placement('inventories', [{ inventories: { VCPU: inventory } }], (client) => client.inventories('p', never), [
    'HostNotFound',
  ]),
  placement('allocation candidates', [candidates], (client) =>
    client.allocationCandidates({ resources: { VCPU: 1 } }, never),
  ),
  edge({
    name: 'Glance: the tags of images',
    inputs: wire({ images: [{ id: 'a', tags: ['amphora'], os_hidden: false }] }, { images: [] }),
    failures: [...general, 'GlanceUnavailable'],
    read: async (answer) => Object.fromEntries(await createImageCalls(serving(answer)).tagsOf(['a'], never)),
  }),
  edge({
    name: 'Keystone: a login',
    inputs: fc.record({
      status: fc.constantFrom(201, 201, 201, 201, 200, 300, 400, 401, 403, 404, 429, 500, 503),
      text: nearJson(token),
    }),
    failures: [...general, 'KeystoneUnavailable', 'EndpointNotFound', 'InvalidConfiguration'],
    read: logIn,
  }),
];
