import { attachedDisk, foreignDisksOf, virtualDisksOf } from '../observation/devices.ts';
import type { VirtualMachine } from '../types.ts';
import { configOf } from './find-vm.ts';

/** What is to be done next to a VM that is to go. */
export type DestroyStep =
  | { kind: 'detach'; disks: readonly { key: number; capacityInKB: number; name: string }[] }
  | { kind: 'powerOff' }
  | { kind: 'destroy' };

/** Pure. @throws VirtualMachineStateRefused where vCenter does not know what it is made of, and so not what would be destroyed */
export function nextDestroyStep(
  vm: VirtualMachine,
  { detachForeignDisks }: { detachForeignDisks: boolean },
): DestroyStep {
  const config = configOf(vm);
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
