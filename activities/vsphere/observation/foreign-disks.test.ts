import { foreignDisks } from './foreign-disks.ts';
import type { AttachedDisk } from '../types.ts';

const disk = (fileName: string | null, firstClassDiskId: string | null = null): AttachedDisk => ({
  key: 2000,
  label: 'Hard disk 1',
  capacityBytes: 1,
  fileName,
  firstClassDiskId,
});

test.each<[what: string, vmxPath: string, disk: AttachedDisk, isForeign: boolean]>([
  ['in the VM’s folder', '[ds] web/web.vmx', disk('[ds] web/web.vmdk'), false],
  ['in its folder on another datastore', '[ds] web/web.vmx', disk('[other] web/web_1.vmdk'), false],
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
