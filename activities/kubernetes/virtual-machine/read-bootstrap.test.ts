import { gunzipSync, gzipSync } from 'node:zlib';

import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { sampleMetadata, sampleVirtualMachine } from '../../../test/fixtures/activities/virtual-machine.ts';
import { createReadBootstrap } from './activities.ts';
import { hashSecret } from './hash-secret.ts';
import { readBootstrapFacts } from './read-bootstrap.ts';

const { signal } = new AbortController();
const key = { namespace: 'team', name: 'web', uid: 'vm-uid' };
type Given = Record<string, Record<string, string | Buffer>>;

const clientWith = (vm: ReturnType<typeof sampleVirtualMachine>, secrets: Given): KubernetesObjects =>
  ({
    get: async ({ kind }: { kind: string }, { name }: { name: string }) => {
      if (kind === 'VirtualMachine') return vm;
      if (name === 'forbidden') throw droverFailure('KubernetesForbidden', 'GET /secrets/forbidden: no');
      const found = secrets[name];
      if (found === undefined) return null;
      const data = Object.entries(found).map(([one, value]) => [one, Buffer.from(value).toString('base64')]);
      return { metadata: { name, uid: name, resourceVersion: '7' }, data: Object.fromEntries(data) as object };
    },
  }) as unknown as KubernetesObjects;

const sample = (bootstrap: object | undefined, network: object = {}, uid = 'vm-uid') =>
  sampleVirtualMachine({ metadata: { uid }, spec: { ...(bootstrap && { bootstrap }), network } });
const factsOf = (bootstrap: object | undefined, secrets: Given = {}, network: object = {}, uid?: string) => {
  const vm = sample(bootstrap, network, uid);
  return readBootstrapFacts({ client: clientWith(vm, secrets), hashSecret }, vm, signal);
};
const setupOf = (
  bootstrap: object,
  secrets: Given,
  kind: 'CloudInit' | 'LinuxPrep' | 'Sysprep' | null,
  network: object = {},
) => createReadBootstrap({ client: clientWith(sample(bootstrap, network), secrets), hashSecret })(key, kind, signal);

const raw = { cloudInit: { rawCloudConfig: { name: 'user-data', key: 'data' } } };
const prep = { linuxPrep: { password: { name: 'root' } } };
const hash = expect.stringMatching(/^[0-9a-f]{40}$/u);

const rows: [why: string, bootstrap: object | undefined, secrets: Given, facts: object | null][] = [
  [
    'no bootstrap: what a Linux guest gets',
    undefined,
    {},
    { kind: 'found', value: { missingKeys: [], configHash: null, customHash: hash, isDefault: true } },
  ],
  ['one that is switched off: its Secrets are not read', { ...raw, disabled: true }, {}, null],
  [
    'an empty one',
    {},
    {},
    { kind: 'found', value: { missingKeys: [], configHash: null, customHash: null, isDefault: false } },
  ],
  [
    'CloudInit',
    raw,
    { 'user-data': { data: '#cloud-config' } },
    { kind: 'found', value: { missingKeys: [], configHash: hash, customHash: null, isDefault: false } },
  ],
  [
    'CloudInit without user data',
    { cloudInit: {} },
    {},
    { kind: 'found', value: { missingKeys: [], configHash: hash, customHash: null, isDefault: false } },
  ],
  [
    'LinuxPrep',
    prep,
    { root: { password: 'p' } },
    { kind: 'found', value: { missingKeys: [], configHash: null, customHash: hash, isDefault: false } },
  ],
  [
    'LinuxPrep with vApp properties',
    { ...prep, vAppConfig: { rawProperties: 'app' } },
    { root: { password: 'p' }, app: { a: 'b' } },
    { kind: 'found', value: { missingKeys: [], configHash: hash, customHash: hash, isDefault: false } },
  ],
  [
    'a Secret without the key',
    raw,
    { 'user-data': { other: 'x' } },
    { kind: 'found', value: { missingKeys: ['user-data/data'], configHash: null, customHash: null, isDefault: false } },
  ],
  [
    'several keys that are missing',
    { linuxPrep: { password: { name: 'root' }, scriptText: { from: { name: 'root', key: 'script' } } } },
    { root: {} },
    {
      kind: 'found',
      value: { missingKeys: ['root/password', 'root/script'], configHash: null, customHash: null, isDefault: false },
    },
  ],
  [
    'a Secret that is not there',
    raw,
    {},
    { kind: 'notFound', message: expect.stringContaining('There is no Secret user-data') },
  ],
  [
    'several Secrets that are not there',
    { linuxPrep: { password: { name: 'root' }, scriptText: { from: { name: 'init', key: 'script' } } } },
    {},
    { kind: 'notFound', message: expect.stringContaining('There is no Secret init, root') },
  ],
  [
    'user data that are compressed, and broken',
    raw,
    { 'user-data': { data: Buffer.from([0x1f, 0x8b, 1, 2]) } },
    { kind: 'invalid', message: expect.stringContaining('user-data/data') },
  ],
  [
    'user data that are far too large',
    raw,
    { 'user-data': { data: gzipSync(Buffer.alloc(2 * 1024 ** 2)) } },
    { kind: 'invalid', message: expect.stringContaining('1024 KiB') },
  ],
  [
    'a Secret that may not be read',
    { cloudInit: { rawCloudConfig: { name: 'forbidden', key: 'data' } } },
    {},
    { kind: 'forbidden', message: expect.stringContaining('secrets/forbidden') },
  ],
];
test.each(rows)('%s', async (_why, bootstrap, secrets, facts) => {
  expect(await factsOf(bootstrap, secrets)).toEqual(facts);
});

