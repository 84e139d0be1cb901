import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { configSchema } from '../../../runtime/config/config-schema.ts';
import { configVariables, loadConfig, parseConfig } from '../../../runtime/config/config.ts';
import { readPayloadKeys } from '../../../runtime/temporal/payload-keys.ts';
import { connectKubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { loadOpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, near, nearJson, nearText } from '../hostile.ts';

/** Files are written anew for each input, and the settings of this machine are not looked at. */
const dir = mkdtempSync(join(tmpdir(), 'drover-fuzz-'));
export const removeFiles = (): void => rmSync(dir, { recursive: true, force: true });
const places = { cwd: join(dir, 'nowhere'), home: join(dir, 'nobody'), siteDir: join(dir, 'nothing') };

/**
 * The YAML parser needs time in proportion to the square of the errors in a text. These files are the operator's own,
 * and short.
 */
const mostCharacters = 20_000;

const write = (name: string, text: string): string => {
  const file = join(dir, name);
  writeFileSync(file, text.slice(0, mostCharacters), { mode: 0o600 });
  return file;
};

/** Variables hold any text but NUL. */
const variables = (names: readonly string[]) =>
  fc.dictionary(
    fc.constantFrom(...names),
    hostileText().map((text) => text.replaceAll('\0', '')),
    { maxKeys: 2 },
  );

const config = configSchema.parse({
  kubernetes: { kubeconfig: '~/k', context: 'c' },
  openstack: { cloud: 'lab' },
  audit: { file: '~/a' },
  worker: { healthAddress: '0.0.0.0:1' },
});
/** YAML is slow to read: few fields are as good as many. */
const fewFields = {
  cluster: 'a',
  eviction: { perSource: 2, stuck: { floorMs: 1 } },
  bridge: { healthAddress: '[::1]:8081' },
  logLevel: 'warn',
};

const clouds = {
  clouds: {
    lab: {
      auth: {
        auth_url: 'https://keystone/v3',
        username: 'drover',
        password: 'the-password',
        project_name: 'admin',
        user_domain_name: 'Default',
        project_domain_id: 'default',
      },
      region_name: 'RegionOne',
      interface: 'publicURL',
      verify: false,
      compute_endpoint_override: 'https://nova/v2.1',
    },
  },
};
const byCredential = {
  clouds: {
    lab: {
      auth_type: 'v3applicationcredential',
      auth: {
        auth_url: 'http://keystone',
        application_credential_id: 'i',
        application_credential_secret: 's3cr3t-text',
      },
      region_name: 'R',
    },
  },
};

const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'a', cluster: { server: 'https://a:6443', 'certificate-authority-data': 'AAAA' } }],
  users: [{ name: 'u', user: { token: 'the-token-of-u' } }],
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'u', namespace: 'n' } }],
  'current-context': 'a',
};

const yaml = [
  'cluster: a\nmodes: { Eviction: act }\n',
  'a: &a [1]\nb: *a\n',
  'eviction:\n  perSource: 1\n  poll:\n    minMs: 250\n',
  '- a\n- b: |\n    c\n',
  '%YAML 1.1\n---\n? {a: b}\n: c\n',
];

export const settingsEdges: readonly Edge[] = [
  edge({
    name: 'drover.yaml: fields',
    inputs: fc.tuple(near(config, fewFields, {}), variables(Object.keys(configVariables))),
    failures: ['InvalidConfiguration'],
    read: ([given, env]) => parseConfig(given, env, places),
  }),
  edge({
    name: 'drover.yaml: text',
    inputs: fc.oneof(nearJson(fewFields), nearText(...yaml)),
    failures: ['InvalidConfiguration'],
    read: (text) => loadConfig({ DROVER_CONFIG: write('drover.yaml', text) }, places),
  }),
  edge({
    name: 'clouds.yaml and OS_*',
    inputs: fc.tuple(
      nearJson(clouds, byCredential),
      variables([
        'OS_CLOUD',
        'OS_AUTH_URL',
        'OS_PASSWORD',
        'OS_AUTH_TYPE',
        'OS_INTERFACE',
        'OS_CACERT',
        'OS_COMPUTE_ENDPOINT_OVERRIDE',
      ]),
    ),
    failures: ['InvalidConfiguration'],
    read: ([text, env]) => loadOpenStackSettings({ ...env, OS_CLIENT_CONFIG_FILE: write('clouds.yaml', text) }, places),
  }),
  edge({
    name: 'a keyring',
    inputs: fc.oneof(
      nearJson({
        current: 'a',
        keys: { a: Buffer.alloc(32, 1).toString('base64'), b: Buffer.alloc(32, 2).toString('base64') },
      }),
      nearText(...yaml),
    ),
    failures: ['InvalidConfiguration'],
    read: (text) => [...readPayloadKeys(write('keys.yaml', text)).keys.keys()],
  }),
  edge({
    name: 'a kubeconfig',
    inputs: nearJson(kubeconfig),
    failures: ['InvalidConfiguration'],
    read: (text) => connectKubernetes({ kubeconfig: write('kubeconfig', text) }).server,
  }),
];
