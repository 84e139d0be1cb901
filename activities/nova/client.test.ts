import { systemClock } from '../../runtime/clock.ts';
import {
  startScriptedService,
  settingsFor,
  tokenReply,
  type Received,
  type Reply,
  type ScriptedService,
} from '../../test/scripted-service.ts';
import { openSession } from '../keystone/client.ts';
import { createNovaClient } from './client.ts';
import type { NovaClient } from './types.ts';

const never = new AbortController().signal;
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Answers by `METHOD path`, below Nova's `/v2.1`. */
type Script = Record<string, (request: Received) => Reply>;

interface Stage {
  nova: NovaClient;
  service: ScriptedService;
  /** Requests to Nova that match, without the version document's. */
  asked: (path?: string) => Received[];
}

async function stage(script: Script, options: { latest?: string; base?: string } = {}): Promise<Stage> {
  let logins = 0;
  const service: ScriptedService = await startScriptedService((request) => {
    if (request.path === '/v3/auth/tokens')
      return tokenReply(`token-${(logins += 1)}`, {
        urls: { compute: `${service.url}${options.base ?? '/compute/v2.1'}` },
      });
    const path = request.path.replace('/compute/v2.1', '');
    if (path === '/')
      return { json: { version: { id: 'v2.1', version: options.latest ?? '2.104', min_version: '2.1' } } };
    return (
      script[`${request.method} ${path}`]?.(request) ?? {
        status: 404,
        json: { itemNotFound: { code: 404, message: `No script for ${request.method} ${path}` } },
      }
    );
  });
  const session = openSession(settingsFor(service.url), { clock: systemClock });
  open.push(service, session);
  const asked = (path?: string) =>
    service.received.filter(
      (request) =>
        request.path.startsWith('/compute/v2.1/') &&
        request.path !== '/compute/v2.1/' &&
        (path === undefined || request.path === `/compute/v2.1${path}`),
    );
  return { nova: createNovaClient(session), service, asked };
}

const flavor = { original_name: 'm1', vcpus: 1, ram: 512, disk: 1, ephemeral: 0, swap: 0, extra_specs: {} };
const server = (id: string, change: object = {}) => ({
  id,
  name: id,
  status: 'ACTIVE',
  'OS-EXT-SRV-ATTR:host': 'node-1',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-STS:vm_state': 'active',
  locked: false,
  flavor,
  image: { id: 'i' },
  ...change,
});
const computeService = {
  id: 'c1',
  binary: 'nova-compute',
  host: 'node-1',
  zone: 'nova',
  status: 'enabled',
  state: 'up',
  disabled_reason: null,
  forced_down: false,
};
const noGroups = { 'GET /os-server-groups': () => ({ json: { server_groups: [] } }) };

test('reads all pages of all projects’ servers on the host, with their groups', async () => {
  const { nova, asked } = await stage({
    'GET /servers/detail': ({ query }) =>
      query.get('marker') === null
        ? {
            json: {
              servers: [server('a'), server('b')],
              servers_links: [{ rel: 'next', href: 'https://public/v2.1/servers/detail?marker=b' }],
            },
          }
        : { json: { servers: [server('c')] } },
    'GET /os-server-groups': ({ query }) => ({
      json: {
        server_groups:
          query.get('offset') === null
            ? [{ id: 'g', name: 'g', policy: 'anti-affinity', rules: {}, members: ['a', 'c'] }]
            : [],
      },
    }),
  });
  const servers = await nova.servers({ host: 'node-1' }, never);
  expect(servers.map(({ id, serverGroups }) => [id, serverGroups])).toEqual([
    ['a', ['g']],
    ['b', []],
    ['c', ['g']],
  ]);
  expect(asked('/servers/detail').map(({ query }) => query.toString())).toEqual([
    'all_tenants=true&host=node-1',
    'all_tenants=true&host=node-1&marker=b',
  ]);
});