test('the hash is that of what is applied: equal while nothing changes, another one for each change and each object', async () => {
  const secrets = { 'user-data': { data: '#cloud-config' } };
  const hashes = await Promise.all([
    factsOf(raw, secrets),
    factsOf(raw, { 'user-data': { data: '#cloud-config', unused: 'x' } }),
    factsOf(raw, { 'user-data': { data: '#cloud-config\nruncmd: [x]' } }),
    factsOf(raw, secrets, { hostName: 'other' }),
    factsOf(raw, secrets, {}, 'another-uid'),
  ]).then((all) => all.map((facts) => (facts?.kind === 'found' ? facts.value.configHash : null)));
  expect(hashes[1]).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(4);
  const { config } = await setupOf(raw, secrets, 'CloudInit');
  expect(config?.hash).toBe(hashes[0]);
});

test('nothing of what the Secrets hold is in the facts', async () => {
  const facts = await factsOf(
    { ...prep, vAppConfig: { rawProperties: 'app' } },
    { root: { password: 'hunter2' }, app: { token: 'abcdef' } },
  );
  expect(JSON.stringify(facts)).not.toMatch(/hunter2|abcdef/u);
});

const unpack = (value: string | undefined): string => gunzipSync(Buffer.from(value ?? '', 'base64')).toString('utf8');

test.each([
  ['as they are', '#cloud-config\nhostname: a\n'],
  ['in base64', Buffer.from('#cloud-config\nhostname: a\n').toString('base64')],
  ['compressed, in base64', gzipSync('#cloud-config\nhostname: a\n').toString('base64')],
  ['compressed', gzipSync('#cloud-config\nhostname: a\n')],
])('user data that stand in the Secret %s come to the guest alike', async (_how, data) => {
  const { config } = await setupOf(raw, { 'user-data': { data } }, 'CloudInit');
  const written = config?.extraConfig([]) ?? {};
  expect(unpack(written['guestinfo.userdata'])).toBe('#cloud-config\nhostname: a\n');
  expect(written).toMatchObject({
    'guestinfo.userdata.encoding': 'gzip+base64',
    'guestinfo.metadata.encoding': 'gzip+base64',
  });
});

test('a key that former releases looked for will do', async () => {
  const { missingKeys, config } = await setupOf(
    raw,
    { 'user-data': { value: 'x', 'ssh-public-keys': 'key-1\nkey-2\n' } },
    'CloudInit',
  );
  expect(missingKeys).toEqual([]);
  expect(JSON.parse(unpack(config?.extraConfig([])['guestinfo.metadata']))).toMatchObject({
    'public-keys-data': 'key-1\nkey-2',
  });
});

