import { diskOf, vmOf } from '../../../test/fixtures/activities/vsphere.ts';
import type { VirtualDisk } from '../wire/vim/types.ts';
import { heldBySnapshots } from './snapshot-disks.ts';

const snapshot = {
  $type: 'VirtualMachineSnapshotInfo',
  rootSnapshotList: [
    {
      $type: 'VirtualMachineSnapshotTree',
      snapshot: { type: 'VirtualMachineSnapshot', value: 'snapshot-1' },
      name: 'before',
    },
  ],
};
const volume = '[ds] fcd/volume.vmdk';
const attached: VirtualDisk = diskOf({
  key: 2001,
  unitNumber: 1,
  backing: { $type: 'VirtualDiskFlatVer2BackingInfo', fileName: volume, diskMode: 'persistent' },
});
const file = (key: number, name: string, type = 'diskExtent') => ({
  $type: 'VirtualMachineFileLayoutExFileInfo',
  key,
  name,
  type,
  size: 1,
});
const layout = (...files: object[]) => ({
  'layoutEx.file': files,
  'layoutEx.disk': [{ $type: 'VirtualMachineFileLayoutExDiskLayout', key: 2000, chain: [{ fileKey: [1, 2] }] }],
});
const own = file(1, '[ds] web/web.vmdk');

test.each<[what: string, read: Record<string, unknown>, disks: VirtualDisk[], held: string[]]>([
  ['no snapshot holds anything', layout(own, file(3, volume)), [diskOf(), attached], []],
  ['all were removed', { snapshot: { ...snapshot, rootSnapshotList: [] } }, [diskOf(), attached], []],
  ['its own', { snapshot, ...layout(own, file(4, '[ds] web/web-000001.vmdk')) }, [diskOf()], []],
  [
    'one in a folder of that name on another datastore',
    { snapshot, ...layout(own, file(3, '[other] web/web.vmdk')) },
    [diskOf()],
    ['[other] web/web.vmdk'],
  ],
  ['one that is attached', { snapshot, ...layout(own) }, [diskOf(), attached], [volume]],
  ['one that was detached', { snapshot, ...layout(own, file(3, volume)) }, [diskOf()], [volume]],
  ['a disk that its own is linked to', { snapshot, ...layout(own, file(2, '[ds] cache/base.vmdk')) }, [diskOf()], []],
  ['what is no disk', { snapshot, ...layout(own, file(3, '[ds] other/web.vmsn', 'snapshotData')) }, [diskOf()], []],
  ['files that vCenter does not list', { snapshot }, [diskOf()], ['disks that vCenter does not list']],
])('%s', (_, read, disks, held) => {
  expect(heldBySnapshots(read, { ...vmOf().config!, devices: disks })).toEqual(held);
});
