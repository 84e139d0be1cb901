import { droverFailure } from '../../../runtime/failure.ts';
import type { KeystoneSession } from '../../keystone/types.ts';
import type { HttpRequest } from '../../openstack/http.ts';
import { deleteOpenStackLeftover, listOpenStackLeftovers } from './openstack-leftovers.ts';

const never = new AbortController().signal;
const marks = { clusters: ['shoot-1'], roles: ['node'] };
const tags = ['kubernetes.io-cluster-shoot-1', 'kubernetes.io-role-node'];
const metadata = { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node': '1' };

const port = {
  id: 'port-1',
  name: 'worker-1',
  project_id: 'p',
  device_id: '',
  device_owner: '',
  tags,
  created_at: '2026-01-01T00:00:00Z',
  revision_number: 3,
};
const volume = {
  id: 'volume-1',
  name: 'worker-1',
  status: 'available',
  attachments: [],
  metadata,
  created_at: '2026-01-01T00:00:00.000000',
};

interface Cloud {
  ports?: readonly object[];
  volumes?: readonly object[];
  /** What a deletion is answered with. */
  deletion?: number;
}

/** Neutron and Cinder with these; those that are not given are not in the catalog. */
function openCloud({ ports, volumes, deletion = 204 }: Cloud) {
  const sent: { method: string; path: string; query: string; ifMatch: string | undefined }[] = [];
  const answer = ({ method, url, headers }: HttpRequest) => {
    sent.push({ method, path: url.pathname, query: url.search, ifMatch: headers['if-match'] });
    const of = (kind: 'port' | 'volume', all: readonly object[]): { status: number; body: object } => {
      const found = all.find((one) => 'id' in one && url.pathname.endsWith(`/${String(one.id)}`));
      if (/\/(ports|volumes\/detail)$/u.test(url.pathname)) return { status: 200, body: { [`${kind}s`]: all } };
      if (found === undefined) return { status: 404, body: { itemNotFound: { code: 404, message: 'none' } } };
      if (method === 'DELETE') return { status: deletion, body: { NeutronError: { message: 'changed' } } };
      return { status: 200, body: { [kind]: found } };
    };
    const { status, body } = url.pathname.includes('/ports') ? of('port', ports ?? []) : of('volume', volumes ?? []);
    return Promise.resolve({ status, headers: {}, requestId: 'req-1', text: JSON.stringify(body) });
  };
  const session: KeystoneSession = {
    region: 'RegionOne',
    http: { send: (request) => answer(request), close: () => Promise.resolve() },
    token: () => Promise.resolve('the-token'),
    use: (send) => send('the-token'),
    endpoint: (type) =>
      (type === 'network' ? ports : volumes) === undefined
        ? Promise.reject(droverFailure('EndpointNotFound', `there is no ${type}`))
        : Promise.resolve(type === 'network' ? 'http://neutron:9696/' : 'http://cinder/v3/p'),
    identity: () => Promise.reject(new Error('no test asks')),
    close: () => Promise.resolve(),
  };
  const of = { session, projectId: 'p', marks };
  return {
    sent,
    list: () => listOpenStackLeftovers(of, never),
    remove: (kind: 'port' | 'volume', id: string) => deleteOpenStackLeftover(of, { kind, id }, never),
    deletions: () => sent.filter(({ method }) => method === 'DELETE'),
  };
}

test('a port and a volume of the class that belong to no server are listed', async () => {
  const cloud = openCloud({ ports: [port], volumes: [volume] });
  const createdMs = Date.UTC(2026, 0, 1);
  expect(await cloud.list()).toEqual([
    { kind: 'port', id: 'port-1', name: 'worker-1', createdMs },
    { kind: 'volume', id: 'volume-1', name: 'worker-1', createdMs },
  ]);
  expect(cloud.sent.map(({ path, query }) => `${path}${query}`)).toEqual([
    `/v2.0/ports?tags=${tags.join('%2C')}`,
    '/v3/p/volumes/detail',
  ]);
});

const kept: [what: string, cloud: Cloud][] = [
  ['a port that a server has', { ports: [{ ...port, device_id: 'a' }] }],
  ['a port that a router has', { ports: [{ ...port, device_owner: 'network:router_interface' }] }],
  ['a port of another project', { ports: [{ ...port, project_id: 'q' }] }],
  ['a port without a mark', { ports: [{ ...port, tags: tags.slice(1) }] }],
  ['a port of two clusters', { ports: [{ ...port, tags: [...tags, 'kubernetes.io-cluster-shoot-2'] }] }],
  ['a volume that a server has', { volumes: [{ ...volume, status: 'in-use', attachments: [{}] }] }],
  ['a volume that is being made', { volumes: [{ ...volume, status: 'creating' }] }],
  ['a volume without a mark', { volumes: [{ ...volume, metadata: {} }] }],
];

test.each(kept)('%s is not listed, and stays', async (_, given) => {
  const cloud = openCloud(given);
  expect(await cloud.list()).toEqual([]);
  const [kind, id] = given.ports === undefined ? (['volume', 'volume-1'] as const) : (['port', 'port-1'] as const);
  await expect(cloud.remove(kind, id)).rejects.toMatchObject({ type: 'VirtualMachineNotOwned' });
  expect(cloud.deletions()).toEqual([]);
});

test('a cloud without Neutron and Cinder has no leftovers', async () => {
  expect(await openCloud({}).list()).toEqual([]);
});

test('a leftover is deleted as it was read; one that is gone is gone', async () => {
  const cloud = openCloud({ ports: [port], volumes: [volume] });
  expect(await cloud.remove('port', 'port-1')).toBe(true);
  expect(await cloud.remove('volume', 'volume-1')).toBe(true);
  expect(cloud.deletions()).toMatchObject([
    { path: '/v2.0/ports/port-1', ifMatch: 'revision_number=3' },
    { path: '/v3/p/volumes/volume-1', ifMatch: undefined },
  ]);
  expect(await cloud.remove('port', 'port-2')).toBe(false);
  expect(await cloud.remove('volume', 'volume-2')).toBe(false);
});

test.each([
  ['changed meanwhile', 412, 'ObjectConflict'],
  ['away', 503, 'NeutronUnavailable'],
])('a deletion of a port that is %s', async (_, deletion, type) => {
  await expect(openCloud({ ports: [port], deletion }).remove('port', 'port-1')).rejects.toMatchObject({ type });
});

test('a volume that is taken meanwhile, which Cinder refuses', async () => {
  await expect(openCloud({ volumes: [volume], deletion: 400 }).remove('volume', 'volume-1')).rejects.toMatchObject({
    type: 'RequestRefused',
  });
});

test('other things are none', async () => {
  await expect(openCloud({}).remove('disk' as 'port', 'a')).rejects.toMatchObject({ type: 'InvalidInput' });
});
