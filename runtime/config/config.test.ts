import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { configSchema, evictionSettings } from './config-schema.ts';
import { configVariables, loadConfig, modeVariable } from './config.ts';

const example = fileURLToPath(new URL('../../drover.example.yaml', import.meta.url));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'drover-config-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const places = () => ({ cwd: join(dir, 'here'), home: join(dir, 'home'), siteDir: join(dir, 'etc') });
const write = (path: string, content: string): string => {
  const file = join(dir, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const load = (content: string, env: Record<string, string> = {}) =>
  loadConfig({ DROVER_CONFIG: write('drover.yaml', content), ...env }, places()).config;

test('without a file everything is at its default', () => {
  const { config, file } = loadConfig({}, places());
  expect(file).toBeNull();
  expect(config).toEqual(configSchema.parse({}));
  expect(config.modes).toEqual({
    DataVolume: 'off',
    Eviction: 'act',
    Hypervisor: 'off',
    Machine: 'off',
    StorageProfile: 'off',
    VirtualMachine: 'off',
    VirtualMachineSetResourcePolicy: 'off',
    VsphereAgent: 'off',
    VsphereAgentPool: 'off',
  });
  expect(evictionSettings(config, 'RegionOne')).toMatchObject({
    region: 'RegionOne',
    cluster: '',
    perSource: 1,
    perTarget: 2,
    maxAttempts: 3,
    stuck: { msPerGiB: 150_000, floorMs: 300_000, noProgressMs: 150_000, startMs: 600_000 },
    poll: { minMs: 250, maxMs: 2_000 },
    nodeReturnMs: 7_200_000,
  });
});

test('the example has every field, each at its default', () => {
  expect(parse(readFileSync(example, 'utf8'))).toEqual(configSchema.parse({}));
  expect(loadConfig({ DROVER_CONFIG: example }, places()).config).toEqual(configSchema.parse({}));
});

test('the first file that exists is read: DROVER_CONFIG, here, the person’s, the machine’s', () => {
  const inEtc = write('etc/drover/drover.yaml', 'cluster: etc');
  expect(loadConfig({}, places())).toMatchObject({ file: inEtc, config: { cluster: 'etc' } });
  write('home/.config/drover/drover.yaml', 'cluster: home');
  expect(loadConfig({}, places()).config.cluster).toBe('home');
  write('here/drover.yaml', 'cluster: here');
  expect(loadConfig({}, places()).config.cluster).toBe('here');
  const named = write('named.yaml', 'cluster: named');
  expect(loadConfig({ DROVER_CONFIG: named }, places()).config.cluster).toBe('named');
});

test('variables override the file, empty ones do not', () => {
  const env = {
    DROVER_CLUSTER: 'b',
    DROVER_MODE_EVICTION: 'observe',
    DROVER_MODE_HYPERVISOR: 'act',
    DROVER_MODE_VIRTUAL_MACHINE: 'observe',
    DROVER_AUDIT_FILE: '~/audit.log',
    DROVER_LOG_LEVEL: '',
  };
  expect(load('cluster: a\nlogLevel: warn', env)).toMatchObject({
    cluster: 'b',
    modes: { Eviction: 'observe', Hypervisor: 'act', VirtualMachine: 'observe' },
    audit: { file: join(dir, 'home', 'audit.log') },
    logLevel: 'warn',
  });
});

test('every variable is documented in the example and names a field', () => {
  const text = readFileSync(example, 'utf8');
  for (const [variable, path] of Object.entries(configVariables)) {
    expect(text).toContain(variable);
    let place: unknown = configSchema.parse({});
    for (const step of path) place = (place as Record<string, unknown>)[step];
    expect(place).not.toBeUndefined();
  }
});

const refused: [what: string, content: string, message: RegExp][] = [
  ['an unknown field', 'evction: {}', /unknown field evction \(did you mean eviction\?\)/u],
  [
    'an unknown field below',
    'eviction: { stuck: { floorMS: 1 } }',
    /unknown field eviction\.stuck\.floorMS \(did you mean eviction\.stuck\.floorMs\?\)/u,
  ],
  ['an unknown kind', 'modes: { Evacuation: act }', /unknown field modes\.Evacuation/u],
  ['another type', 'eviction: { perSource: many }', /eviction\.perSource: .*expected number/u],
  ['a fraction', 'eviction: { perSource: 1.5 }', /eviction\.perSource: .*expected int/u],
  ['zero migrations', 'eviction: { perSource: 0 }', /eviction\.perSource: /u],
  ['far too many', 'limits: { migrationsPerRegion: 100000 }', /limits\.migrationsPerRegion: /u],
  ['a wait of weeks', 'eviction: { nodeReturnMs: 9999999999 }', /eviction\.nodeReturnMs: /u],
  ['a poll slower than heartbeats', 'eviction: { poll: { maxMs: 60000 } }', /eviction\.poll\.maxMs: /u],
  [
    'a poll that never ends',
    'eviction: { poll: { minMs: 3000, maxMs: 1000 } }',
    /eviction\.poll\.minMs: expected at most poll\.maxMs/u,
  ],
  [
    'a publish interval upside down',
    'eviction: { publishMinMs: 90000 }',
    /eviction\.publishMinMs: expected at most publishMaxMs/u,
  ],
  [
    'evictions that all look silent',
    'eviction: { allowanceRenewMs: 200000 }',
    /eviction\.allowanceRenewMs: expected less than limits\.silentMs/u,
  ],
  [
    'an unknown field of a section that is left out by default',
    'hypervisor: { libvirt: { conectUri: x } }',
    /unknown field hypervisor\.libvirt\.conectUri/u,
  ],
  ['an unknown mode', 'modes: { Eviction: maybe }', /modes\.Eviction: .*"off"\|"observe"\|"act"/u],
  ['a cluster that cannot be in an id', 'cluster: a/b', /cluster: expected a name/u],
  ['an address without a port', 'worker: { healthAddress: localhost }', /worker\.healthAddress: expected host:port/u],
  [
    'a port that no address has',
    'bridge: { healthAddress: "127.0.0.1:70000" }',
    /bridge\.healthAddress: expected host:port/u,
  ],
  [
    'such a port of a host of ISOs',
    'agentPools: { iso: { hosts: ["images.example:99999"] } }',
    /agentPools\.iso\.hosts\.0: expected a host in lower case/u,
  ],
  ['a list', '- cluster', /the whole: .*expected object/u],
  ['broken YAML', 'cluster: [a\nb: c: d', /is no valid YAML: .* at line 2/u],
  [
    'a text that begins with a star',
    'cluster: *s3cr3t',
    /is no valid YAML: an alias \(\*name\) has no anchor.* Quote a text/u,
  ],
  ['a field twice', 'cluster: a\ncluster: b', /is no valid YAML: Map keys must be unique/u],
];
test.each(refused)('refuses %s, naming file and field', (_, content, message) => {
  expect(() => load(content)).toThrow(
    expect.objectContaining({ type: 'InvalidConfiguration', message: expect.stringMatching(message) }),
  );
  expect(() => load(content)).toThrow(join(dir, 'drover.yaml'));
});

test('names the variable that was wrong', () => {
  expect(() => load('', { DROVER_LOG_LEVEL: 'loud' })).toThrow(/logLevel: .* \(from DROVER_LOG_LEVEL\)/u);
  expect(() => loadConfig({ DROVER_CONFIG: '/nowhere/drover.yaml' })).toThrow(
    /DROVER_CONFIG names \/nowhere\/drover\.yaml, which does not exist/u,
  );
});

test('each kind has a variable for its mode, spelled as shells have them', () => {
  expect(modeVariable('VirtualMachineSetResourcePolicy')).toBe('DROVER_MODE_VIRTUAL_MACHINE_SET_RESOURCE_POLICY');
  expect(configVariables).toMatchObject({ DROVER_MODE_MACHINE: ['modes', 'Machine'] });
});
