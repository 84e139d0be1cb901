import { readVirtualMachine } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { configOf, desiredOf, type Given, vmContextOf } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { sampleVirtualMachine } from '../../../test/fixtures/activities/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { diffConfig, planConfig } from './config.ts';

const metadata = configOf().extraConfig;
const cycle = 'vmx.reboot.powerCycle';
const managed = 'vmservice.extraconfig.managedKeys';
const ht = 'numa.vcpu.preferHT';
const pages = 'sched.mem.lpage.enable1GPage';

test('each field of spec.advanced is the key that upstream makes of it, and comes before a key of the same name', () => {
  const { config } = readVirtualMachine(
    sampleVirtualMachine({
      spec: {
        advanced: {
          cpuAffinityExclusiveNoStatsEnabled: true,
          hugePages1GEnabled: false,
          pnumaNodeAffinity: [0, 2],
          preferHtEnabled: true,
          timeTrackerLowLatencyEnabled: false,
          vmxSwapEnabled: false,
          extraConfig: [
            { key: 'a', value: '1' },
            { key: ht, value: 'FALSE' },
          ],
        },
      },
    }),
  );
  expect(config.extraConfig).toEqual({
    a: '1',
    'sched.cpu.affinity.exclusiveNoStats': 'TRUE',
    [pages]: 'FALSE',
    'numa.nodeAffinity': '0,2',
    [ht]: 'TRUE',
    'timeTracker.lowLatency': 'FALSE',
    'sched.swap.vmxSwapEnabled': 'FALSE',
  });
});

const off = { vm: { powerState: 'poweredOff' as const } };
const rows: [
  why: string,
  asked: Record<string, string>,
  current: Record<string, string>,
  given: Given,
  changes: Record<string, string>,
  condition: string,
][] = [
  ['all is so', { [ht]: 'TRUE' }, { [ht]: 'TRUE', [managed]: ht }, {}, {}, 'True'],
  [
    'while it runs, what counts after a power cycle is written, and the next restart becomes one',
    { [ht]: 'TRUE' },
    {},
    {},
    { [ht]: 'TRUE', [managed]: ht, [cycle]: 'TRUE' },
    'True',
  ],
  [
    'until then the condition says so',
    { [ht]: 'TRUE' },
    { [ht]: 'TRUE', [managed]: ht, [cycle]: 'TRUE' },
    {},
    {},
    'PowerCyclePending',
  ],
  [
    'one that is off has no power cycle pending',
    { [ht]: 'TRUE' },
    { [ht]: 'TRUE', [managed]: ht, [cycle]: 'TRUE' },
    off,
    { [cycle]: '' },
    'True',
  ],
  [
    'what the spec itself says of restarts stays',
    { [cycle]: 'TRUE' },
    { [cycle]: 'TRUE', [managed]: cycle },
    off,
    {},
    'True',
  ],
  ['while it is off, nothing more is written', { [ht]: 'TRUE' }, {}, off, { [ht]: 'TRUE', [managed]: ht }, 'True'],
  ['huge pages wait until it is off', { [pages]: 'TRUE' }, { [managed]: pages }, {}, {}, 'PowerOffRequired'],
  ['and are written then', { [pages]: 'TRUE' }, { [managed]: pages }, off, { [pages]: 'TRUE' }, 'True'],
  [
    'what waits counts more than what is pending',
    { [pages]: 'TRUE', [ht]: 'TRUE' },
    { [ht]: 'TRUE', [managed]: `${ht},${pages}`, [cycle]: 'TRUE' },
    {},
    {},
    'PowerOffRequired',
  ],
  [
    'a removal that waits is not forgotten',
    { a: '1' },
    { a: '1', [pages]: 'TRUE', [managed]: `a,${pages}` },
    {},
    {},
    'PowerOffRequired',
  ],
  [
    'and nor is it beside one that does not wait',
    {},
    { a: '1', [pages]: 'TRUE', [managed]: `a,${pages}` },
    {},
    { a: '', [managed]: pages },
    'PowerOffRequired',
  ],
];

test.each(rows)('ExtraConfig and power: %s', (_why, extraConfig, current, given, changes, condition) => {
  const context = vmContextOf({
    ...given,
    desired: {
      powerState: given.vm?.powerState === 'poweredOff' ? 'PoweredOff' : 'PoweredOn',
      config: { ...desiredOf().config, extraConfig },
    },
    config: { extraConfig: { ...metadata, ...current } },
  });
  const { spec } = diffConfig(context);
  expect(Object.fromEntries((spec?.extraConfig ?? []).map(({ key, value }) => [key, value]))).toEqual(changes);
  const isChanged = Object.keys(changes).length > 0 && condition === 'True';
  expect(describeVm(context)['VirtualMachineExtraConfigSynced']?.reason).toBe(
    isChanged ? 'ExtraConfigMismatch' : condition,
  );
  expect(planConfig(context).kind).toBe(Object.keys(changes).length === 0 ? 'success' : 'execute');
});

test.each<[why: string, wanted: number | null, observed: number, change: number | undefined]>([
  ['two threads of a core', 2, 1, 2],
  ['are there', 2, 2, undefined],
  ['a VM that shall have its cores alone again', null, 2, 1],
  ['and has', null, 1, undefined],
])('latency with hyperthreading: %s', (_why, simultaneousThreads, observed, change) => {
  const context = vmContextOf({
    ...off,
    desired: { config: { ...desiredOf().config, latencySensitivity: 'high', simultaneousThreads } },
    config: { latencySensitivity: 'high', simultaneousThreads: observed },
  });
  expect(diffConfig(context).spec?.simultaneousThreads).toBe(change);
});
