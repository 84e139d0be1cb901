import { setConditions } from '../../../contracts/conditions.ts';
import type { VirtualMachine, VirtualMachineStatus } from '../../../contracts/crds/virtual-machine.ts';
import type {
  VirtualMachineObjectActivities,
  WrittenVirtualMachine,
} from '../../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineStatusPatch } from '../../../contracts/virtual-machine/mutations.ts';
import { readVirtualMachine as readDesired } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { MergePatch } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { conditionMessageLimit, cut } from '../lib/cut-text.ts';
import { patchBetween } from '../lib/merge-patch.ts';
import { writeEvent } from '../lib/write-event.ts';
import { mergeVolumes } from '../../../contracts/virtual-machine/volumes.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { patchVirtualMachine } from './patch-virtual-machine.ts';

export type VirtualMachineReport = Parameters<VirtualMachineObjectActivities['publishVirtualMachine']>[0];

/**
 * Writes what differs, on the version that was read; then the Event. Safe to repeat, and safe when two runs publish at
 * once: each compares with what is there. A VirtualMachine that is gone, or is another one of that name, is left alone.
 * Where kube-apiserver refuses the status, the conditions are written without the rest: people see where the VM is, and
 * the run what was refused.
 *
 * @throws ObjectRefused after that; ObjectConflict when others write all the time; what the
 * client throws (contracts/errors.ts)
 */
export async function publishVirtualMachine(
  tools: VirtualMachineTools,
  report: VirtualMachineReport,
): Promise<WrittenVirtualMachine | null> {
  const { namespace, name, uid, generation, status, event, notes } = report;
  let refusal: unknown = null;
  const written = await retryConflicts(() => writeStatus(tools, report)).catch((error: unknown) => {
    if (status === null || !isFailure(error, 'ObjectRefused')) throw error;
    refusal = error;
    return retryConflicts(() => writeStatus(tools, { ...report, status: { ...status, fields: {} } }));
  });
  if (written === null) return null;
  if (event !== null) await publishEvent(tools, report, event);
  // Last, as nothing may be changed while drover is stopped, and what is so may be said all the same.
  const noted =
    notes.length === 0
      ? { desired: readDesired(written), recorded: written.status ?? {} }
      : await patchVirtualMachine(tools, { namespace, name, uid, generation, patches: notes });
  if (refusal !== null) throw refusal;
  return noted;
}

async function publishEvent(
  tools: VirtualMachineTools,
  { namespace, name, uid }: VirtualMachineReport,
  event: NonNullable<VirtualMachineReport['event']>,
): Promise<void> {
  // Whatever attempt this is, it is the same Event.
  await writeEvent(tools, { regarding: { kind: 'VirtualMachine', namespace, name, uid }, ...event }, [
    uid,
    String(tools.scope.scheduledMs),
    event.reason,
    event.message,
  ]);
}

/** The object then; null: it is gone. */
async function writeStatus(
  { client, scope, clock }: VirtualMachineTools,
  { namespace, name, uid, status }: VirtualMachineReport,
): Promise<VirtualMachine | null> {
  const found = await client.get(resources.VirtualMachine, { namespace, name }, scope.signal);
  if (found?.metadata.uid !== uid) return null;
  const change = status === null ? null : statusChange(found.status, status, new Date(clock.now()));
  if (change === null) return found;
  try {
    return await client.patchStatus(resources.VirtualMachine, found.metadata, change, scope.signal);
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
}

/**
 * What is to be written as a merge patch; null: nothing. A field that the patch speaks of is whole afterwards: what it
 * does not hold any more goes. Conditions and volumes of others, and all fields that it does not speak of, stay. Pure.
 */
export function statusChange(
  current: VirtualMachineStatus = {},
  { fields, conditions, removed, goneVolumes = [] }: VirtualMachineStatusPatch,
  now: Date,
): MergePatch<VirtualMachineStatus> | null {
  const updates = conditions.map((update) => ({ ...update, message: cut(update.message, conditionMessageLimit) }));
  const kept = current.conditions?.filter(({ type }) => !removed.includes(type)) ?? [];
  const { conditions: _, ...rest } = current;
  // On what is there now, and not on what was when they were observed.
  const volumes = fields.volumes && { volumes: mergeVolumes(current.volumes, fields.volumes, goneVolumes) };
  const wanted = { ...rest, ...fields, ...volumes, conditions: [...setConditions(kept, updates, now.toISOString())] };
  return (patchBetween({ conditions: [], ...current }, wanted) as MergePatch<VirtualMachineStatus> | undefined) ?? null;
}
