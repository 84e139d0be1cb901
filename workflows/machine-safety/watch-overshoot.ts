import { continueAsNew } from '@temporalio/workflow';
import type {
  OvershootInput,
  OvershootProgress,
  OvershootResult,
  OvershootRound,
} from '../../contracts/machine-safety/overshoot.ts';
import { invalidInput } from '../lib/failures.ts';
import { overshootCheck } from '../lib/safety-activities.ts';
import { runRounds } from '../lib/system-workflow.ts';

/**
 * Freezes the MachineSets of a namespace that have too many Machines: a system workflow, with an activity of an hour
 * for each round. What is frozen is in the objects alone. Started by workers, where the settings ask for it; it ends
 * when they do not any more.
 */
export async function watchOvershoot(input: OvershootInput): Promise<OvershootResult> {
  const { namespace } = Object(input) as OvershootInput;
  if (typeof namespace !== 'string' || namespace === '')
    throw invalidInput(
      'The overshoot freeze is {"namespace": "my-namespace"}, the namespace of the Machines. Nothing was started.',
    );
  const progress: OvershootProgress = { namespace, lastRound: null, waitingFor: '' };
  const isWanted = await runRounds({
    progress,
    name: `The overshoot freeze of ${namespace}`,
    execute: () =>
      overshootCheck(`Count the Machines of each MachineSet in ${namespace}`).checkOvershoot({ namespace }),
    describe: describeRound,
  });
  if (isWanted) return await continueAsNew<typeof watchOvershoot>({ namespace });
  return { outcome: 'SwitchedOff', message: `modes.Machine is off, or machines.namespaces does not have ${namespace}` };
}

const describeRound = ({ sets, frozen, changed, trouble }: OvershootRound): string =>
  [
    `In its last round there were ${sets} MachineSets; freezes and thaws: ${changed}.`,
    ...(frozen.length === 0 ? [] : [`**Frozen**: ${frozen.join(', ')}.`]),
    ...(trouble === null ? [] : [trouble]),
  ].join(' ');