test('a server whose guest is destroyed is gone, though Nova still tells of its record', async () => {
  const destroyed = server('a', { status: 'DELETED', 'OS-EXT-STS:vm_state': 'deleted' });
  const { nova } = await stage({
    'GET /servers/a': () => ({ json: { server: destroyed } }),
    'GET /servers/detail': () => ({ json: { servers: [destroyed, server('b')] } }),
    ...noGroups,
  });
  await expect(nova.server('a', never)).resolves.toBeNull();
  await expect(nova.servers({ host: 'node-1' }, never)).resolves.toMatchObject([{ id: 'b' }]);
});

test('a filter that Nova dropped does not make other hosts’ servers this host’s', async () => {
  const { nova } = await stage({
    ...noGroups,
    'GET /servers/detail': () => ({
      json: { servers: [server('a'), server('b', { 'OS-EXT-SRV-ATTR:host': 'node-2' })] },
    }),
  });
  expect((await nova.servers({ host: 'node-1' }, never)).map(({ id }) => id)).toEqual(['a']);
});

const emptyLists: [what: string, services: object[], outcome: object | []][] = [
  ['is empty where the host’s service says so', [computeService], []],
  ['is a failure where Nova knows no such host', [], { type: 'HostNotFound' }],
  [
    'is a failure where the host’s cell is down',
    [{ binary: 'nova-compute', host: 'node-1', status: 'UNKNOWN' }],
    { type: 'HostAttributeMissing' },
  ],
];
test.each(emptyLists)('an empty list of servers %s', async (_, services, outcome) => {
  const { nova } = await stage({
    ...noGroups,
    'GET /servers/detail': () => ({ json: { servers: [] } }),
    'GET /os-services': () => ({ json: { services } }),
  });
  const found = await nova.servers({ host: 'node-1' }, never).catch((error: unknown) => error);
  expect(found).toEqual(Array.isArray(outcome) ? outcome : expect.objectContaining(outcome));
});

test('servers without their host are a failure (H1)', async () => {
  const { nova } = await stage({
    ...noGroups,
    'GET /servers/detail': () => ({ json: { servers: [server('a', { 'OS-EXT-SRV-ATTR:host': undefined })] } }),
  });
  await expect(nova.servers({ host: 'node-1' }, never)).rejects.toMatchObject({
    type: 'HostAttributeMissing',
    nonRetryable: true,
  });
});

test.each(['latest', '2', '2.x', ''])('a Nova whose version is %j is not understood', async (latest) => {
  const { nova } = await stage({}, { latest });
  await expect(nova.server('a', never)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringMatching(/version\.version/u),
  });
});

const serverVersions: [latest: string, microversion: string][] = [
  ['2.95', '2.94'],
  ['2.97', '2.94'],
  ['2.98', '2.98'],
  ['2.104', '2.98'],
];
test.each(serverVersions)(
  'a Nova that ends at %s is asked for servers at %s, after one look at what it can do',
  async (latest, microversion) => {
    const { nova, asked, service } = await stage(
      { 'GET /servers/a': () => ({ json: { server: server('a') } }) },
      { latest },
    );
    await nova.server('a', never);
    await nova.server('a', never);
    expect(asked('/servers/a').map(({ headers }) => headers['openstack-api-version'])).toEqual([
      `compute ${microversion}`,
      `compute ${microversion}`,
    ]);
    expect(service.received.filter(({ path }) => path === '/compute/v2.1/')).toHaveLength(1);
  },
);

test('a Nova that is too old is refused with the release that is needed', async () => {
  const { nova } = await stage({}, { latest: '2.90' });
  await expect(nova.server('a', never)).rejects.toMatchObject({
    type: 'RequestRefused',
    message: expect.stringMatching(/ends at microversion 2\.90; drover needs 2\.94, which came with 2023\.1/u),
  });
});

test.each(['/compute', '/compute/', '/compute/v2.1', '/compute/v2.1/', '/compute/v2.1/0123abc'])(
  'finds Nova at %s of the catalog',
  async (base) => {
    const { nova } = await stage({ 'GET /os-aggregates': () => ({ json: { aggregates: [] } }) }, { base });
    await expect(nova.aggregates(never)).resolves.toEqual([]);
  },
);

