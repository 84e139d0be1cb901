import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { parseConfig } from './config.ts';
import { loadVcenters } from './vsphere-settings.ts';

const never = new AbortController().signal;
let dir: string;
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text, { mode: 0o600 });
  return join(dir, name);
};
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-vsphere-settings-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const pem = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
const section = (vcenter: object) => parseConfig({ vsphere: { vcenters: { prod: vcenter } } }, {}, {}).vsphere;
const thumbprint = 'AB:'.repeat(31) + 'CD';

test('the user and the password are read anew each time, from files', async () => {
  const [vcenter] = loadVcenters(
    section({
      url: 'https://vc.example/sdk',
      usernameFile: file('username', 'drover@vsphere.local\n'),
      passwordFile: file('password', 'one\n'),
      caFile: file('ca.pem', pem),
    }),
    {},
  );
  expect(vcenter).toMatchObject({
    name: 'prod',
    url: 'https://vc.example',
    ca: pem,
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 100, tasks: 32 },
  });
  expect(await vcenter?.credential(never)).toEqual({ username: 'drover@vsphere.local', password: 'one' });
  file('password', 'two');
  expect(await vcenter?.credential(never)).toMatchObject({ password: 'two' });
  rmSync(join(dir, 'password'));
  await expect(vcenter?.credential(never)).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringContaining('The file of the password of vCenter prod cannot be read'),
  });
});

test('a thumbprint is taken as people copy it', () => {
  const [vcenter] = loadVcenters(
    section({ url: 'https://vc.example:8443', username: 'u', passwordFile: 'p', thumbprint }),
    {},
  );
  expect(vcenter).toMatchObject({ url: 'https://vc.example:8443', thumbprint: 'ab'.repeat(31) + 'cd' });
});

test('where VMs go', () => {
  const zones = { 'zone-a': { folder: '/DC0/vm/{namespace}', resourcePool: '/DC0/host/DC0_C0/Resources/{namespace}' } };
  const [vcenter] = loadVcenters(
    section({
      url: 'https://vc',
      username: 'u',
      passwordFile: 'p',
      zones,
      storagePolicies: { gold: { datastores: ['/DC0/datastore/fast'] } },
      networks: { web: '/DC0/network/web' },
    }),
    {},
  );
  expect(vcenter?.places).toEqual({
    zones,
    storagePolicies: { gold: { datastores: ['/DC0/datastore/fast'], encrypted: false } },
    networks: { web: '/DC0/network/web' },
  });
  expect(loadVcenters(section({ url: 'https://vc', username: 'u', passwordFile: 'p' }), {})[0]?.places).toEqual({
    zones: {},
    storagePolicies: {},
    networks: {},
  });
});

test('the variables of govc, where the settings name none', async () => {
  const ca = file('ca.pem', pem);
  const env = { GOVC_URL: 'vc.example', GOVC_USERNAME: 'u', GOVC_PASSWORD: 'the-password', GOVC_TLS_CA_CERTS: ca };
  const none = parseConfig({}, {}, {}).vsphere;
  const [vcenter] = loadVcenters(none, env);
  expect(vcenter).toMatchObject({ name: 'vc.example', url: 'https://vc.example', ca: pem });
  expect(await vcenter?.credential(never)).toEqual({ username: 'u', password: 'the-password' });
  const [within] = loadVcenters(none, { GOVC_URL: 'https://u%40v:p%2Fw@vc.example/sdk' });
  expect(await within?.credential(never)).toEqual({ username: 'u@v', password: 'p/w' });
  expect(within?.url).toBe('https://vc.example');
  expect(loadVcenters(none, {})).toEqual([]);
  expect(
    loadVcenters(section({ url: 'https://a', username: 'u', passwordFile: 'p' }), env).map(({ name }) => name),
  ).toEqual(['prod']);
});

test.each<[what: string, vcenter: object, words: RegExp]>([
  ['http', { url: 'http://vc', username: 'u', passwordFile: 'p' }, /prod\.url: expected https/u],
  ['a password in the URL', { url: 'https://u:p@vc', username: 'u', passwordFile: 'p' }, /prod\.url: expected https/u],
  ['no user', { url: 'https://vc', passwordFile: 'p' }, /expected username or usernameFile/u],
  [
    'two users',
    { url: 'https://vc', username: 'u', usernameFile: 'f', passwordFile: 'p' },
    /expected username or usernameFile/u,
  ],
  ['no password', { url: 'https://vc', username: 'u' }, /prod\.passwordFile/u],
  [
    'a password',
    { url: 'https://vc', username: 'u', password: 'p' },
    /unknown field vsphere\.vcenters\.prod\.password/u,
  ],
  [
    'a SHA-1 thumbprint',
    { url: 'https://vc', username: 'u', passwordFile: 'p', thumbprint: 'AB:'.repeat(19) + 'CD' },
    /expected the SHA-256 thumbprint/u,
  ],
  [
    'a CA and a thumbprint',
    { url: 'https://vc', username: 'u', passwordFile: 'p', caFile: 'c', thumbprint },
    /not both/u,
  ],
  [
    'a folder that is none of VMs',
    {
      url: 'https://vc',
      username: 'u',
      passwordFile: 'p',
      zones: { a: { folder: '/DC0/host/x', resourcePool: '/DC0/host/C/Resources' } },
    },
    /zones\.a\.folder: expected a folder of VMs/u,
  ],
  [
    'a pool that is none',
    {
      url: 'https://vc',
      username: 'u',
      passwordFile: 'p',
      zones: { a: { folder: '/DC0/vm', resourcePool: '/DC0/host/C' } },
    },
    /zones\.a\.resourcePool: expected a resource pool/u,
  ],
  [
    'a datastore that is no path',
    { url: 'https://vc', username: 'u', passwordFile: 'p', storagePolicies: { gold: { datastores: ['fast'] } } },
    /storagePolicies\.gold\.datastores.*expected a path/u,
  ],
  [
    'a policy without datastores',
    { url: 'https://vc', username: 'u', passwordFile: 'p', storagePolicies: { gold: { datastores: [] } } },
    /storagePolicies\.gold\.datastores/u,
  ],
])('refuses %s', (_, vcenter, words) => expect(() => section(vcenter)).toThrow(words));

test.each<[what: string, env: Record<string, string>, words: RegExp]>([
  ['blind trust', { GOVC_URL: 'vc', GOVC_USERNAME: 'u', GOVC_PASSWORD: 'p', GOVC_INSECURE: '1' }, /GOVC_TLS_CA_CERTS/u],
  ['no password', { GOVC_URL: 'vc', GOVC_USERNAME: 'u' }, /GOVC_USERNAME and GOVC_PASSWORD/u],
  ['no address', { GOVC_URL: 'https://', GOVC_USERNAME: 'u', GOVC_PASSWORD: 'p' }, /GOVC_URL/u],
  [
    'a file that is no certificate',
    { GOVC_URL: 'vc', GOVC_USERNAME: 'u', GOVC_PASSWORD: 'p', GOVC_TLS_CA_CERTS: '/dev/null' },
    /holds no PEM certificate: correct GOVC_TLS_CA_CERTS/u,
  ],
])('of govc’s variables, refuses %s', (_, env, words) =>
  expect(() => loadVcenters({ vcenters: {} }, env)).toThrow(words),
);
