import type { BootDevice, VmConfig } from '../../../contracts/virtual-machine/config.ts';
import type { WantedBootDevice } from '../../../contracts/virtual-machine/lifecycle.ts';
import { configOf, desiredOf, vmContextOf } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { diffConfig } from './config.ts';

const cdrom = { key: 3_000, iso: '[ds] a.iso', connected: true, allowGuestControl: true };
const disks = [
  { key: 2_000, name: 'disk-a', uuid: 'u-a', capacityBytes: 1, own: true, boot: true },
  { key: 2_001, name: 'disk-b', uuid: 'u-b', capacityBytes: 1, own: false, boot: false },
];
const networkCards = [4_001, 4_000].map((key) => ({ ...configOf().networkCards[0]!, key, backing: 'network-1' }));
const want = (type: WantedBootDevice['type'], name: string | null = null): WantedBootDevice => ({ type, name });
const eth1: BootDevice = { type: 'network', key: 4_001 };

const rows: [
  why: string,
  order: WantedBootDevice[],
  config: Partial<VmConfig>,
  spec: BootDevice[] | null,
  unmet: string,
][] = [
  ['the spec says nothing', [], { bootOrder: [eth1] }, null, ''],
  [
    'each by its name',
    [want('CDRom'), want('Disk', 'disk-a'), want('Network', 'eth1')],
    { cdroms: [cdrom] },
    [{ type: 'cdrom' }, { type: 'disk', key: 2_000 }, eth1],
    '',
  ],
  [
    'the first of its kind without one',
    [want('Network'), want('Disk')],
    {},
    [
      { type: 'network', key: 4_000 },
      { type: 'disk', key: 2_000 },
    ],
    '',
  ],
  ['a volume by the UUID of its disk', [want('Disk', 'data')], {}, [{ type: 'disk', key: 2_001 }], ''],
  ['it is so already', [want('Network', 'eth1')], { bootOrder: [eth1] }, null, ''],
  [
    'in another order',
    [want('Network', 'eth1'), want('Network', 'eth0')],
    { bootOrder: [{ type: 'network', key: 4_000 }, eth1] },
    [eth1, { type: 'network', key: 4_000 }],
    '',
  ],
  ['what is not there', [want('Disk', 'nope'), want('CDRom')], {}, null, 'Disk nope, CDRom'],
];

test.each(rows)('boot order: %s', (_why, bootOrder, config, spec, unmet) => {
  const context = vmContextOf({
    desired: {
      config: { ...desiredOf().config, bootOrder },
      networkCards: ['eth0', 'eth1'].map((name) => ({ name, type: 'VMXNet3', macAddress: null })),
      cdroms: (config.cdroms ?? []).map(() => ({ name: 'cd', connected: true, allowGuestControl: true })),
    },
    prerequisites: {
      network: { interfaces: ['eth0', 'eth1'].map((name) => ({ name, backing: 'network-1', message: '' })) },
      isos: { cd: cdrom.iso },
    },
    config: {
      disks,
      networkCards,
      extraConfig: { ...configOf().extraConfig, 'drover.networkCards': 'eth0=4000,eth1=4001' },
      ...config,
    },
    observed: {},
  });
  context.observed.recorded = { volumes: [{ name: 'data', diskUUID: 'u-b', type: 'Managed' }] };
  const difference = diffConfig(context);
  expect(difference.spec).toEqual(spec === null ? null : { bootOrder: spec });
  expect(difference.unmet.compute.join()).toContain(unmet);
  expect(describeVm(context)['VirtualMachineComputeConfigSynced']?.reason).toBe(
    unmet === '' ? (spec === null ? 'True' : 'ComputeConfigMismatch') : 'PrerequisiteNotMet',
  );
});
