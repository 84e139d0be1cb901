import { findCondition } from '../../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../../lab/clock.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import type { Scenario } from '../../faults/scenario.ts';
import { common, haveVm } from '../../faults/virtual-machine-scenarios.ts';
import { until } from '../../flows/until.ts';
import { describe, unlessStopped } from '../../faults/judge-vm.ts';

/**
 * Policies of virtual machines. vcsim attaches no tags in the call that makes a VM, so these are the simulator's own.
 */

/** The controller of policies comes back when the object has said for a while that it is waited for. */
async function holdPolicies(context: ScenarioContext): Promise<void> {
  await until('the policies to be waited for, or a cancel', 120_000, async () => {
    const object = await context.read('A');
    const said = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle)?.reason;
    return (object !== null && context.subject.isStopped(object)) || said === 'WaitingForPolicies' || `${said}`;
  });
  await labClock().sleep(10_000);
  if ((await describe(context)) !== null) throw new Error('it was made before its policies were evaluated');
  context.pausePolicies(false);
}

export const policyScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'policies',
    title: 'a VM is made with the tags of the policies that it names, once they are evaluated',
    // The rest is as in `made`.
    targets: (step) => step.includes('/ensurePolicyEvaluation.') || step.includes('/submitNewVm.'),
    prepare: async () => undefined,
    async start(context) {
      const spec = await context.startPolicies('A');
      context.pausePolicies(true);
      await context.createVm('A', spec);
    },
    meanwhile: holdPolicies,
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => context.judgePolicies('A', 1)),
  },
  {
    ...common,
    name: 'policies-dropped',
    title: 'a VM that names no policy any more loses the tags that drover has attached for it, and no others',
    targets: (step) => step.includes('/ensurePolicyEvaluation.') || step.includes('/submitReconfigure.'),
    prepare: async (context) => haveVm(context, await context.startPolicies('A')),
    start: (context) => context.change('A', { policies: [] }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => context.judgePolicies('A', 0)),
  },
];
