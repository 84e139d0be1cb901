import type { Submission, VirtualMachineVsphereActivities } from '../../../contracts/virtual-machine/activities.ts';
import type { ReadBackup, StoredObject } from '../../../contracts/virtual-machine/backup.ts';
import { backupKeys, extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import { pack } from '../../../runtime/pack.ts';
import type { Tools } from '../dependencies.ts';
import { diskUuid, virtualDisksOf } from '../observation/devices.ts';
import type { Devices } from '../observation/read-vm.ts';
import { option } from '../specs/config-spec.ts';
import { isA } from '../wire/kinds.ts';
import { configOf, readOwnedThere } from './find-vm.ts';
import { reconfigure } from './submit-reconfigure.ts';

/**
 * Stores the object with its VM. Writes nothing where it is stored already, or where the object has another generation:
 * the next observation decides.
 */
export async function submitBackup(
  tools: Tools,
  read: ReadBackup,
  request: Parameters<VirtualMachineVsphereActivities['submitBackup']>[0],
): Promise<Submission> {
  const { changeVersion, devices, extraConfig: before } = configOf(await readOwnedThere(tools, request));
  const stored = await read(request.object, tools.scope.signal);
  if (String(stored.generation) !== request.version) return null;
  const changed = Object.entries(backupOptions(stored, devices)).filter(
    ([key, value]) => (before[key] ?? '') !== value,
  );
  if (changed.length === 0) return null;
  const extraConfig = changed.map(([key, value]) => option({ key, value }));
  // The spec may hold secrets, such as those in a script.
  return reconfigure(
    tools,
    'submitBackup',
    request,
    { extraConfig },
    { changeVersion },
    { generation: request.version, extraConfigKeys: changed.map(([key]) => key) },
    true,
  );
}

/**
 * The ExtraConfig from which the VM can be restored. An empty value takes a key away.
 * Pure. See docs/compatibility.md#backup.
 */
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
