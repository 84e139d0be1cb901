import { WorkflowNotFoundError } from '@temporalio/common';
import { AbsentError } from '../../../lab/absent-error.ts';
import { OpenStackError } from '../../../lab/openstack/session.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { VsphereFault } from '../../fakes/vsphere/fault.ts';
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
 * @throws where the event itself is broken, which nobody may take for a refusal
 */
export async function perform(cast: Cast, event: ScheduledEvent): Promise<boolean> {
  try {
    await actions[event.kind](cast, event);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** What kube-apiserver says where there is no such object, or where it does not take what is asked. */
const ofKubernetes = ['ObjectNotFound', 'ObjectConflict', 'ObjectRefused', 'KubernetesForbidden'] as const;

/** No such object, run or state: users are told, and go on. Told by its class, as whatever breaks has a message. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof NothingToDo ||
  error instanceof AbsentError ||
  error instanceof WorkflowNotFoundError ||
  error instanceof VsphereFault ||
  (error instanceof OpenStackError && error.status < 500) ||
  ofKubernetes.some((code) => isFailure(error, code));
