import type { Controller } from '../../../contracts/virtual-machine/config.ts';
import type { WantedController } from '../../../contracts/virtual-machine/lifecycle.ts';
import { readVirtualMachine } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { configOf, vmContextOf } from '../../../test/fixtures/workflows/virtual-machine.ts';
import { sampleVirtualMachine } from '../../../test/fixtures/activities/virtual-machine.ts';
import { describeVm } from '../conditions.ts';
import { diffConfig } from './config.ts';
import { diffControllers } from './controllers.ts';

const scsi = (more: Partial<Controller> = {}): Controller & { key: number } => ({
  bus: 'SCSI',
  busNumber: 1,
  type: 'ParaVirtual',
  sharing: 'None',
  isInUse: false,
  ...more,
  key: more.key ?? 1_001,
});
const want = (more: Partial<WantedController> = {}): WantedController => ({
  bus: 'SCSI',
  busNumber: 1,
  type: 'ParaVirtual',
  sharing: 'None',
  ...more,
});
const sata = want({ bus: 'SATA', type: null });
const ide = want({ bus: 'IDE', busNumber: 0, type: null });

const rows: [
  why: string,
  wanted: WantedController[],
  current: Controller[],
  isOff: boolean,
  changes: string[],
  mismatch: string,
][] = [
  ['all is so', [want()], [scsi()], true, [], ''],
  ['one is missing', [want()], [], true, ['add'], ''],
  ['also while the VM runs', [want(), sata], [], false, ['add', 'add'], ''],
  ['but not IDE', [ide], [], false, [], 'Power the VM off to add IDE controller 0'],
  ['which comes while it is off', [ide], [], true, ['add'], ''],
  ['the same bus of another kind is another one', [sata], [scsi()], true, ['add'], ''],
  ['one that is not named stays', [], [scsi()], true, [], ''],
  ['sharing', [want({ sharing: 'Physical' })], [scsi({ isInUse: true })], true, ['edit'], ''],
  ['sharing waits', [want({ sharing: 'Physical' })], [scsi()], false, [], 'from None to Physical'],
  ['another type', [want({ type: 'LsiLogic' })], [scsi()], true, ['remove', 'add'], ''],
  ['another type waits', [want({ type: 'LsiLogic' })], [scsi()], false, [], 'Power the VM off to make'],
  ['another type under disks', [want({ type: 'LsiLogic' })], [scsi({ isInUse: true })], true, [], 'detach them'],
  ['of NVMe there is one type', [want({ bus: 'NVME', type: null })], [scsi({ bus: 'NVME', type: null })], true, [], ''],
];

test.each(rows)('controllers: %s', (_why, wanted, current, isOff, changes, mismatch) => {
  const difference = diffControllers(wanted, current, isOff);
  expect(difference.changes.map(({ operation }) => operation)).toEqual(changes);
  expect(difference.mismatches.join()).toContain(mismatch);
  expect(difference.mismatches).toHaveLength(mismatch === '' ? 0 : 1);
});

test('all four kinds are read, with the defaults of the CRD', () => {
  const object = sampleVirtualMachine({
    spec: {
      hardware: {
        ideControllers: [{ busNumber: 0 }],
        nvmeControllers: [{ busNumber: 1, sharingMode: 'Physical' }],
        sataControllers: [{ busNumber: 2 }],
        scsiControllers: [{ busNumber: 3 }, { busNumber: 1, type: 'LsiLogicSAS', sharingMode: 'Virtual' }],
      },
    },
  });
  expect(readVirtualMachine(object).controllers).toEqual([
    { bus: 'IDE', busNumber: 0, type: null, sharing: 'None' },
    { bus: 'NVME', busNumber: 1, type: null, sharing: 'Physical' },
    { bus: 'SATA', busNumber: 2, type: null, sharing: 'None' },
    { bus: 'SCSI', busNumber: 3, type: 'ParaVirtual', sharing: 'None' },
    { bus: 'SCSI', busNumber: 1, type: 'LsiLogicSAS', sharing: 'Virtual' },
  ]);
});

test('what cannot be done now stands in the condition, beside what is done', () => {
  const context = vmContextOf({
    desired: { controllers: [want({ type: 'LsiLogic' }), sata] },
    config: { ...configOf(), controllers: [scsi({ isInUse: true })] },
  });
  expect(diffConfig(context).spec?.deviceChange).toMatchObject([{ operation: 'add', controller: { bus: 'SATA' } }]);
  expect(describeVm(context)['VirtualMachineHardwareControllersVerified']).toMatchObject({
    status: 'False',
    reason: 'HardwareControllersMismatch',
  });
});
