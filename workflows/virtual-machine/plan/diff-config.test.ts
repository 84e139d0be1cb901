import type { WantedSettings, WantedSize } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { VmConfig } from '../../../contracts/virtual-machine/config.ts';
import { diffCompute, diffExtraConfig, diffSettings, joinSpecs } from './diff-config.ts';
import { classOf, configOf, desiredOf } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { wantCompute, wantExtraConfig } from './want-config.ts';

const size = (more: Partial<WantedSize> = {}): WantedSize => ({ ...desiredOf().size, ...more });
const metadata = { 'vmservice.namespacedName': 'team/web', 'drover.uid': desiredOf().uid };

describe('size', () => {
  const rows: [
    why: string,
    wanted: Partial<WantedSize>,
    applied: boolean,
    config: Partial<VmConfig>,
    isOff: boolean,
    spec: object,
    whenOff: string[],
  ][] = [
    ['that of the class is there', {}, true, {}, true, {}, []],
    [
      'that of the class is set while it is off',
      {},
      true,
      { numCPUs: 1, memoryMB: 1_024 },
      true,
      { numCPUs: 2, memoryMB: 4_096 },
      [],
    ],
    ['and waits while it is on', {}, true, { numCPUs: 1 }, false, {}, ['numCPUs 1 → 2']],
    ['without a class to apply, what is there stays', {}, false, { numCPUs: 1 }, true, {}, []],
    [
      'the spec’s own size comes before that of the class',
      { cpus: 8, memoryMiB: 512 },
      true,
      {},
      true,
      { numCPUs: 8, memoryMB: 512 },
      [],
    ],
    [
      'shares are changed while it is on',
      { cpuRequestCores: 0.5, memoryLimitMiB: 4_096 },
      false,
      {},
      false,
      { cpuAllocation: { reservation: 1_000, limit: -1 }, memoryAllocation: { reservation: 0, limit: 4_096 } },
      [],
    ],
    [
      'what the class reserved stays beside a limit of the spec’s, and its limit beside a reservation',
      { cpuLimitCores: 2, memoryRequestMiB: 1_024 },
      false,
      {
        cpuAllocation: { reservation: 2_000, limit: -1 },
        memoryAllocation: { reservation: 0, limit: 4_096 },
      },
      false,
      {
        cpuAllocation: { reservation: 2_000, limit: 4_000 },
        memoryAllocation: { reservation: 1_024, limit: 4_096 },
      },
      [],
    ],
    [
      'fractions of a MHz are rounded up',
      { cpuLimitCores: 0.0003 },
      false,
      {},
      false,
      { cpuAllocation: { reservation: 0, limit: 1 } },
      [],
    ],
  ];
  test.each(rows)('%s', (_why, wanted, applied, config, isOff, spec, whenOff) => {
    const current = configOf(config);
    const want = wantCompute(size(wanted), applied ? classOf() : null, { cpuMHz: 2_000, current });
    expect(diffCompute(want, current, isOff)).toEqual({ spec, whenOff });
  });
});

describe('settings', () => {
  const rows: [why: string, wanted: Partial<WantedSettings>, isOff: boolean, spec: object, whenOff: string[]][] = [
    ['what the spec does not say stays', {}, true, {}, []],
    ['what is so already is left out', { firmware: 'efi', changeTrackingEnabled: false }, true, {}, []],
    [
      'the rest is set while it is off',
      { guestId: 'ubuntu64Guest', nestedHVEnabled: true, coresPerSocket: 2 },
      true,
      { guestId: 'ubuntu64Guest', nestedHVEnabled: true, numCoresPerSocket: 2 },
      [],
    ],
    ['and waits while it is on', { guestId: 'ubuntu64Guest' }, false, {}, ['guestId otherGuest64 → ubuntu64Guest']],
    [
      'change tracking and boot options do not wait',
      { changeTrackingEnabled: true, bootOptions: { bootDelay: 500 } },
      false,
      { changeTrackingEnabled: true, bootDelay: 500 },
      [],
    ],
    [
      'but secure boot does',
      { bootOptions: { efiSecureBootEnabled: true } },
      false,
      {},
      ['efiSecureBootEnabled undefined → true'],
    ],
  ];
  test.each(rows)('%s', (_why, wanted, isOff, spec, whenOff) => {
    expect(diffSettings({ ...desiredOf().config, ...wanted }, configOf(), isOff)).toEqual({ spec, whenOff });
  });
});

describe('ExtraConfig', () => {
  const rows: [
    why: string,
    requested: Record<string, string>,
    current: Record<string, string>,
    changes: Record<string, string>,
  ][] = [
    ['the metadata is there', {}, metadata, {}],
    ['the metadata is written where it is missing', {}, {}, metadata],
    [
      'and where it is another',
      {},
      { ...metadata, 'vmservice.namespacedName': 'a/b' },
      { 'vmservice.namespacedName': 'team/web' },
    ],
    [
      'what is asked for is set, and noted',
      { 'a.b': '1' },
      metadata,
      { 'a.b': '1', 'vmservice.extraconfig.managedKeys': 'a.b' },
    ],
    [
      'what is so already is left out',
      { 'a.b': '1' },
      { ...metadata, 'a.b': '1', 'vmservice.extraconfig.managedKeys': 'a.b' },
      {},
    ],
    [
      'what is no longer asked for goes',
      {},
      { ...metadata, 'a.b': '1', 'vmservice.extraconfig.managedKeys': 'a.b' },
      { 'a.b': '', 'vmservice.extraconfig.managedKeys': '' },
    ],
    ['what others have set stays', {}, { ...metadata, 'tools.x': '1' }, {}],
    [
      'what belongs to the platform cannot be asked for',
      {
        'vmservice.namespacedName': 'a/b',
        'guestinfo.userdata': 'x',
        'guestinfo.metadata.encoding': 'x',
        'drover.uid': 'x',
      },
      metadata,
      {},
    ],
    [
      'in whatever case it is written, nor can what sets a guest up',
      {
        'guestinfo.vendordata': 'x',
        'guestinfo.vendordata.encoding': 'x',
        'GuestInfo.UserData': 'x',
        'Drover.uid': 'x',
      },
      metadata,
      {},
    ],
    [
      'the metadata of an evacuation always goes',
      {},
      { ...metadata, 'maintenance.vm.evacuation.poweroff': 'true' },
      { 'maintenance.vm.evacuation.poweroff': '' },
    ],
  ];
  test.each(rows)('%s', (_why, requested, current, changes) => {
    const wanted = wantExtraConfig(
      { ...desiredOf(), config: { ...desiredOf().config, extraConfig: requested } },
      null,
      current,
    );
    expect(Object.fromEntries(diffExtraConfig(wanted, current).map(({ key, value }) => [key, value]))).toEqual(changes);
  });
});

test('all parts go into one spec, and nothing is no spec', () => {
  expect(joinSpecs([{}, { deviceChange: [], extraConfig: [] }])).toBeNull();
  expect(
    joinSpecs([
      { numCPUs: 2 },
      { memoryMB: 1, extraConfig: [{ key: 'a', value: '1' }] },
      { extraConfig: [{ key: 'b', value: '2' }] },
    ]),
  ).toEqual({
    numCPUs: 2,
    memoryMB: 1,
    extraConfig: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ],
  });
});
