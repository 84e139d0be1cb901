import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadOpenStackSettings } from './openstack-settings.ts';
import { redactText } from '../redaction.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-clouds-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const places = () => ({ cwd: join(dir, 'here'), home: join(dir, 'home'), siteDir: join(dir, 'etc') });
const write = (path: string, content: string): string => {
  const file = join(dir, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const load = (env: Record<string, string> = {}, options: { cloud?: string } = {}) =>
  loadOpenStackSettings(env, { ...places(), ...options });

const admin = `
    region_name: RegionOne
    auth: { auth_url: 'https://keystone:5000', username: admin, password: from-clouds, project_name: admin, user_domain_name: Default, project_domain_name: Default }`;
const robot = `
    region_name: RegionTwo
    interface: internalURL
    auth_type: v3applicationcredential
    auth: { auth_url: 'https://keystone:5000/v3/', application_credential_id: ac-1, application_credential_secret: ac-secret }`;
const environment = {
  OS_AUTH_URL: 'http://ks/identity',
  OS_USERNAME: 'me',
  OS_PASSWORD: 'from-env',
  OS_PROJECT_ID: 'p1',
  OS_REGION_NAME: 'R1',
};

test('reads the only cloud of the file', () => {
  const file = write('home/.config/openstack/clouds.yaml', `clouds:\n  admin:${admin}`);
  expect(load()).toEqual({
    cloud: 'admin',
    sources: [file],
    authUrl: 'https://keystone:5000/v3',
    credential: {
      method: 'password',
      user: { name: 'admin', domain: { name: 'Default' } },
      password: 'from-clouds',
      project: { name: 'admin', domain: { name: 'Default' } },
    },
    region: 'RegionOne',
    interface: 'public',
    endpointOverrides: {},
    ca: null,
    verify: true,
  });
});

test('chooses by OS_CLOUD, then by drover’s own setting', () => {
  write('here/clouds.yaml', `clouds:\n  admin:${admin}\n  robot:${robot}`);
  expect(load({}, { cloud: 'admin' }).cloud).toBe('admin');
  expect(load({ OS_CLOUD: 'robot' }, { cloud: 'admin' })).toMatchObject({
    cloud: 'robot',
    region: 'RegionTwo',
    interface: 'internal',
    credential: { method: 'application_credential', id: 'ac-1', secret: 'ac-secret' },
  });
});

test('looks here, then in the home, then in /etc; OS_CLIENT_CONFIG_FILE names one', () => {
  write('etc/openstack/clouds.yaml', `clouds:\n  etc:${admin}`);
  expect(load().cloud).toBe('etc');
  write('home/.config/openstack/clouds.yml', `clouds:\n  home:${admin}`);
  expect(load().cloud).toBe('home');
  write('here/clouds.yaml', `clouds:\n  here:${admin}`);
  expect(load().cloud).toBe('here');
  expect(load({ OS_CLIENT_CONFIG_FILE: write('other.yaml', `clouds:\n  other:${admin}`) }).cloud).toBe('other');
});

test('secure.yaml lies over clouds.yaml, OS_* over both, field by field', () => {
  write('here/clouds.yaml', `clouds:\n  admin:${admin}`);
  const secure = write('home/.config/openstack/secure.yaml', 'clouds:\n  admin:\n    auth: { password: from-secure }');
  expect(load()).toMatchObject({
    sources: [expect.any(String), secure],
    credential: { password: 'from-secure', user: { name: 'admin' } },
  });
  expect(
    load({ OS_CLOUD: 'admin', OS_PASSWORD: 'from-env', OS_REGION_NAME: 'R9', OS_INTERFACE: 'admin', OS_USERNAME: '' }),
  ).toMatchObject({
    credential: { password: 'from-env', user: { name: 'admin' } },
    region: 'R9',
    interface: 'admin',
  });
});

test('the environment alone is enough', () => {
  write('here/clouds.yaml', `clouds:\n  admin:${admin}`);
  expect(load(environment)).toMatchObject({
    cloud: null,
    authUrl: 'http://ks/identity/v3',
    credential: { method: 'password', user: { name: 'me', domain: { id: 'default' } }, project: { id: 'p1' } },
  });
});

test('takes application credentials by id and by name, and domains by id and by name', () => {
  const base = { OS_AUTH_URL: 'http://ks', OS_REGION_NAME: 'R1' };
  expect(
    load({ ...base, OS_APPLICATION_CREDENTIAL_ID: 'i', OS_APPLICATION_CREDENTIAL_SECRET: 's' }).credential,
  ).toEqual({ method: 'application_credential', id: 'i', secret: 's' });
  expect(
    load({
      ...base,
      OS_APPLICATION_CREDENTIAL_NAME: 'n',
      OS_APPLICATION_CREDENTIAL_SECRET: 's',
      OS_USERNAME: 'u',
      OS_USER_DOMAIN_ID: 'd',
    }).credential,
  ).toEqual({
    method: 'application_credential',
    name: 'n',
    secret: 's',
    user: { name: 'u', domain: { id: 'd' } },
  });
  expect(
    load({
      ...environment,
      OS_PROJECT_ID: '',
      OS_PROJECT_NAME: 'p',
      OS_PROJECT_DOMAIN_NAME: 'pd',
      OS_DEFAULT_DOMAIN_NAME: 'dd',
    }).credential,
  ).toMatchObject({
    user: { name: 'me', domain: { name: 'dd' } },
    project: { name: 'p', domain: { name: 'pd' } },
  });
});

test('numbers are text, and endpoints can be put in the catalog’s place', () => {
  write(
    'here/clouds.yaml',
    `clouds:\n  admin:${admin.replace('from-clouds', '123456')}\n    compute_endpoint_override: http://proxy:1/v2.1/`,
  );
  expect(load()).toMatchObject({
    credential: { password: '123456' },
    endpointOverrides: { compute: 'http://proxy:1/v2.1' },
  });
});

test('trusts the CA bundle of cacert or OS_CACERT; only `verify: false` turns the check off', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  write('home/ca.pem', pem);
  write('here/clouds.yaml', `clouds:\n  admin:${admin}\n    cacert: ~/ca.pem\n    verify: false`);
  expect(load()).toMatchObject({ ca: pem, verify: false });
  write('here/clouds.yaml', `clouds:\n  admin:${admin}\n    insecure: true`);
  expect(load({ OS_CLOUD: 'admin', OS_CACERT: write('other.pem', pem), OS_INSECURE: 'true' })).toMatchObject({
    ca: pem,
    verify: true,
  });
});

test('what it read is a secret from then on', () => {
  load({ ...environment, OS_PASSWORD: 'never-to-be-seen' });
  expect(redactText('with never-to-be-seen')).toBe('with [redacted]');
});

const refused: [what: string, clouds: string | null, env: Record<string, string>, message: RegExp][] = [
  ['no settings at all', null, {}, /OS_AUTH_URL is not set and there is no clouds\.yaml/u],
  ['a cloud without a file', null, { OS_CLOUD: 'x' }, /Cloud x is chosen, but there is no clouds\.yaml/u],
  ['an unknown cloud', `admin:${admin}`, { OS_CLOUD: 'x' }, /clouds\.yaml has no cloud x; it has admin\./u],
  ['a choice of two', `admin:${admin}\n  robot:${robot}`, {}, /several clouds \(admin, robot\); set OS_CLOUD/u],
  [
    'no password',
    `admin:${admin.replace('password: from-clouds, ', '')}`,
    {},
    /set clouds\.admin\.auth\.password in .*clouds\.yaml, or OS_PASSWORD/u,
  ],
  ['no region', null, { ...environment, OS_REGION_NAME: '' }, /set OS_REGION_NAME/u],
  ['no project', null, { ...environment, OS_PROJECT_ID: '' }, /set OS_PROJECT_NAME/u],
  [
    'no secret',
    null,
    { OS_AUTH_URL: 'http://ks', OS_REGION_NAME: 'R', OS_APPLICATION_CREDENTIAL_ID: 'i' },
    /set OS_APPLICATION_CREDENTIAL_SECRET/u,
  ],
  [
    'another auth_type',
    `admin:${admin}\n    auth_type: v3oidcpassword`,
    {},
    /auth_type v3oidcpassword is not supported: set clouds\.admin\.auth_type/u,
  ],
  [
    'a field of another type',
    'admin: { auth: { username: [a] } }',
    {},
    /clouds\.yaml: clouds\.admin: auth\.username: expected text/u,
  ],
  ['verify as a word', `admin:${admin}\n    verify: sometimes`, {}, /clouds\.admin: verify: expected true or false/u],
  ['no mapping', '[]', {}, /clouds\.yaml: clouds: expected a mapping/u],
  [
    'a vendor profile',
    `admin:${admin}\n    profile: vexxhost`,
    {},
    /clouds\.admin\.profile: profiles of vendors are not supported/u,
  ],
  ['a strange interface', null, { ...environment, OS_INTERFACE: 'outer' }, /interface is outer: set OS_INTERFACE/u],
  [
    'a strange URL',
    null,
    { ...environment, OS_AUTH_URL: 'keystone:5000' },
    /keystone:5000 is no http or https URL: correct OS_AUTH_URL/u,
  ],
  ['Identity v2', null, { ...environment, OS_AUTH_URL: 'http://ks/v2.0' }, /v2\.0, which is gone/u],
  [
    'a CA bundle that is none',
    null,
    { ...environment, OS_CACERT: '/dev/null' },
    /CA bundle \/dev\/null holds no PEM certificate: correct OS_CACERT/u,
  ],
  [
    'a CA bundle that is missing',
    null,
    { ...environment, OS_CACERT: '/nowhere.pem' },
    /CA bundle \/nowhere\.pem cannot be read/u,
  ],
];
test.each(refused)('refuses %s, naming file and field', (_, clouds, env, message) => {
  if (clouds !== null) write('here/clouds.yaml', clouds.startsWith('[') ? `clouds: ${clouds}` : `clouds:\n  ${clouds}`);
  expect(() => load(env)).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringMatching(message) }),
  );
});

test('broken YAML is reported by line, never by text', () => {
  write('here/clouds.yaml', 'clouds:\n  admin:\n    auth: { password: do-not-print-me\n  x');
  expect(() => load()).toThrow(/clouds\.yaml is no valid YAML: .* at line \d/u);
  expect(() => load()).not.toThrow(/do-not-print-me/u);
});
