import { novaRefusal, openScriptedOpenStack, wireServer, type ScriptedOpenStack } from '../../test/scripted-openstack.ts';
import type { Reply } from '../../test/scripted-service.ts';
import { smokeMetadata, smokeServerName } from './smoke-mark.ts';

const open: ScriptedOpenStack[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const owner = { host: 'node-1', hypervisor: 'node-1', uid: 'u-1' };
const name = smokeServerName('node-1');
const request = { owner, flavorId: 'f', imageId: 'i', console: 'hostname' as const, deadlineMs: 60_000, cleanUpMs: 60_000 };

interface Region {
  servers: Record<string, object>;
  /** What a new server is like. */
  fresh?: object;
  /** Answer to the making of a server; the server is there all the same, unless it is a refusal by Nova. */
  made?: Reply;
  console?: () => Reply;
  deletion?: (id: string) => Reply | null;
}

const smoke = (id: string, created: string, change: object = {}): object => wireServer(id, { name, created, metadata: smokeMetadata(owner), ...change });

/** Nova with those servers, which makes and deletes more. */
async function stage(region: Region): Promise<ScriptedOpenStack> {
  const ids = [...Object.keys(region.servers), 'new-1', 'new-2', 'new-3'];
  let made = 0;
  const perServer = (id: string) => ({
    [`GET /servers/${id}`]: (): Reply => (region.servers[id] === undefined ? novaRefusal(404, 'Instance could not be found.') : { json: { server: region.servers[id] } }),
    [`DELETE /servers/${id}`]: (): Reply => {
      const given = region.deletion?.(id) ?? null;
      if (given !== null) return given;
      const found = region.servers[id] !== undefined;
      delete region.servers[id];
      return found ? { status: 204, text: '' } : novaRefusal(404, 'Instance could not be found.');
    },
    [`POST /servers/${id}/action`]: region.console ?? ((): Reply => ({ json: { output: `${name} login:` } })),
  });
  const opened = await openScriptedOpenStack({
    'GET /servers/detail': () => ({ json: { servers: Object.values(region.servers) } }),
    'POST /servers': ({ body }) => {
      const refused = typeof region.made === 'object' && (region.made.status ?? 200) >= 400;
      made += 1;
      const id = `new-${made}`;
      if (!refused) region.servers[id] = smoke(id, `2026-01-01T00:00:0${made}Z`, { metadata: (body as { server: { metadata: object } }).server.metadata, ...region.fresh });
      return region.made ?? { status: 202, headers: { 'x-openstack-request-id': 'req-1' }, json: { server: { id } } };
    },
    ...Object.assign({}, ...ids.map(perServer)),
  });
  open.push(opened);
  return opened;
}

test('a server is made on exactly that host, marked as drover’s, seen to boot, and deleted', async () => {
  const { activities, changes, received, audited } = await stage({ servers: {} });
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ name: 'server', seen: 'ACTIVE on node-1', code: null }, { name: 'console', code: null }]);
  expect(changes()).toEqual(['POST /servers', 'POST /servers/new-1/action', 'DELETE /servers/new-1']);
  expect(received().find(({ path, method }) => method === 'POST' && path === '/servers')?.body).toEqual({
    server: {
      name: 'drover-smoke-node-1',
      flavorRef: 'f',
      imageRef: 'i',
      networks: 'none',
      host: 'node-1',
      metadata: { 'drover:purpose': 'smoke-test', 'drover:host': 'node-1', 'drover:hypervisor': 'node-1', 'drover:hypervisor-uid': 'u-1' },
    },
  });
  expect(audited.map(({ action }) => action)).toEqual(['ensureSmokeServer', 'deleteSmokeServer']);
});

test('the server of an attempt whose answer was lost is found again', async () => {
  const region: Region = { servers: {}, made: 'cut' };
  const { activities, changes } = await stage(region);
  await expect(activities.runSmokeCheck(request)).rejects.toMatchObject({ type: 'NovaUnavailable', nonRetryable: false });
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ code: null }, { code: null }]);
  expect(changes().filter((change) => change === 'POST /servers')).toHaveLength(1);
  expect(region.servers).toEqual({});
});

