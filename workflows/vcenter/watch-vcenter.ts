import { ApplicationFailure, continueAsNew } from '@temporalio/workflow';
import type {
  VcenterWatchInput,
  VcenterWatchProgress,
  VcenterWatchResult,
  VcenterWatchTurn,
} from '../../contracts/virtual-machine/vcenter-watch.ts';
import { readCarried } from '../lib/input.ts';
import { vcenterWatch } from '../lib/virtual-machine-activities.ts';
import { watchInTurns } from '../lib/watch-turns.ts';

/**
 * Watches the VMs of one vCenter, for good: one activity after the other, an hour each, so that the history tells of hours and never of
 * VMs. Started by workers, where the settings ask for it; it ends when they do not any more. To cancel or terminate it stops nobody's work: a
 * worker begins it anew within five minutes, and all runs are told once, slowly, as nobody knows what was missed.
 *
 * @param carried what runs knew of the VMs at the end of the last turn, when it continues as new
 */
export async function watchVcenter(
  input: VcenterWatchInput,
  carried?: Pick<VcenterWatchTurn, 'memory'>,
): Promise<VcenterWatchResult> {
  const { vcenter } = Object(input) as VcenterWatchInput;
  if (typeof vcenter !== 'string' || vcenter === '')
    throw ApplicationFailure.create({
      type: 'InvalidInput',
      message: 'A vCenter watch is {"vcenter": "name in drover’s settings"}',
      nonRetryable: true,
    });
  const progress: VcenterWatchProgress = { vcenter, lastTurn: null, waitingFor: 'the end of its turn' };
  const before = readCarried(carried);
  const memoryOf = (): string | null => (progress.lastTurn ?? before)?.memory ?? null;
  const take = (): Promise<VcenterWatchTurn> =>
    vcenterWatch(vcenter, `Watch the VMs of vCenter ${vcenter}`).watchVcenter({ vcenter, memory: memoryOf() });
  const goesOn = await watchInTurns({
    progress,
    name: `The watch over vCenter ${vcenter}`,
    take,
    describe: describeTurn,
  });
  if (goesOn) return await continueAsNew<typeof watchVcenter>({ vcenter }, { memory: memoryOf() });
  return { outcome: 'SwitchedOff', message: 'virtualMachine.asyncSignal is off, or the vCenter has no zones' };
}

const describeTurn = ({ vms, owned, updates, told, looks }: VcenterWatchTurn): string =>
  `In its last turn ${vms} VMs were watched, ${owned} of them of VirtualMachines; vCenter told of ${updates} changes, and runs were told ${told} times.${looks > 1 ? ` The session was lost ${looks - 1} times.` : ''}`;
