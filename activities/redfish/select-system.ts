import { powerStates, type PowerState } from '../../contracts/node-failure/power.ts';
import type { ComputerSystem, SystemSelector } from './types.ts';
import type { WireSystem } from './wire.ts';

export function toSystem(path: string, found: WireSystem): ComputerSystem {
  const reset = found.Actions?.['#ComputerSystem.Reset'];
  return {
    path,
    uuid: found.UUID ?? null,
    serial: found.SerialNumber?.trim() ?? null,
    power: powerState(found.PowerState),
    reset:
      reset === undefined ? null : { target: reset.target, types: reset['ResetType@Redfish.AllowableValues'] ?? null },
  };
}

/** Whatever is not one of the schema's states says nothing. */
const powerState = (told: string | null | undefined): PowerState =>
  powerStates.find((state) => state === told) ?? 'Unknown';

/** Why the machine is not the one that is meant; null where it is. Pure. */
export function mismatch({ uuid, serial }: SystemSelector, system: ComputerSystem): string | null {
  if (uuid !== undefined && uuid.toLowerCase() !== system.uuid?.toLowerCase())
    return `its UUID is ${system.uuid ?? 'not told'}, not ${uuid}`;
  if (serial !== undefined && serial !== system.serial)
    return `its serial number is ${system.serial ?? 'not told'}, not ${serial}`;
  return null;
}