test('a server is gone only in Nova’s own words', async () => {
  const { nova } = await stage({ 'GET /servers/b': () => ({ status: 404, text: 'default backend - 404' }) });
  await expect(nova.server('a', never)).resolves.toBeNull();
  await expect(nova.server('b', never)).rejects.toMatchObject({ type: 'AnswerMalformed' });
  await expect(nova.serverMigration('b', 1, never)).resolves.toBeNull();
});

test('services of cells that are down count as down', async () => {
  const { nova } = await stage({
    'GET /os-services': () => ({
      json: {
        services: [
          computeService,
          { binary: 'nova-compute', host: 'node-9', status: 'UNKNOWN' },
          { ...computeService, id: 's', binary: 'nova-scheduler' },
        ],
      },
    }),
  });
  expect(await nova.computeServices(never)).toEqual([
    {
      id: 'c1',
      host: 'node-1',
      zone: 'nova',
      status: 'enabled',
      disabledReason: null,
      state: 'up',
      forcedDown: false,
      cellDown: false,
    },
    {
      id: '',
      host: 'node-9',
      zone: '',
      status: 'disabled',
      disabledReason: null,
      state: 'down',
      forcedDown: false,
      cellDown: true,
    },
  ]);
});

test('migrations in progress are read status by status, in the order of their life, so that none slips through', async () => {
  let status = 'queued';
  const record = () => ({
    id: 7,
    uuid: 'm',
    instance_uuid: 's',
    migration_type: 'live-migration',
    status,
    source_compute: 'node-1',
    dest_compute: null,
    created_at: '2026-01-01T00:00:00.1',
  });
  const { nova, asked } = await stage({
    'GET /os-migrations': ({ query }) => {
      const migrations = query.get('status') === status ? [record()] : [];
      // It moves on right after it was observed.
      if (migrations.length > 0) status = 'running';
      return { json: { migrations } };
    },
  });
  expect(await nova.migrationsInProgress({ host: 'node-1' }, never)).toEqual([
    expect.objectContaining({
      id: 7,
      instanceId: 's',
      status: 'running',
      sourceHost: 'node-1',
      targetHost: null,
      createdAt: '2026-01-01T00:00:00.1Z',
    }),
  ]);
  expect(asked().map(({ query }) => query.get('status'))).toEqual([
    'accepted',
    'queued',
    'preparing',
    'pre-migrating',
    'running',
    'running (post-copy)',
    'migrating',
    'post-migrating',
    'finished',
    'confirming',
    'reverting',
  ]);
  expect(asked().every(({ query }) => query.get('host') === 'node-1')).toBe(true);
});

test('of the region, only those are asked for that copy or are about to', async () => {
  const { nova, asked } = await stage({ 'GET /os-migrations': () => ({ json: { migrations: [] } }) });
  expect(await nova.migrationsCopying(never)).toEqual([]);
  expect(asked().map(({ query }) => query.toString())).toEqual(
    [
      'accepted',
      'queued',
      'preparing',
      'pre-migrating',
      'running',
      'running+%28post-copy%29',
      'migrating',
      'post-migrating',
      'reverting',
    ].map((status) => `status=${status}`),
  );
});

test('migrations whose hosts the policy hides are a failure', async () => {
  const hidden = {
    id: 7,
    uuid: 'm',
    instance_uuid: 's',
    migration_type: 'live-migration',
    status: 'running',
    source_compute: null,
    dest_compute: null,
    created_at: '2026-01-01T00:00:00',
  };
  const { nova } = await stage({ 'GET /os-migrations': () => ({ json: { migrations: [hidden] } }) });
  await expect(nova.migrationsOf('s', never)).rejects.toMatchObject({ type: 'HostAttributeMissing' });
});

