import { configSchema } from './config-schema.ts';
import { virtualMachineConfig, virtualMachineSettings } from './virtual-machine-config.ts';

const settingsOf = (section: unknown, vcenters: string[]) =>
  virtualMachineSettings(virtualMachineConfig.parse(section), { vcenters, cluster: '', mode: 'act' });

test('the settings of a run: all defaults, the only vCenter, and what the worker alone needs left out', () => {
  expect(settingsOf(undefined, ['vc-1'])).toEqual({
    vcenter: 'vc-1',
    cluster: '',
    mode: 'act',
    buildVersion: expect.stringMatching(/^\d+\.\d+\.\d+/u),
    fastDeploy: 'auto',
    imageCacheMs: 300_000,
    asyncCreate: true,
    asyncSignal: true,
    resize: 'size',
    groups: true,
    backup: false,
    softPowerMs: 300_000,
    deletePowerOffMs: 300_000,
    toolsMs: 300_000,
    addressMs: 600_000,
    pollMs: 30_000,
    publishMinMs: 2_000,
    recheckMs: 3_600_000,
    slotRenewMs: 300_000,
    taskMs: 3_600_000,
    lingerMs: 2_000,
  });
});

test('what is on by default can be switched off', () => {
  expect(settingsOf({ fastDeploy: null, groups: false }, ['vc-1'])).toMatchObject({ fastDeploy: null, groups: false });
});

test('one of several vCenters is chosen by its name', () => {
  expect(settingsOf({ vcenter: 'vc-2' }, ['vc-1', 'vc-2']).vcenter).toBe('vc-2');
});

const unclear: [why: string, vcenter: string | null, vcenters: string[], words: RegExp][] = [
  ['there is none', null, [], /need a vCenter/u],
  ['there are several', null, ['vc-1', 'vc-2'], /say which vCenter has the VMs: vc-1, vc-2/u],
  ['it is another one', 'vc-3', ['vc-1'], /no vCenter vc-3; vsphere.vcenters has vc-1/u],
  ['it is none of none', 'vc-3', [], /has none/u],
];
test.each(unclear)('not clear which vCenter: %s', (_why, vcenter, vcenters, words) => {
  expect(() => settingsOf({ vcenter }, vcenters)).toThrow(words);
});

const wrong: [section: object, path: string][] = [
  [{ fastDeploy: 'quick' }, 'fastDeploy'],
  [{ imageCacheMs: 0 }, 'imageCacheMs'],
  [{ creates: 0 }, 'creates'],
  [{ recheckMs: 0 }, 'recheckMs'],
  [{ taskMs: 8 * 86_400_000 }, 'taskMs'],
  [{ vcenter: '' }, 'vcenter'],
];
test.each(wrong)('%j is refused', (section, path) => {
  expect(virtualMachineConfig.safeParse(section).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
});

test('a vCenter that is not described is refused with the settings', () => {
  const vcenters = { 'vc-1': { url: 'https://vc-1', username: 'u', passwordFile: 'f' } };
  expect(
    configSchema
      .safeParse({ virtualMachine: { vcenter: 'vc-2' }, vsphere: { vcenters } })
      .error?.issues.map(({ path }) => path.join('.')),
  ).toEqual(['virtualMachine.vcenter']);
  expect(configSchema.safeParse({ virtualMachine: { vcenter: 'vc-1' }, vsphere: { vcenters } }).success).toBe(true);
});
