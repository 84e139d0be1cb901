import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { attachedDisk, foreignDisksOf, virtualDisksOf } from '../observation/devices.ts';
import { heldBySnapshots } from '../observation/snapshot-disks.ts';
import type { VcenterGateway, VirtualMachine } from '../types.ts';
import { configOf } from './find-vm.ts';

/** What is to be done next to a VM that is to go. */
export type DestroyStep =
  | { kind: 'detach'; disks: readonly { key: number; capacityInKB: number; name: string }[] }
  | { kind: 'powerOff' }
  | { kind: 'destroy' };

/**
 * Pure.
 *
 * @throws VirtualMachineStateRefused where vCenter does not know what it is made of, and so not what would be
 * destroyed; ForeignDisksAttached where
 *   snapshots hold disks that are not its own
 */
export function nextDestroyStep(
  vm: VirtualMachine,
  { detachForeignDisks }: { detachForeignDisks: boolean },
): DestroyStep {
  const config = configOf(vm);
  const held = detachForeignDisks ? heldBySnapshots(vm.properties, config) : [];
  if (held.length > 0)
    throw droverFailure(
      'ForeignDisksAttached',
      `Snapshots of ${vm.name} (${vm.id}) hold ${held.join(', ')}: they would be destroyed with it. Remove the snapshots`,
    );
  const foreign = new Set(detachForeignDisks ? foreignDisksOf(config).map(({ key }) => key) : []);
  if (foreign.size > 0)
    return {
      kind: 'detach',
      disks: virtualDisksOf(config.devices)
        .filter(({ key }) => foreign.has(key))
        .map((disk) => ({ key: disk.key, capacityInKB: disk.capacityInKB, name: diskName(disk) })),
    };
  return vm.powerState === 'poweredOff' ? { kind: 'destroy' } : { kind: 'powerOff' };
}

function diskName(disk: Parameters<typeof attachedDisk>[0]): string {
  const { fileName, firstClassDiskId, label, key } = attachedDisk(disk);
  return fileName ?? firstClassDiskId ?? (label || `disk ${key}`);
}

/** One change and one more for each time that another client was faster. */
const mostChanges = 8;
const afterOvertakenMs = 1_000;

/** Another client was faster, or vCenter has forgotten the task: the VM is read again. */
const overtaken: readonly (string | null)[] = [
  'VirtualMachineConflict',
  'VirtualMachineNotFound',
  'VirtualMachineStateRefused',
  'ForeignDisksAttached',
  'VsphereTaskNotFound',
];

interface Destruction {
  gateway: Pick<VcenterGateway, 'vcenter'>;
  clock: Clock;
  signal: AbortSignal;
  detachForeignDisks: boolean;
  /** The VM as it is, and whose it still is, before each change; null: it is gone. */
  find: () => Promise<VirtualMachine | null>;
  /** Waits for the end of its task. */
  execute: (vm: VirtualMachine, step: DestroyStep) => Promise<void>;
}

/**
 * Destroys a VM, one change after the other.
 *
 * @returns false: it was gone already
 * @throws VirtualMachineConflict where it is still there after so many changes; what `find` and `execute` throw
 */
export async function destroyByStep({
  gateway,
  clock,
  signal,
  detachForeignDisks,
  find,
  execute,
}: Destruction): Promise<boolean> {
  for (let change = 1, isDestroyed = false; ; change += 1) {
    const vm = await find();
    if (vm === null) return isDestroyed;
    if (change > mostChanges)
      throw droverFailure(
        'VirtualMachineConflict',
        `${vm.name} (${vm.id}) of vCenter ${gateway.vcenter} is ${vm.powerState} after ${mostChanges} changes`,
      );
    const step = nextDestroyStep(vm, { detachForeignDisks });
    try {
      await execute(vm, step);
      isDestroyed ||= step.kind === 'destroy';
    } catch (error) {
      if (change === mostChanges || !overtaken.includes(failureCode(error))) throw error;
      await clock.sleep(afterOvertakenMs, signal);
    }
  }
}
