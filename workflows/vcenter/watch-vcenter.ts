import { continueAsNew } from '@temporalio/workflow';
import type {
  VcenterWatchInput,
  VcenterWatchProgress,
  VcenterWatchResult,
  VcenterWatchRound,
} from '../../contracts/virtual-machine/vcenter-watch.ts';
import { invalidInput } from '../lib/failures.ts';
import { readCarried } from '../lib/input.ts';
import { runRounds } from '../lib/system-workflow.ts';
import { vcenterWatch } from '../lib/virtual-machine-activities.ts';

/**
 * Watches the VMs of one vCenter: a system workflow, with an activity of an hour for each round. Started by workers,
 * where the settings ask for it; it ends when they do not any more. To cancel or terminate it stops nothing for long: a
 * worker starts it again within five minutes, and all runs are signalled once, slowly, as it is not known
 * what was missed.
 *
 * @param carried what runs knew of the VMs at the end of the last round, when it continues as new
 */
export async function watchVcenter(
  input: VcenterWatchInput,
  carried?: Pick<VcenterWatchRound, 'memory'>,
): Promise<VcenterWatchResult> {
  const { vcenter } = Object(input) as VcenterWatchInput;
  if (typeof vcenter !== 'string' || vcenter === '')
    throw invalidInput('A vCenter watch is {"vcenter": "name in drover’s settings"}');
  const progress: VcenterWatchProgress = { vcenter, lastRound: null, waitingFor: '' };
  const before = readCarried(carried);
  const memoryOf = (): string | null => (progress.lastRound ?? before)?.memory ?? null;
  const isWanted = await runRounds({
    progress,
    name: `The watch of vCenter ${vcenter}`,
    execute: () =>
      vcenterWatch(vcenter, `Watch the VMs of vCenter ${vcenter}`).watchVcenter({ vcenter, memory: memoryOf() }),
    describe: describeRound,
  });
  if (isWanted) return await continueAsNew<typeof watchVcenter>({ vcenter }, { memory: memoryOf() });
  return { outcome: 'SwitchedOff', message: 'virtualMachine.asyncSignal is off, or the vCenter has no zones' };
}

const describeRound = ({ vms, owned, updates, signalled, inventories }: VcenterWatchRound): string =>
  `In its last round ${vms} VMs were watched, ${owned} of them of VirtualMachines; vCenter reported ${updates} changes, and runs were signalled ${signalled} times.${inventories > 1 ? ` The session was lost ${inventories - 1} times.` : ''}`;
