import { configSchema } from './config-schema.ts';
import { handlingSettings, nodeFailureConfig } from './node-failure-config.ts';

test('it is off unless the settings switch it on', () => {
  expect(configSchema.parse({}).nodeFailure).toMatchObject({
    mode: 'off',
    automaticAggregates: [],
    fenceSilent: null,
    bmc: null,
    guestEvents: null,
  });
});

const bmc = { url: 'https://{host}.bmc', username: 'drover', passwordFile: '/run/secrets/bmc' };
const silent = { mode: 'automatic', automaticAggregates: ['ha'], bmc };

const refused: [why: string, settings: object, words: RegExp][] = [
  ['drover drives no Hypervisors', { nodeFailure: { mode: 'recommend' } }, /modes.Hypervisor is not act/u],
  [
    'Hypervisors are only observed',
    { modes: { Hypervisor: 'observe' }, nodeFailure: { mode: 'recommend' } },
    /modes.Hypervisor is not act/u,
  ],
  [
    'it is not said how libvirt is reached',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'recommend', guestEvents: {} } },
    /expected hypervisor.libvirt beside it/u,
  ],
  [
    'a silent host is to be fenced, and drover only recommends',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'recommend', fenceSilent: {} } },
    /expected nodeFailure.mode: automatic and nodeFailure.bmc/u,
  ],
  [
    'a silent host is to be fenced, and it has no BMC',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'automatic', automaticAggregates: ['ha'], fenceSilent: {} } },
    /expected nodeFailure.mode: automatic and nodeFailure.bmc/u,
  ],
  ['one witness would be enough', { nodeFailure: { ...silent, fenceSilent: { quorum: 1 } } }, /quorum|>=2/u],
  ['more are asked for than there are paths', { nodeFailure: { ...silent, fenceSilent: { quorum: 5 } } }, /<=3/u],
  [
    'a silence is to count earlier than a failure',
    { modes: { Hypervisor: 'act' }, nodeFailure: { ...silent, fenceSilent: { afterMs: 1_000 } } },
    /at least nodeFailure.failAfterMs/u,
  ],
  [
    'no operator has opted in',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'automatic' } },
    /aggregates that have opted in/u,
  ],
];
test.each(refused)('it is refused where %s', (_why, settings, words) => {
  const { error } = configSchema.safeParse(settings);
  expect(error?.issues.map(({ message }) => message).join()).toMatch(words);
});

test('a silent host is fenced by a quorum of three, after ten minutes, two of them within an hour', () => {
  const config = nodeFailureConfig.parse({ ...silent, fenceSilent: {} });
  expect(handlingSettings(config, 'RegionOne').silence).toEqual({ quorum: 3, afterMs: 600_000, mostPerHour: 2 });
});

test('the settings of a run name no file and no address', () => {
  const config = nodeFailureConfig.parse({
    bmc: { url: 'https://{host}.bmc', username: 'drover', passwordFile: '/run/secrets/bmc' },
  });
  const text = JSON.stringify(handlingSettings(config, 'RegionOne'));
  for (const secret of ['bmc', 'secrets', 'username']) expect(text).not.toContain(secret);
});