test('a cloud config with Secrets in it', async () => {
  const cloudConfig = {
    timezone: 'UTC',
    runcmd: ['ls'],
    defaultUserEnabled: true,
    users: [{ name: 'jane', hashed_passwd: { name: 's', key: 'hash' }, ssh_authorized_keys: ['k'] }],
    write_files: [
      { path: '/a', content: 'plain' },
      { path: '/b', content: { name: 's', key: 'file' }, permissions: '0600' },
    ],
  };
  const { config } = await setupOf(
    { cloudInit: { cloudConfig } },
    { s: { hash: '$6$x', file: 'inside' } },
    'CloudInit',
  );
  const [head, ...rest] = unpack(config?.extraConfig([])['guestinfo.userdata']).split('\n');
  expect(head).toBe('#cloud-config');
  expect(JSON.parse(rest.join('\n'))).toMatchObject({
    timezone: 'UTC',
    runcmd: ['ls'],
    users: ['default', { name: 'jane', hashed_passwd: '$6$x', ssh_authorized_keys: ['k'] }],
    write_files: [
      { path: '/a', content: 'plain' },
      { path: '/b', content: 'inside', permissions: '0600' },
    ],
  });
});

test('what cloud-init is told of the VM and its network', async () => {
  const network = {
    hostName: 'web-1',
    domainName: 'example.org',
    nameservers: ['192.0.2.53'],
    searchDomains: ['example.org'],
    interfaces: [
      {
        name: 'eth0',
        addresses: ['192.0.2.10/24'],
        gateway4: '192.0.2.1',
        gateway6: 'None',
        guestDeviceName: 'ens192',
        mtu: 9000,
        routes: [{ to: '198.51.100.0/24', via: '192.0.2.2' }],
      },
      { name: 'eth1', dhcp6: true, nameservers: ['192.0.2.54'] },
    ],
    vlans: [{ name: 'v5', id: 5, link: 'eth0' }],
  };
  const { config } = await setupOf(
    { cloudInit: { instanceID: 'i-1', waitOnNetwork4: true } },
    {},
    'CloudInit',
    network,
  );
  const written = config?.extraConfig(['00:50:56:AA:BB:CC', '00:50:56:00:00:02']) ?? {};
  expect(written).toMatchObject({ 'guestinfo.userdata': '', 'guestinfo.userdata.encoding': '' });
  expect(JSON.parse(unpack(written['guestinfo.metadata']))).toEqual({
    'instance-id': 'i-1',
    'local-hostname': 'web-1.example.org',
    'wait-on-network': { ipv4: true },
    network: {
      version: 2,
      ethernets: {
        eth0: {
          match: { macaddress: '00:50:56:aa:bb:cc' },
          'set-name': 'ens192',
          dhcp4: false,
          dhcp6: false,
          addresses: ['192.0.2.10/24'],
          gateway4: '192.0.2.1',
          mtu: 9000,
          routes: [{ to: '198.51.100.0/24', via: '192.0.2.2' }],
          nameservers: { addresses: ['192.0.2.53'], search: ['example.org'] },
        },
        eth1: {
          match: { macaddress: '00:50:56:00:00:02' },
          'set-name': 'eth1',
          dhcp4: false,
          dhcp6: true,
          nameservers: { addresses: ['192.0.2.54'], search: ['example.org'] },
        },
      },
      vlans: { v5: { id: 5, link: 'eth0', dhcp4: false, dhcp6: false, 'accept-ra': false } },
    },
  });
});

test('a VM that says nothing asks by DHCP, and is named after its object', async () => {
  const { config } = await setupOf({ cloudInit: {} }, {}, 'CloudInit', { interfaces: [{ name: 'eth0' }] });
  expect(JSON.parse(unpack(config?.extraConfig([])['guestinfo.metadata']))).toEqual({
    'instance-id': 'vm-uid',
    'local-hostname': 'web',
    network: { version: 2, ethernets: { eth0: { dhcp4: true, dhcp6: false } } },
  });
  const off = await setupOf({ cloudInit: {} }, {}, 'CloudInit', { disabled: true, interfaces: [{ name: 'eth0' }] });
  expect(JSON.parse(unpack(off.config?.extraConfig([])['guestinfo.metadata']))).toEqual({
    'instance-id': 'vm-uid',
    'local-hostname': 'web',
  });
});

