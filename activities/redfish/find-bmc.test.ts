import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { nodeFailureConfig, type BmcConfig } from '../../runtime/config/node-failure-config.ts';
import { readTextFile } from '../../runtime/read-text.ts';
import { findBmc, hasBmc } from './find-bmc.ts';

const dir = mkdtempSync(join(tmpdir(), 'drover-bmc-'));
const { signal } = new AbortController();
writeFileSync(join(dir, 'password'), 'shared\n');
writeFileSync(join(dir, 'node-2.password'), 'its own');
writeFileSync(join(dir, 'ca.pem'), 'a CA');
afterAll(() => rmSync(dir, { recursive: true }));

const configOf = (change: object = {}): BmcConfig =>
  nodeFailureConfig.parse({
    bmc: {
      url: 'https://{host}.bmc.example',
      hosts: {
        'node-1': { uuid: 'u-1' },
        'node-2': { url: 'https://192.0.2.2:8443', path: '/redfish/v1/Systems/1', serial: 's' },
      },
      username: 'drover',
      passwordFile: join(dir, 'password'),
      ...change,
    },
  }).bmc!;

test('a host has the common address, or its own; the password and the CA are read at use', async () => {
  expect(
    await findBmc(configOf({ caFile: join(dir, 'ca.pem'), auth: 'basic' }), 'node-1', readTextFile, signal),
  ).toEqual({
    url: 'https://node-1.bmc.example',
    username: 'drover',
    password: 'shared',
    auth: 'basic',
    ca: 'a CA',
    system: { uuid: 'u-1' },
  });
  expect(
    await findBmc(configOf({ passwordFile: join(dir, '{host}.password') }), 'node-2', readTextFile, signal),
  ).toEqual({
    url: 'https://192.0.2.2:8443',
    username: 'drover',
    password: 'its own',
    auth: 'session',
    ca: null,
    system: { path: '/redfish/v1/Systems/1', serial: 's' },
  });
});

const none: [why: string, config: BmcConfig | null, host: string][] = [
  ['no BMC at all', null, 'node-1'],
  ['a host that is not listed', configOf(), 'node-3'],
  ['a name that every object has', configOf(), 'constructor'],
  ['neither a common address nor its own', configOf({ url: null }), 'node-1'],
];
test.each(none)('%s is none', async (_why, config, host) => {
  expect(hasBmc(config, host)).toBe(false);
  await expect(findBmc(config, host, readTextFile, signal)).rejects.toMatchObject({ type: 'SystemNotFound' });
});

test('a password that cannot be read is said, by its file', async () => {
  await expect(
    findBmc(configOf({ passwordFile: join(dir, 'nowhere') }), 'node-1', readTextFile, signal),
  ).rejects.toMatchObject({ type: 'InvalidConfiguration', message: expect.stringContaining('nowhere') });
});

test.each(['http://{host}', 'https://user:secret@{host}', 'https://bmc.example', 'ftp://{host}'])(
  '%s is no common address',
  (url) => {
    expect(() => configOf({ url })).toThrow(/expected/u);
  },
);
