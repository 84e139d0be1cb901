import { oneLine } from '../render/table.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { HypervisorChange } from './hypervisor-access.ts';
import type { HypervisorObject } from './hypervisor-facts.ts';

/** What becomes of a command for a host. `says`: sentences for the person, what was done first, what follows from it after. */
export type HypervisorPlan =
  | { do: 'change'; change: HypervisorChange; says: string[] }
  /** It is asked for already, or it is there. */
  | { do: 'nothing'; says: string[] };

/** Everything answered, and the answer is no: nothing is changed. */
export const refused = (message: string, advice: string): CommandError =>
  new CommandError(`${message} Nothing was changed.`, exitCodes.refused, advice);

/** @throws CommandError for one that is about to be no more */
export function refuseDeleted({ name, deleting }: HypervisorObject): void {
  if (deleting)
    throw refused(
      `Hypervisor ${name} is being deleted; drover does nothing more for it.`,
      `\`kubectl get hypervisor ${name} -o yaml\` shows which finalizers keep it.`,
    );
}

/** `maintenance manual, by alice 2026-01-31T12:00:00Z: new disks`, as far as it is recorded. */
export const describeMaintenance = ({
  maintenance,
  maintainedBy,
  maintenanceReason,
}: Pick<HypervisorObject, 'maintenance' | 'maintainedBy' | 'maintenanceReason'>): string =>
  `maintenance ${maintenance}${maintainedBy === null ? '' : `, by ${oneLine(maintainedBy)}`}${maintenanceReason === null ? '' : `: ${oneLine(maintenanceReason)}`}`;