test('of two that were made at once the oldest stays; a broken one and one of an earlier Hypervisor go', async () => {
  const region: Region = {
    servers: {
      broken: smoke('broken', '2026-01-01T00:00:00Z', { status: 'ERROR' }),
      earlier: smoke('earlier', '2026-01-01T00:00:00Z', { metadata: smokeMetadata({ ...owner, uid: 'u-0' }) }),
      younger: smoke('younger', '2026-01-01T00:00:02Z'),
      older: smoke('older', '2026-01-01T00:00:01Z'),
      'not-ours': wireServer('not-ours', { name }),
    },
  };
  const { activities, changes } = await stage(region);
  await activities.runSmokeCheck(request);
  expect(changes()).toEqual(['DELETE /servers/broken', 'DELETE /servers/earlier', 'DELETE /servers/younger', 'POST /servers/older/action', 'DELETE /servers/older']);
  expect(Object.keys(region.servers)).toEqual(['not-ours']);
});

test('what Nova refuses is a finding, in its words', async () => {
  const { activities, changes } = await stage({ servers: {}, made: novaRefusal(400, 'Flavor f could not be found.') });
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ name: 'server', seen: 'Flavor f could not be found.', code: 'SmokeServerRefused' }]);
  expect(changes()).toEqual(['POST /servers']);
});

test('a server that is in ERROR at once is asked why', async () => {
  const { activities, changes } = await stage({ servers: {}, fresh: { status: 'ERROR', 'OS-EXT-STS:vm_state': 'error', 'OS-EXT-SRV-ATTR:host': null, fault: { message: 'No valid host was found.' } } });
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ name: 'server', seen: 'ERROR on no host: No valid host was found.', code: 'SmokeServerFailed' }]);
  expect(changes()).toEqual(['POST /servers', 'DELETE /servers/new-1']);
});

test('a console that never shows it is a finding after the deadline, and the server goes all the same', async () => {
  const region: Region = { servers: {}, console: () => ({ json: { output: 'Kernel panic - not syncing' } }) };
  const { activities } = await stage(region);
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ code: null }, { name: 'console', seen: expect.stringContaining('Kernel panic'), code: 'SmokeServerFailed' }]);
  expect(region.servers).toEqual({});
});

test('a console that comes late is waited for', async () => {
  let asked = 0;
  const { activities } = await stage({ servers: {}, console: () => ((asked += 1) < 3 ? novaRefusal(409, 'Instance s is not ready') : { json: { output: 'up at last' } }) });
  await expect(activities.runSmokeCheck({ ...request, console: { text: 'at last' } })).resolves.toMatchObject([{ code: null }, { code: null }]);
  expect(asked).toBe(3);
});

test('where another attempt of the same check takes the server along, there is another one', async () => {
  const region: Region = { servers: {} };
  let asked = 0;
  region.console = () => {
    if ((asked += 1) > 1) return { json: { output: `${name} login:` } };
    delete region.servers['new-1'];
    return novaRefusal(404, 'Instance could not be found.');
  };
  const { activities, changes } = await stage(region);
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ code: null }, { code: null }]);
  expect(changes().filter((change) => change === 'POST /servers')).toHaveLength(2);
});

test('a server that cannot be deleted is a finding too', async () => {
  const { activities } = await stage({ servers: {}, deletion: () => novaRefusal(409, 'Instance s is not ready') });
  await expect(activities.runSmokeCheck(request)).resolves.toMatchObject([{ code: null }, { code: null }, { name: 'clean-up', code: 'SmokeServerFailed' }]);
});

test('gone means all of drover’s on that host, and nobody else’s', async () => {
  const region: Region = {
    servers: { a: smoke('a', '2026-01-01T00:00:00Z'), 'not-ours': wireServer('not-ours', { name }), other: wireServer('other', { name, metadata: smokeMetadata({ ...owner, host: 'node-9' }) }) },
  };
  const { activities } = await stage(region);
  await expect(activities.findSmokeServers({ host: 'node-1' })).resolves.toEqual(['a']);
  await expect(activities.ensureSmokeServerGone({ host: 'node-1', deadlineMs: 1_000 })).resolves.toBe(true);
  await expect(activities.ensureSmokeServerGone({ host: 'node-1', deadlineMs: 1_000 })).resolves.toBe(true);
  expect(Object.keys(region.servers)).toEqual(['not-ours', 'other']);
});

test('gone can mean some of them', async () => {
  const region: Region = { servers: { a: smoke('a', '2026-01-01T00:00:00Z'), b: smoke('b', '2026-01-01T00:00:01Z') } };
  const { activities } = await stage(region);
  await expect(activities.ensureSmokeServerGone({ host: 'node-1', ids: ['b', 'not-ours'], deadlineMs: 1_000 })).resolves.toBe(true);
  expect(Object.keys(region.servers)).toEqual(['a']);
});
