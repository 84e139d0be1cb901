import type { VirtualMachineState } from '../../contracts/virtual-machine/conditions.ts';
import type { VirtualMachinePowerState } from '../../contracts/virtual-machine/lifecycle.ts';
import type { ReconcileStatus } from '../command/lifecycle-condition.ts';
import { lifecycleOf, observationOf, reconcileStatus } from '../command/lifecycle-condition.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { byNeed } from '../command/list-objects.ts';

/** One line of `drover vms`, and one element of its `--json`. Times are RFC 3339; what is null is not known. */
export interface ListedVirtualMachine {
  namespace: string;
  name: string;
  /** Reason of the condition Lifecycle; null: no run has said anything yet. */
  state: string | null;
  status: ReconcileStatus;
  /** The user has to act: it is blocked, or waits too long for what does not come by itself. */
  needsAttention: boolean;
  since: string | null;
  /** What it waits for, or why it is blocked. */
  message: string;
  powerState: VirtualMachinePowerState | null;
  wantedPowerState: VirtualMachinePowerState;
  /** As vCenter names it. */
  vmId: string | null;
  node: string | null;
  zone: string | null;
  ip: string | null;
  class: string | null;
  image: string | null;
  deleting: boolean;
}

export interface VirtualMachineFilter {
  /** Empty: every state. */
  states: readonly VirtualMachineState[];
  /** Only those that need attention. */
  attention: boolean;
}

/**
 * Virtual machines as users want to see them: those that need attention first, each part in the natural order
 * of its names.
 */
export const listVirtualMachines = (
  machines: readonly VirtualMachineObject[],
  { states, attention }: VirtualMachineFilter,
  nowMs: number,
): ListedVirtualMachine[] =>
  machines
    .map((machine) => listVirtualMachine(machine, nowMs))
    .filter(
      (listed) =>
        (!attention || listed.needsAttention) &&
        (states.length === 0 || states.some((state) => state === listed.state)),
    )
    .sort(byNeed);

function listVirtualMachine(machine: VirtualMachineObject, nowMs: number): ListedVirtualMachine {
  const { namespace, name, powerState, wantedPowerState, vmId, node, zone, ip, image, deleting } = machine;
  const lifecycle = lifecycleOf(machine);
  return {
    namespace,
    name,
    state: lifecycle?.reason ?? null,
    status: reconcileStatus(machine),
    needsAttention: needsAttention(machine, nowMs),
    since: lifecycle?.lastTransitionTime ?? null,
    message: lifecycle?.message ?? observationOf(machine)?.message ?? '',
    powerState,
    wantedPowerState,
    vmId,
    node,
    zone,
    ip,
    class: machine.class,
    image,
    deleting,
  };
}

/** How long it may wait for what others may be about to bring. */
const patienceMs = 10 * 60_000;

/** States in which nothing comes by itself; the others are bounded, or the turn of something that drover knows. */
const needing: readonly string[] = [
  'WaitingForPrerequisites',
  'WaitingForGroup',
  'GuestRefused',
  'NotConnected',
  'DisksInSnapshots',
  'Failed',
] satisfies VirtualMachineState[];

/** Whether the user has to act. One that is paused is blocked on purpose, unless it is to be deleted. */
export function needsAttention(machine: VirtualMachineObject, nowMs: number): boolean {
  const lifecycle = lifecycleOf(machine);
  if (lifecycle === undefined) return false;
  const status = reconcileStatus(machine);
  if (status === 'blocked') return machine.deleting || lifecycle.reason !== 'Paused';
  return (
    status === 'progressing' &&
    needing.includes(lifecycle.reason) &&
    nowMs - Date.parse(lifecycle.lastTransitionTime) > patienceMs
  );
}
