import type { StoredObject } from '../../../contracts/virtual-machine/backup.ts';
import { backupKeys, extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { pack } from '../../../runtime/pack.ts';
import { diskUuid, virtualDisksOf } from '../observation/devices.ts';
import type { Devices } from '../observation/read-vm.ts';
import { isA } from '../wire/kinds.ts';

/** What stands in the VM's ExtraConfig for whoever restores it. An empty value takes a key away. Pure. See docs/compatibility.md#backup. */
export function backupOptions({ generation, yaml, claims }: StoredObject, devices: Devices): Record<string, string> {
  const disks = virtualDisksOf(devices).flatMap((disk) => {
    const claim = claims.find((one) => one.diskUuid === diskUuid(disk));
    return claim === undefined || !isA(disk.backing, 'VirtualDeviceFileBackingInfo')
      ? []
      : [{ FileName: disk.backing.fileName, PVCName: claim.name, AccessModes: claim.accessModes }];
  });
  return {
    [backupKeys.object]: pack(yaml),
    [backupKeys.claims]: disks.length === 0 ? '' : pack(JSON.stringify(disks)),
    [extraConfigKeys.backupVersion]: String(generation),
  };
}