test('LinuxPrep', async () => {
  const bootstrap = {
    linuxPrep: {
      hardwareClockIsUTC: true,
      timeZone: 'Europe/Berlin',
      password: { name: 'root' },
      scriptText: { value: '#!/bin/sh' },
    },
    vAppConfig: { properties: [{ key: 'a', value: { from: { name: 'root', key: 'token' } } }, { key: 'b' }] },
  };
  const network = {
    domainName: 'example.org',
    nameservers: ['192.0.2.53'],
    interfaces: [{ name: 'eth0', addresses: ['192.0.2.10/24'], gateway4: '192.0.2.1' }],
  };
  const { config, custom } = await setupOf(bootstrap, { root: { password: 'p', token: 't' } }, 'LinuxPrep', network);
  expect(custom).toEqual({
    hash,
    identity: {
      kind: 'LinuxPrep',
      hostName: 'web',
      domainName: 'example.org',
      timeZone: 'Europe/Berlin',
      hardwareClockIsUtc: true,
      password: 'p',
      expirePassword: false,
      scriptText: '#!/bin/sh',
    },
    nameservers: ['192.0.2.53'],
    searchDomains: [],
    interfaces: [
      {
        name: 'eth0',
        dhcp4: false,
        dhcp6: false,
        addresses: ['192.0.2.10/24'],
        gateway4: '192.0.2.1',
        gateway6: null,
        nameservers: [],
      },
    ],
  });
  expect(config).toMatchObject({ vAppProperties: { a: 't', b: '' } });
  expect(config?.extraConfig([])).toEqual({});
});

test('Sysprep, with answers and as a whole file', async () => {
  const answers = {
    userData: { fullName: 'Owner', orgName: 'Org', productID: { name: 's' } },
    guiUnattended: { autoLogon: true, autoLogonCount: 1, password: { name: 's' } },
    identification: { domainAdmin: 'admin', domainAdminPassword: { name: 's' } },
    guiRunOnce: { commands: ['dir'] },
  };
  const secrets = { s: { product_id: 'id', password: 'p', domain_admin_password: 'q', unattend: '<xml/>' } };
  const { custom } = await setupOf({ sysprep: { sysprep: answers } }, secrets, 'Sysprep', {
    domainName: 'corp.example',
  });
  expect(custom?.identity).toEqual({
    kind: 'Sysprep',
    computerName: 'web',
    fullName: 'Owner',
    orgName: 'Org',
    productId: 'id',
    guiUnattended: { autoLogon: true, autoLogonCount: 1, timeZone: 85, password: 'p' },
    identification: {
      joinDomain: 'corp.example',
      domainAdmin: 'admin',
      domainAdminPassword: 'q',
      domainOU: null,
      joinWorkgroup: null,
    },
    runOnce: ['dir'],
    license: null,
    expirePassword: false,
    scriptText: null,
  });
  const whole = await setupOf({ sysprep: { rawSysprep: { name: 's', key: 'unattend' } } }, secrets, 'Sysprep');
  expect(whole.custom?.identity).toEqual({ kind: 'SysprepText', value: '<xml/>' });
});

test('what was decided on is compared with what is there', async () => {
  const client = clientWith(sampleVirtualMachine({ metadata: { ...sampleMetadata, uid: 'another' } }), {});
  await expect(createReadBootstrap({ client, hashSecret })(key, null, signal)).rejects.toMatchObject({
    type: 'ObjectNotFound',
  });
  await expect(setupOf(prep, { root: { password: 'p' } }, 'CloudInit')).rejects.toMatchObject({
    type: 'ObjectConflict',
  });
  await expect(setupOf(raw, {}, 'CloudInit')).rejects.toMatchObject({
    type: 'ObjectNotFound',
    message: expect.stringContaining('user-data'),
  });
});

test('without a bootstrap a guest gets its name and its addresses, unless it boots from an ISO', async () => {
  const network = { interfaces: [{ name: 'eth0', addresses: ['192.0.2.10/24'] }] };
  const vm = sample(undefined, network);
  const read = createReadBootstrap({ client: clientWith(vm, {}), hashSecret });
  const { config, custom } = await read(key, null, signal);
  expect(config).toBeNull();
  expect(custom).toMatchObject({
    hash,
    identity: { kind: 'LinuxPrep', hostName: 'web', hardwareClockIsUtc: true, password: null, scriptText: null },
    interfaces: [{ name: 'eth0', addresses: ['192.0.2.10/24'] }],
  });
  const facts = await readBootstrapFacts({ client: clientWith(vm, {}), hashSecret }, vm, signal);
  expect(facts).toMatchObject({ value: { customHash: custom?.hash } });

  const image = { kind: 'VirtualMachineImage', name: 'iso' };
  const ofIso = sampleVirtualMachine({
    metadata: { uid: 'vm-uid' },
    spec: { hardware: { cdrom: [{ name: 'cd', image }] } },
  });
  expect(await readBootstrapFacts({ client: clientWith(ofIso, {}), hashSecret }, ofIso, signal)).toBeNull();
});
