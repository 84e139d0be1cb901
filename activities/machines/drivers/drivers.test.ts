import type { DrivenClass, DriverSecret } from '../../../contracts/machine-safety/driver.ts';
import { redactText } from '../../../runtime/redaction.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { createMachineDrivers } from './drivers.ts';
import { readOpenStackClass } from './openstack-class.ts';
import { readVsphereClass } from './vsphere-class.ts';

const pem = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n';
const thumbprint = Array.from({ length: 32 }, () => 'AB').join(':');

const vsphereSpec = {
  region: 'eu-1',
  datacenter: 'DC0',
  folder: 'gardener/team-a',
  tags: { 'mcm.gardener.cloud/cluster': 'shoot-1', 'mcm.gardener.cloud/role': 'node' },
  numCpus: 2,
};
const vsphereSecret = {
  vsphereHost: 'vcenter.example:8443',
  vsphereUsername: 'mcm',
  vspherePassword: 'the-vsphere-password',
  userData: 'I2Nsb3VkLWNvbmZpZw==',
};
const openstackSpec = {
  kind: 'MachineProviderConfig',
  spec: {
    region: 'RegionOne',
    tags: { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node': '1' },
    flavorName: 'm1',
  },
};
const openstackSecret = {
  authURL: 'https://keystone.example/v3',
  username: 'mcm',
  password: 'the-openstack-password',
  tenantName: 'team',
  domainName: 'Customers',
};

const machineClass = (provider: string, providerSpec: unknown, region: string | null = null): DrivenClass => ({
  namespace: 'team',
  name: 'worker',
  provider,
  providerSpec,
  region,
});
const drivers = createMachineDrivers({
  openVcenter: () => {
    throw new Error('nothing is sent');
  },
  openCloud: () => {
    throw new Error('nothing is sent');
  },
  clock: systemClock,
});
const without = <Fields extends object>(fields: Fields, name: keyof Fields): Partial<Fields> => {
  const { [name]: _, ...rest } = fields;
  return rest as Partial<Fields>;
};

test.each([
  ['vSphere', vsphereSpec, vsphereSecret, 'vsphere'],
  ['vsphere', vsphereSpec, vsphereSecret, 'vsphere'],
  ['OpenStack', openstackSpec, openstackSecret, 'openstack'],
  ['OPENSTACK', openstackSpec, openstackSecret, 'openstack'],
])('provider %s has a driver', (provider, spec, secret, expected) => {
  expect(drivers.open(machineClass(provider, spec), secret).provider).toBe(expected);
});

test('what a vSphere class says', () => {
  const read = readVsphereClass(machineClass('vSphere', vsphereSpec), {
    ...vsphereSecret,
    vsphereInsecureSSL: 'true',
    vsphereThumbprint: thumbprint,
    vsphereCACert: pem,
  });
  expect(read).toMatchObject({
    region: 'eu-1',
    folderPath: '/DC0/vm/gardener/team-a',
    marks: { clusters: ['shoot-1'], roles: ['node'] },
    settings: { url: 'https://vcenter.example:8443', ca: null, thumbprint: 'ab'.repeat(32) },
  });
});

test('what an OpenStack class says', () => {
  const read = readOpenStackClass(machineClass('OpenStack', openstackSpec), {
    ...openstackSecret,
    caCert: '',
    insecure: 'true',
    applicationCredentialID: '',
  });
  expect(read).toMatchObject({
    region: 'RegionOne',
    marks: { clusters: ['shoot-1'], roles: ['node'] },
    settings: {
      authUrl: 'https://keystone.example/v3',
      region: 'RegionOne',
      ca: null,
      verify: false,
      credential: {
        method: 'password',
        user: { name: 'mcm', domain: { name: 'Customers' } },
        project: { name: 'team', domain: { name: 'Customers' } },
      },
    },
  });
  const byApplication = {
    authURL: 'http://ks',
    applicationCredentialID: 'id',
    applicationCredentialSecret: 'the-secret',
  };
  expect(readOpenStackClass(machineClass('OpenStack', openstackSpec), byApplication).settings).toMatchObject({
    authUrl: 'http://ks/v3',
    credential: { method: 'application_credential', id: 'id', secret: 'the-secret' },
    verify: true,
  });
});

test('the region of the node template counts where the provider’s part names none', () => {
  const spec = without(vsphereSpec, 'region');
  expect(readVsphereClass(machineClass('vSphere', spec, 'eu-2'), vsphereSecret).region).toBe('eu-2');
  expect(readVsphereClass(machineClass('vSphere', vsphereSpec, 'eu-2'), vsphereSecret).region).toBe('eu-1');
});

test('one credential is one session, whatever the class; another secret is another', () => {
  const key = (spec: object, secret: DriverSecret): string =>
    readVsphereClass(machineClass('vSphere', spec), secret).key;
  const own = key(vsphereSpec, vsphereSecret);
  expect(key({ ...vsphereSpec, folder: 'other', region: 'eu-2' }, { ...vsphereSecret, userData: 'other' })).toBe(own);
  expect(key(vsphereSpec, { ...vsphereSecret, vspherePassword: 'the-next-password' })).not.toBe(own);
  expect(key(vsphereSpec, { ...vsphereSecret, vsphereHost: 'vcenter.example' })).not.toBe(own);
  expect(own).not.toContain(vsphereSecret.vspherePassword);
  const cloud = (secret: DriverSecret, region: string): string =>
    readOpenStackClass(machineClass('OpenStack', { spec: { ...openstackSpec.spec, region } }), secret).key;
  expect(cloud(openstackSecret, 'RegionOne')).toBe(cloud({ ...openstackSecret, userData: 'x' }, 'RegionOne'));
  expect(cloud(openstackSecret, 'RegionOne')).not.toBe(cloud(openstackSecret, 'RegionTwo'));
});

const v = 'vSphere';
const o = 'OpenStack';
const spec = (changes: object) => ({ spec: { ...openstackSpec.spec, ...changes } });

test.each<[what: string, provider: string, providerSpec: unknown, secret: DriverSecret, words: RegExp]>([
  ['another provider', 'AWS', vsphereSpec, vsphereSecret, /worker is of provider AWS/u],
  ['no provider', '', vsphereSpec, vsphereSecret, /provider without a name/u],
  ['a provider that is a name of JavaScript', 'constructor', vsphereSpec, vsphereSecret, /provider constructor/u],
  ['no provider’s part', v, null, vsphereSecret, /team\/worker: providerSpec: the whole/u],
  ['another provider’s part', v, openstackSpec, vsphereSecret, /datacenter: expected text; folder: expected text/u],
  ['no region', v, without(vsphereSpec, 'region'), vsphereSecret, /team\/worker: region/u],
  ['a region with a slash', v, { ...vsphereSpec, region: 'a/b' }, vsphereSecret, /region/u],
  ['no folder', v, without(vsphereSpec, 'folder'), vsphereSecret, /folder: expected text/u],
  ['an empty folder', v, { ...vsphereSpec, folder: '' }, vsphereSecret, /folder: must not be empty/u],
  ['the root as folder', v, { ...vsphereSpec, folder: '/' }, vsphereSecret, /folder: expected a path/u],
  ['no tags', v, without(vsphereSpec, 'tags'), vsphereSecret, /lack mcm\.gardener\.cloud\/cluster .*\/role/u],
  ['tags that are a list', v, { ...vsphereSpec, tags: ['a'] }, vsphereSecret, /tags: expected a mapping/u],
  ['no host', v, vsphereSpec, without(vsphereSecret, 'vsphereHost') as DriverSecret, /Secret of .*vsphereHost/u],
  ['an URL as host', v, vsphereSpec, { ...vsphereSecret, vsphereHost: 'https://a' }, /vsphereHost: expected HOST/u],
  ['a user in the host', v, vsphereSpec, { ...vsphereSecret, vsphereHost: 'u:p@a' }, /vsphereHost: expected HOST/u],
  ['no user', v, vsphereSpec, without(vsphereSecret, 'vsphereUsername') as DriverSecret, /vsphereUsername/u],
  ['no password', v, vsphereSpec, without(vsphereSecret, 'vspherePassword') as DriverSecret, /vspherePassword/u],
  ['an empty Secret', v, vsphereSpec, {}, /vsphereHost.*vsphereUsername.*vspherePassword/u],
  ['no check of certificates', v, vsphereSpec, { ...vsphereSecret, vsphereInsecureSSL: 'true' }, /vsphereCACert/u],
  ['a CA that is none', v, vsphereSpec, { ...vsphereSecret, vsphereCACert: 'x' }, /vsphereCACert: holds no PEM/u],
  ['no provider’s part', o, undefined, openstackSecret, /providerSpec: the whole: expected a MachineProviderConfig/u],
  ['another provider’s part', o, vsphereSpec, openstackSecret, /spec: expected a MachineProviderConfig/u],
  ['no region', o, spec({ region: undefined }), openstackSecret, /team\/worker: region/u],
  [
    'no tags',
    o,
    spec({ tags: undefined }),
    openstackSecret,
    /kubernetes\.io-cluster-NAME and kubernetes\.io-role-NAME/u,
  ],
  [
    'one mark',
    o,
    spec({ tags: { 'kubernetes.io-role-node': '1' } }),
    openstackSecret,
    /lack kubernetes\.io-cluster-NAME;/u,
  ],
  ['no URL', o, openstackSpec, without(openstackSecret, 'authURL') as DriverSecret, /authURL/u],
  [
    'a URL of Identity v2',
    o,
    openstackSpec,
    { ...openstackSecret, authURL: 'http://ks/v2.0' },
    /authURL in the Secret/u,
  ],
  [
    'a password in the URL',
    o,
    openstackSpec,
    { ...openstackSecret, authURL: 'http://u:hidden-in-url@ks' },
    /authURL: expected/u,
  ],
  [
    'no password',
    o,
    openstackSpec,
    without(openstackSecret, 'password') as DriverSecret,
    /set password in the Secret/u,
  ],
  ['no user', o, openstackSpec, without(openstackSecret, 'username') as DriverSecret, /set username in the Secret/u],
  [
    'no project',
    o,
    openstackSpec,
    without(openstackSecret, 'tenantName') as DriverSecret,
    /set tenantName in the Secret/u,
  ],
  [
    'no secret of its application',
    o,
    openstackSpec,
    { authURL: 'http://ks', applicationCredentialID: 'id' },
    /set applicationCredentialSecret in/u,
  ],
  [
    'a certificate of its own',
    o,
    openstackSpec,
    { ...openstackSecret, clientCert: pem, clientKey: 'k' },
    /clientCert/u,
  ],
])('a class with %s of %s is refused', (_, provider, providerSpec, secret, words) => {
  const open = () => drivers.open(machineClass(provider, providerSpec), secret);
  expect(open).toThrow(expect.objectContaining({ type: 'InvalidObject', message: expect.stringMatching(words) }));
  expect(open).not.toThrow(/the-vsphere-password|the-openstack-password|hidden-in-url/u);
});

test('what opens a provider is never shown again', () => {
  drivers.open(machineClass('vSphere', vsphereSpec), vsphereSecret);
  drivers.open(machineClass('OpenStack', openstackSpec), openstackSecret);
  expect(redactText('the-vsphere-password and the-openstack-password')).not.toMatch(/the-/u);
});
