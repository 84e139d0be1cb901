import { configSchema } from './config-schema.ts';
import { handlingSettings, nodeFailureConfig } from './node-failure-config.ts';

test('it is off unless somebody sets it', () => {
  expect(configSchema.parse({}).nodeFailure).toMatchObject({
    mode: 'off',
    automaticAggregates: [],
    bmc: null,
    guestEvents: null,
  });
});

const refused: [why: string, settings: object, words: RegExp][] = [
  ['nobody drives Hypervisors', { nodeFailure: { mode: 'recommend' } }, /modes.Hypervisor is not act/u],
  [
    'Hypervisors are only observed',
    { modes: { Hypervisor: 'observe' }, nodeFailure: { mode: 'recommend' } },
    /modes.Hypervisor is not act/u,
  ],
  [
    'nobody says how libvirt is reached',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'recommend', guestEvents: {} } },
    /expected hypervisor.libvirt beside it/u,
  ],
  [
    'nobody has opted in',
    { modes: { Hypervisor: 'act' }, nodeFailure: { mode: 'automatic' } },
    /aggregates that have opted in/u,
  ],
];
test.each(refused)('it is refused where %s', (_why, settings, words) => {
  const { error } = configSchema.safeParse(settings);
  expect(error?.issues.map(({ message }) => message).join()).toMatch(words);
});

test('the settings of a run name no file and no address', () => {
  const config = nodeFailureConfig.parse({
    bmc: { url: 'https://{host}.bmc', username: 'drover', passwordFile: '/run/secrets/bmc' },
  });
  const text = JSON.stringify(handlingSettings(config, 'RegionOne'));
  for (const secret of ['bmc', 'secrets', 'username']) expect(text).not.toContain(secret);
});
