import type { Controller, DeviceChange } from '../../../contracts/virtual-machine/config.ts';
import type { WantedController } from '../../../contracts/virtual-machine/lifecycle.ts';

export interface ControllerDifference {
  changes: DeviceChange[];
  /** What has to wait until the VM is off, or cannot be done while a disk or a drive is attached: as sentences. */
  mismatches: string[];
}

/**
 * Controllers that the spec names, by their kind and bus. One that is missing is added, also while the VM runs, unless
 * it is IDE; its sharing changes while the VM is off, and so does its type, as long as nothing is attached. Controllers
 * that the spec does not name stay: a disk may be on them.
 */
export function diffControllers(
  wanted: readonly WantedController[],
  current: readonly Controller[],
  isOff: boolean,
): ControllerDifference {
  const changes: DeviceChange[] = [];
  const mismatches: string[] = [];
  for (const one of wanted) {
    const name = `${one.bus} controller ${one.busNumber}`;
    const there = current.find(({ bus, busNumber }) => bus === one.bus && busNumber === one.busNumber);
    const added: DeviceChange = {
      operation: 'add',
      device: 'controller',
      controller: { ...one, sharing: one.sharing ?? 'None', key: null },
    };
    if (there === undefined) {
      if (isOff || one.bus !== 'IDE') changes.push(added);
      else mismatches.push(`Power the VM off to add ${name}`);
    } else if (one.type !== null && there.type !== one.type) {
      if (there.isInUse)
        mismatches.push(
          `${name} is ${there.type ?? 'of another type'} and not ${one.type}, and disks are attached to it: detach them, or change the spec`,
        );
      else if (isOff) changes.push({ operation: 'remove', device: 'controller', key: there.key ?? 0 }, added);
      else
        mismatches.push(`Power the VM off to make ${name} ${one.type} in the place of ${there.type ?? 'another type'}`);
    } else if (one.sharing !== null && there.sharing !== one.sharing) {
      if (isOff)
        changes.push({
          operation: 'edit',
          device: 'controller',
          controller: { ...one, sharing: one.sharing, key: there.key, type: there.type },
        });
      else mismatches.push(`Power the VM off to set the sharing of ${name} from ${there.sharing} to ${one.sharing}`);
    }
  }
  return { changes, mismatches };
}
