import type { Action, Cast } from './cast.ts';
import { NothingToDo } from './cast.ts';
import { disruptionActions } from './disruptions.ts';
import { evictionActions } from './evictions.ts';
import { hypervisorActions } from './hypervisors.ts';
import type { EventKind, ScheduledEvent } from './schedule.ts';
import { virtualMachineActions } from './virtual-machines.ts';

const actions: Readonly<Record<EventKind, Action>> = {
  ...evictionActions,
  ...hypervisorActions,
  ...virtualMachineActions,
  ...disruptionActions,
};

/**
 * Makes the event happen. What there is nothing to do to, and what is refused, is no event.
 *
 * @returns whether it happened
 */
export async function perform(cast: Cast, event: ScheduledEvent): Promise<boolean> {
  try {
    await actions[event.kind](cast, event);
    return true;
  } catch (error) {
    if (error instanceof NothingToDo || isRefusal(error as Error)) return false;
    throw error;
  }
}

/** No such object, run or state: users are told, and go on. */
const refusals =
  /not found|no such|already|completed|409|404|400|conflict|forbidden|invalid|refuse|cannot|exists|has no|knows no/iu;
const isRefusal = ({ name, message }: Error): boolean => refusals.test(`${name} ${message}`);