const requests: [what: string, act: (nova: NovaClient) => Promise<{ requestId: string }>, sent: object][] = [
  [
    'liveMigrate, target left to the scheduler',
    (nova) => nova.liveMigrate('s', { host: null }, never),
    { method: 'POST', path: '/servers/s/action', body: { 'os-migrateLive': { host: null, block_migration: 'auto' } } },
  ],
  [
    'liveMigrate to a host',
    (nova) => nova.liveMigrate('s', { host: 'node-2' }, never),
    {
      method: 'POST',
      path: '/servers/s/action',
      body: { 'os-migrateLive': { host: 'node-2', block_migration: 'auto' } },
    },
  ],
  [
    'coldMigrate',
    (nova) => nova.coldMigrate('s', { host: null }, never),
    { method: 'POST', path: '/servers/s/action', body: { migrate: null } },
  ],
  [
    'coldMigrate to a host',
    (nova) => nova.coldMigrate('s', { host: 'node-2' }, never),
    { method: 'POST', path: '/servers/s/action', body: { migrate: { host: 'node-2' } } },
  ],
  [
    'abortMigration',
    (nova) => nova.abortMigration('s', 7, never),
    { method: 'DELETE', path: '/servers/s/migrations/7', body: undefined },
  ],
  [
    'forceCompleteMigration',
    (nova) => nova.forceCompleteMigration('s', 7, never),
    { method: 'POST', path: '/servers/s/migrations/7/action', body: { force_complete: null } },
  ],
  [
    'confirmResize',
    (nova) => nova.confirmResize('s', never),
    { method: 'POST', path: '/servers/s/action', body: { confirmResize: null } },
  ],
  [
    'updateService',
    (nova) => nova.updateService('c1', { status: 'disabled', disabledReason: 'drover: x' }, never),
    { method: 'PUT', path: '/os-services/c1', body: { status: 'disabled', disabled_reason: 'drover: x' } },
  ],
  [
    'updateService, forced down',
    (nova) => nova.updateService('c1', { forcedDown: true }, never),
    { method: 'PUT', path: '/os-services/c1', body: { forced_down: true } },
  ],
  [
    'deleteService',
    (nova) => nova.deleteService('c1', never),
    { method: 'DELETE', path: '/os-services/c1', body: undefined },
  ],
  [
    'addToAggregate',
    (nova) => nova.addToAggregate(7, 'node-1', never),
    { method: 'POST', path: '/os-aggregates/7/action', body: { add_host: { host: 'node-1' } } },
  ],
  [
    'removeFromAggregate',
    (nova) => nova.removeFromAggregate(7, 'node-1', never),
    { method: 'POST', path: '/os-aggregates/7/action', body: { remove_host: { host: 'node-1' } } },
  ],
  [
    'evacuate, target left to the scheduler',
    (nova) => nova.evacuate('s', { host: null }, never),
    { method: 'POST', path: '/servers/s/action', body: { evacuate: {} } },
  ],
  [
    'evacuate to a host',
    (nova) => nova.evacuate('s', { host: 'node-2' }, never),
    { method: 'POST', path: '/servers/s/action', body: { evacuate: { host: 'node-2' } } },
  ],
  ['deleteServer', (nova) => nova.deleteServer('s', never), { method: 'DELETE', path: '/servers/s', body: undefined }],
  [
    'createServer',
    (nova) =>
      nova.createServer({ name: 'n', flavorId: 'f', imageId: 'i', host: 'node-1', metadata: { a: 'b' } }, never),
    {
      method: 'POST',
      path: '/servers',
      body: {
        server: { name: 'n', flavorRef: 'f', imageRef: 'i', networks: 'none', host: 'node-1', metadata: { a: 'b' } },
      },
    },
  ],
];
test.each(requests)(
  '%s sends what the Compute API wants, at 2.94, and gives the request id back',
  async (_, act, sent) => {
    const accepted = () => ({ status: 202, headers: { 'x-openstack-request-id': 'req-7' }, text: '' });
    const { nova, asked } = await stage({
      'POST /servers/s/action': accepted,
      'DELETE /servers/s/migrations/7': accepted,
      'POST /servers/s/migrations/7/action': accepted,
      'PUT /os-services/c1': () => ({
        headers: { 'x-openstack-request-id': 'req-7' },
        json: { service: { ...computeService, status: 'disabled' } },
      }),
      'DELETE /os-services/c1': accepted,
      'POST /os-aggregates/7/action': accepted,
      'DELETE /servers/s': accepted,
      'POST /servers': () => ({
        status: 202,
        headers: { 'x-openstack-request-id': 'req-7' },
        json: { server: { id: 'new' } },
      }),
    });
    expect(await act(nova)).toMatchObject({ requestId: 'req-7' });
    const [request] = asked();
    expect({ ...request, path: request?.path.replace('/compute/v2.1', '') }).toMatchObject(sent);
    expect(request?.headers['openstack-api-version']).toBe('compute 2.94');
    expect(asked()).toHaveLength(1);
  },
);

