import { devices, diskOf, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import type { AttachedDisk } from '../types.ts';
import type { VirtualDisk } from '../wire/vim/types.ts';
import { cdromsOf, diskName, disksOf, foreignDisks, networkCardsOf } from './devices.ts';

const configOf = (disks: VirtualDisk[]) => ({ ...vmOf().config!, devices: disks });

test('cards in the order of their keys, with their types as the spec has them', () => {
  const second = { ...devices.at(-1)!, $type: 'VirtualE1000e', key: 3999, macAddress: '' };
  expect(networkCardsOf([...devices, second, { $type: 'VirtualWondercard', key: 4001 }])).toEqual([
    { key: 3999, type: 'E1000e', backing: 'standard:VM Network', macAddress: null },
    { key: 4000, type: 'VMXNet3', backing: 'standard:VM Network', macAddress: '00:50:56:aa:00:01' },
  ]);
});

const slot = { bus: 'IDE', busNumber: 0, unitNumber: 0 };

test('a drive is connected as it is while the VM is on, and as it will be while it is off', () => {
  expect(cdromsOf(devices, true)).toEqual([
    { key: 3000, iso: '[ds] a.iso', connected: false, allowGuestControl: true, slot },
  ]);
  expect(cdromsOf(devices, false)).toEqual([
    { key: 3000, iso: '[ds] a.iso', connected: true, allowGuestControl: true, slot },
  ]);
  expect(
    cdromsOf([{ $type: 'VirtualCdrom', key: 3001, backing: { $type: 'VirtualCdromAtapiBackingInfo' } }], false),
  ).toEqual([{ key: 3001, iso: '', connected: false, allowGuestControl: false, slot: null }]);
});

const child = (...parents: string[]): NonNullable<VirtualDisk['backing']> =>
  ['[ds] web/a-000001.vmdk', ...parents].reduceRight<{ $type: string; fileName: string; diskMode: string } | undefined>(
    (parent, fileName) => ({
      $type: 'VirtualDiskFlatVer2BackingInfo',
      fileName,
      diskMode: 'persistent',
      ...(parent !== undefined && { parent }),
    }),
    undefined,
  )!;

test.each<[what: string, more: Partial<VirtualDisk>, linked: true | undefined]>([
  ['of its own', { backing: child() }, undefined],
  ['of a snapshot', { backing: child('[ds] web/a.vmdk') }, undefined],
  ['that is linked to a cached one', { backing: child('[ds] cache/a.vmdk') }, true],
  ['that is so below a snapshot', { backing: child('[ds] web/a.vmdk', '[ds] cache/a.vmdk') }, true],
  ['of a CSI driver', { backing: child('[ds] cache/a.vmdk'), vDiskId: { id: 'f-1' } }, undefined],
  ['that is sparse', { backing: { ...child('[ds] cache/a.vmdk'), $type: 'VirtualDiskSeSparseBackingInfo' } }, true],
])('a disk %s: linked or not', (_, more, linked) =>
  expect(disksOf(configOf([diskOf(more)]), [])[0]?.linked).toBe(linked),
);

test.each<[what: string, more: Partial<VirtualDisk>, own: boolean]>([
  ['in the VM’s folder', {}, true],
  ['a first-class disk', { vDiskId: { id: 'f-1' } }, false],
  [
    'in another folder',
    { backing: { $type: 'VirtualDiskFlatVer2BackingInfo', fileName: '[ds] fcd/a.vmdk', diskMode: 'persistent' } },
    false,
  ],
  ['of a kind that drover does not know', { backing: { $type: 'VirtualDiskQuantumBackingInfo' } }, false],
])('a disk %s', (_, more, own) =>
  expect(disksOf(configOf([diskOf(more)]), [])).toMatchObject([{ key: 2000, capacityBytes: 10 * 1024 ** 3, own }]),
);

test('it boots from the first disk, unless its order says otherwise', () => {
  const both = configOf([diskOf({ key: 2001, unitNumber: 1 }), diskOf()]);
  const booting = (order: number[]) =>
    disksOf(both, order)
      .filter(({ boot }) => boot)
      .map(({ key }) => key);
  expect(booting([])).toEqual([2000]);
  expect(booting([9, 2001, 2000])).toEqual([2001]);
  expect(disksOf(configOf([]), [2000])).toEqual([]);
});

test('a volume is no boot disk, neither on an earlier controller nor where the order names it', () => {
  const both = configOf([diskOf({ key: 1000, vDiskId: { id: 'f-1' } }), diskOf()]);
  const booting = (order: number[]) => disksOf(both, order).flatMap(({ boot, key }) => (boot ? [key] : []));
  expect(booting([])).toEqual([2000]);
  expect(booting([1000])).toEqual([2000]);
  expect(disksOf(configOf([diskOf({ vDiskId: { id: 'f-1' } })]), [])).toMatchObject([{ boot: false }]);
});

test('the exact capacity counts; a name is the disk’s for good', () => {
  expect(disksOf(configOf([diskOf({ capacityInBytes: 1_000 })]), [])).toMatchObject([{ capacityBytes: 1_000 }]);
  expect(diskName(diskOf({ key: 7 }))).toBe(diskName(diskOf()));
  expect(
    diskName(diskOf({ backing: { $type: 'VirtualDiskFlatVer2BackingInfo', fileName: 'a', diskMode: 'persistent' } })),
  ).toBe('disk-2000');
});

const disk = (fileName: string | null, firstClassDiskId: string | null = null): AttachedDisk => ({
  key: 2000,
  label: 'Hard disk 1',
  capacityBytes: 1,
  fileName,
  firstClassDiskId,
});

test.each<[what: string, vmxPath: string, disk: AttachedDisk, isForeign: boolean]>([
  ['in the VM’s folder', '[ds] web/web.vmx', disk('[ds] web/web.vmdk'), false],
  ['in a folder of that name on another datastore', '[ds] web/web.vmx', disk('[other] web/web_1.vmdk'), true],
  ['in a folder of a folder', '[ds] team/web/web.vmx', disk('[ds] team/web/web.vmdk'), false],
  ['a first-class disk in its folder', '[ds] web/web.vmx', disk('[ds] web/web.vmdk', 'f-1'), true],
  ['in another folder', '[ds] web/web.vmx', disk('[ds] fcd/volume.vmdk'), true],
  ['in a folder whose name begins alike', '[ds] web/web.vmx', disk('[ds] web-2/web.vmdk'), true],
  ['at the top of the datastore', '[ds] web/web.vmx', disk('[ds] volume.vmdk'), true],
  ['without a file', '[ds] web/web.vmx', disk(null), true],
  ['where nothing is known of the VM’s folder', '', disk('[ds] web/web.vmdk'), true],
  ['a name with brackets', '[ds] a]b/a]b.vmx', disk('[ds] a]b/x.vmdk'), false],
])('%s', (_, vmxPath, one, isForeign) =>
  expect(foreignDisks({ vmxPath, disks: [one] })).toEqual(isForeign ? [one] : []),
);

const backed = (fileName: string, uuid = '6000c29d') =>
  diskOf({ backing: { $type: 'VirtualDiskFlatVer2BackingInfo', fileName, diskMode: 'persistent', uuid } });
test.each<[what: string, disk: VirtualDisk, vmName: string, own: boolean]>([
  ['made with it, in the folder that vCenter moved it to', backed('[other] db/db.vmdk'), 'db', true],
  ['made with it, in a folder that is called like its own', backed('[other] web/db.vmdk'), 'db', true],
  ['another one in such a folder', backed('[other] web/db.vmdk', '6000c29e'), 'db', false],
  ['in a second one of that name', backed('[other] db_1/db.vmdk'), 'db', true],
  ['in a folder whose name begins alike', backed('[other] db_old/db.vmdk'), 'db', false],
  ['in another VM’s folder: a copy of its file has its UUID too', backed('[other] backup/db.vmdk'), 'db', false],
  ['not made with it', backed('[other] db/db.vmdk', '6000c29e'), 'db', false],
  ['a first-class disk by now', { ...backed('[other] db/db.vmdk'), vDiskId: { id: 'f-1' } }, 'db', false],
  ['of a VM without a name', backed('[other] /db.vmdk'), '', false],
])('a disk that was moved alone: %s', (_, one, vmName, own) =>
  expect(disksOf(configOf([one]), [], { vmName, disks: [diskName(diskOf())] })).toMatchObject([{ own }]),
);
