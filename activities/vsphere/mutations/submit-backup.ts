import type { Submission, VirtualMachineVsphereActivities } from '../../../contracts/virtual-machine/activities.ts';
import type { ReadBackup } from '../../../contracts/virtual-machine/backup.ts';
import type { Tools } from '../dependencies.ts';
import { configOf, readOwnedThere } from './find-vm.ts';
import { backupOptions } from '../specs/backup.ts';
import { option } from '../specs/config-spec.ts';
import { reconfigure } from './submit-reconfigure.ts';

/** Stores the object with its VM. What is so already is well; of another generation, the next look decides anew. */
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
  // The spec may hold what is nobody's business, such as a script.
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