test('a refused token is replaced once; a second refusal is the credential’s', async () => {
  const { nova, asked } = await stage({
    'GET /os-aggregates': ({ headers }) =>
      headers['x-auth-token'] === 'token-1' ? { status: 401, text: 'Unauthorized' } : { json: { aggregates: [] } },
  });
  await expect(nova.aggregates(never)).resolves.toEqual([]);
  expect(asked().map(({ headers }) => headers['x-auth-token'])).toEqual(['token-1', 'token-2']);
  const hopeless = await stage({ 'POST /servers/s/action': () => ({ status: 401, text: '' }) });
  await expect(hopeless.nova.confirmResize('s', never)).rejects.toMatchObject({
    type: 'CredentialRefused',
    nonRetryable: true,
  });
  expect(hopeless.asked()).toHaveLength(2);
});

const answers: [what: string, reply: Reply, code: string, words: RegExp][] = [
  [
    'no JSON',
    { text: '<html>maintenance</html>' },
    'AnswerMalformed',
    /answer 200 to GET \/compute\/v2\.1\/os-aggregates is no JSON: <html>maintenance/u,
  ],
  ['half of it', { text: '{"aggregates": [' }, 'AnswerMalformed', /is no JSON/u],
  [
    'another shape',
    { headers: { 'x-openstack-request-id': 'req-9' }, json: { aggregates: [{ id: 'one' }] } },
    'AnswerMalformed',
    /unexpected aggregates\.0\.id: .*expected number.*\(request req-9\)/u,
  ],
  ['a redirect', { status: 302, headers: { location: 'http://login' }, text: '' }, 'AnswerMalformed', /answered 302/u],
  [
    '403',
    {
      status: 403,
      headers: { 'x-openstack-request-id': 'req-9' },
      json: { forbidden: { code: 403, message: "Policy doesn't allow x." } },
    },
    'NotPermitted',
    /answered 403 to GET .*: Policy doesn't allow x\. \(request req-9\)/u,
  ],
  ['429', { status: 429, text: 'slow down' }, 'NovaUnavailable', /slow down/u],
  [
    '500',
    { status: 500, json: { computeFault: { code: 500, message: 'Unexpected API Error.' } } },
    'NovaUnavailable',
    /Unexpected API Error/u,
  ],
  [
    '503 of a proxy',
    { status: 503, text: '<h1>503 Service Unavailable</h1>' },
    'NovaUnavailable',
    /503 Service Unavailable/u,
  ],
  ['a cut', 'cut', 'NovaUnavailable', /connection was cut/u],
];
test.each(answers)('%s is a clear failure, asked once', async (_, reply, code, words) => {
  const { nova, asked } = await stage({ 'GET /os-aggregates': () => reply });
  await expect(nova.aggregates(never)).rejects.toMatchObject({ type: code, message: expect.stringMatching(words) });
  expect(asked()).toHaveLength(1);
});

