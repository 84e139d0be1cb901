import type { ImageDisk, ImageHardware } from '../../../contracts/virtual-machine/cached-files.ts';
import type { CreateSource } from '../../../contracts/virtual-machine/mutations.ts';
import { createOf, owner, uid } from '../../../test/fixtures/activities/vsphere.ts';
import { encodeRequest } from '../wire/encode.ts';
import type { VirtualMachineConfigSpec } from '../wire/vim/types.ts';
import { cachedDisksSpec } from './cached-disks.ts';

type Cached = Extract<CreateSource, { kind: 'cachedDisks' }>;

const disk = (more: Partial<ImageDisk> = {}): ImageDisk => ({
  controller: 'SCSI',
  busNumber: 0,
  unitNumber: null,
  capacityBytes: 2 * 1024 ** 3,
  ...more,
});
const hardware = (disks: ImageDisk[], more: Partial<ImageHardware> = {}): ImageHardware => ({
  guestId: null,
  firmware: null,
  version: null,
  disks,
  ...more,
});
const specOf = (
  { disks = ['[fast] cache/a.vmdk'], ...more }: Partial<Cached> = {},
  config: object = {},
): VirtualMachineConfigSpec =>
  cachedDisksSpec(createOf({ config }), owner, {
    source: {
      kind: 'cachedDisks',
      itemId: 'i',
      mode: 'direct',
      nvram: null,
      hardware: hardware([disk()]),
      disks,
      ...more,
    },
    home: '[fast] u',
  });
const optionsOf = ({ extraConfig = [] }: VirtualMachineConfigSpec) =>
  Object.fromEntries(extraConfig.map(({ key, value }) => [key, value]));
const changesOf = ({ deviceChange = [] }: VirtualMachineConfigSpec) =>
  deviceChange.map(({ operation, fileOperation, device }) => ({ operation, fileOperation, ...device }));

test('direct: the VM has the copies, which are there; vCenter makes no file', () => {
  const spec = specOf();
  expect(spec).toMatchObject({ name: 'web', instanceUuid: uid, files: { vmPathName: '[fast] u/web.vmx' } });
  const [controller, own] = changesOf(spec);
  expect(controller).toMatchObject({ operation: 'add', $type: 'ParaVirtualSCSIController', busNumber: 0 });
  expect(own).toMatchObject({
    operation: 'add',
    $type: 'VirtualDisk',
    controllerKey: controller?.key,
    unitNumber: 0,
    capacityInKB: 2 * 1024 ** 2,
    backing: { fileName: '[fast] u/disk-0.vmdk', thinProvisioned: true },
  });
  expect(own?.fileOperation).toBeUndefined();
  expect(own).not.toHaveProperty('backing.parent');
  expect(optionsOf(spec)).toEqual({ 'vmservice.namespacedName': 'team/web', 'drover.uid': uid });
});

test('linked: vCenter makes children of the cached disks, which it must keep', () => {
  const spec = specOf({
    mode: 'linked',
    disks: ['[fast] cache/a.vmdk', '[fast] cache/b.vmdk'],
    hardware: hardware([disk(), disk()]),
  });
  expect(changesOf(spec).slice(1)).toMatchObject([
    {
      fileOperation: 'create',
      unitNumber: 0,
      backing: { fileName: '[fast] u/disk-0.vmdk', parent: { fileName: '[fast] cache/a.vmdk' } },
    },
    {
      fileOperation: 'create',
      unitNumber: 1,
      backing: { fileName: '[fast] u/disk-1.vmdk', parent: { fileName: '[fast] cache/b.vmdk' } },
    },
  ]);
  expect(optionsOf(spec)).toMatchObject({ 'vmprov.keepDisks': 'a.vmdk,b.vmdk' });
});

test.each<[string, ImageDisk[], string[]]>([
  [
    'each at the slot that its image names',
    [disk({ controller: 'SATA', busNumber: 1, unitNumber: 3 }), disk({ controller: 'NVME' })],
    ['VirtualAHCIController 1', 'disk 3', 'VirtualNVMEController 0', 'disk 0'],
  ],
  ['two on one controller', [disk({ unitNumber: 1 }), disk()], ['ParaVirtualSCSIController 0', 'disk 1', 'disk 0']],
  ['the controllers for IDE are there', [disk({ controller: 'IDE', busNumber: 1, unitNumber: 0 })], ['disk 0']],
  [
    'nine disks: the controller itself is unit 7',
    Array.from({ length: 9 }, () => disk()),
    ['ParaVirtualSCSIController 0', ...[0, 1, 2, 3, 4, 5, 6, 8, 9].map((unit) => `disk ${unit}`)],
  ],
  ['where the image does not say, all are on one', [], ['ParaVirtualSCSIController 0', 'disk 0', 'disk 1']],
])('where disks are: %s', (_why, disks, observed) => {
  const spec = specOf({
    disks: (disks.length > 0 ? disks : [1, 2]).map((_disk, index) => `[fast] c/${index}.vmdk`),
    hardware: hardware(disks),
  });
  expect(
    changesOf(spec).map((change) =>
      change.$type === 'VirtualDisk'
        ? `disk ${String(change.unitNumber)}`
        : `${change.$type} ${String((change as { busNumber?: number }).busNumber)}`,
    ),
  ).toEqual(observed);
  const keys = changesOf(spec).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});

test('a slot that no VM has is refused', () => {
  expect(() => specOf({ hardware: hardware([disk({ controller: 'IDE', busNumber: 2 })]) })).toThrow(
    'The image has a disk at IDE 2',
  );
});

test('the machine is the image’s, as far as nothing else is asked for', () => {
  const given = hardware([disk()], { guestId: 'ubuntu64Guest', firmware: 'efi', version: 21 });
  expect(specOf({ hardware: given, nvram: '[fast] cache/x.nvram' })).toMatchObject({
    guestId: 'ubuntu64Guest',
    firmware: 'efi',
    version: 'vmx-21',
  });
  expect(optionsOf(specOf({ nvram: '[fast] cache/x.nvram' }))).toMatchObject({ nvram: 'web.nvram' });
  expect(specOf({ hardware: given }, { guestId: 'otherGuest64', firmware: 'bios' })).toMatchObject({
    guestId: 'otherGuest64',
    firmware: 'bios',
  });
});

test('all of it can be written', () => {
  expect(
    encodeRequest(
      'CreateVM_Task',
      { type: 'Folder', value: 'group-1' },
      { config: specOf({ mode: 'linked' }), pool: { type: 'ResourcePool', value: 'r' } },
      null,
    ),
  ).toContain('<fileName>[fast] cache/a.vmdk</fileName>');
});