test('the failure of an action: its own events, else the server’s fault, else nothing', async () => {
  const actions = '/servers/s/os-instance-actions';
  const { nova } = await stage({
    [`GET ${actions}`]: () => ({
      json: {
        instanceActions: [
          { action: 'migrate', request_id: 'req-3' },
          { action: 'live-migration', request_id: 'req-2' },
          { action: 'live-migration', request_id: 'req-1' },
        ],
      },
    }),
    [`GET ${actions}/req-2`]: () => ({
      json: { instanceAction: { events: [{ event: 'e', result: 'Error', details: 'CPU does not match' }] } },
    }),
    [`GET ${actions}/req-3`]: () => ({
      json: { instanceAction: { events: [{ event: 'e', result: 'Success', details: null }] } },
    }),
    'GET /servers/s': () => ({
      json: { server: server('s', { status: 'ERROR', fault: { message: 'guest lost in transfer' } }) },
    }),
  });
  await expect(nova.lastActionFailure('s', { requestId: 'req-2' }, never)).resolves.toBe('CPU does not match');
  await expect(nova.lastActionFailure('s', { action: 'live-migration' }, never)).resolves.toBe('CPU does not match');
  await expect(nova.lastActionFailure('s', { requestId: 'req-3' }, never)).resolves.toBe('guest lost in transfer');
  await expect(nova.lastActionFailure('gone', { requestId: 'req-9' }, never)).resolves.toBeNull();
});

test('hypervisors by a part of their name, with their servers; none where Nova finds none', async () => {
  const record = {
    id: 'h',
    hypervisor_hostname: 'node-1.example',
    hypervisor_type: 'QEMU',
    hypervisor_version: 9_002_000,
    state: 'up',
    status: 'enabled',
    service: { id: 'c1', host: 'node-1' },
    servers: [{ uuid: 'a', name: 'vm' }],
  };
  const { nova, asked } = await stage({
    'GET /os-hypervisors/detail': ({ query }) =>
      query.get('hypervisor_hostname_pattern') === 'node-1'
        ? { json: { hypervisors: [record] } }
        : {
            status: 404,
            json: { itemNotFound: { code: 404, message: "No hypervisor matching 'node-2' could be found." } },
          },
  });
  await expect(nova.hypervisorsNamed('node-1', never)).resolves.toMatchObject([
    { id: 'h', serviceHost: 'node-1', servers: ['a'] },
  ]);
  await expect(nova.hypervisorsNamed('node-2', never)).resolves.toEqual([]);
  expect(asked().map(({ query, headers }) => [query.get('with_servers'), headers['openstack-api-version']])).toEqual([
    ['true', 'compute 2.87'],
    ['true', 'compute 2.87'],
  ]);
});

test('servers of exactly a name come oldest first, those that no host took among them', async () => {
  const at = (id: string, created: string, change: object = {}) => server(id, { name: 'probe.1', created, ...change });
  const { nova, asked } = await stage({
    'GET /servers/detail': () => ({
      json: {
        servers: [
          at('c', '2026-01-01T00:00:02Z'),
          at('b', '2026-01-01T00:00:01Z', { 'OS-EXT-SRV-ATTR:host': null, status: 'ERROR' }),
          at('a', '2026-01-01T00:00:01Z'),
          server('d', { name: 'probeX1' }),
          at('e', '2026-01-01T00:00:00Z', { 'OS-EXT-STS:vm_state': 'deleted' }),
        ],
      },
    }),
  });
  expect((await nova.serversNamed('probe.1', never)).map(({ id, host }) => [id, host])).toEqual([
    ['a', 'node-1'],
    ['b', null],
    ['c', 'node-1'],
  ]);
  expect(asked().map(({ query }) => query.toString())).toEqual(['all_tenants=true&name=probe.1']);
});

test('the console of a server', async () => {
  const { nova, asked } = await stage({ 'POST /servers/s/action': () => ({ json: { output: 'login:' } }) });
  await expect(nova.consoleOutput('s', 20, never)).resolves.toBe('login:');
  expect(asked()[0]?.body).toEqual({ 'os-getConsoleOutput': { length: 20 } });
});
