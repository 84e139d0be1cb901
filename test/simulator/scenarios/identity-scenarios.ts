import { findCondition } from '../../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/metadata.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import type { Scenario } from '../../faults/scenario.ts';
import { common, haveVm } from '../../faults/virtual-machine-scenarios.ts';
import { until } from '../../flows/until.ts';
import { raise } from '../../raise.ts';
import { describe, pathOf, unlessStopped } from '../../faults/judge-vm.ts';

/** Virtual machines whose vCenter is another one than before: nothing is made twice, and nothing of others is taken. */

const other = '0b9ad2f6-6a0f-4d6e-9d0c-0c7f0d1e5a11';
const vcenter = ({ fixture }: ScenarioContext) => vcenterOf(fixture.environment);

/** Behind the same address, and without the VM. */
async function switchVcenter(context: ScenarioContext): Promise<void> {
  const { control, witness } = vcenter(context);
  await witness.destroyVm(pathOf(context));
  await (control.becomeAnother?.(other) ?? raise(new Error('only a model can become another vCenter')));
}

/** Until it says so, or its run was cancelled. */
const untilSaid = (context: ScenarioContext, reason: string): Promise<unknown> =>
  until(`the object to say ${reason}`, 120_000, async () => {
    const object = await context.read('A');
    const said = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle);
    return (object !== null && context.subject.isStopped(object)) || said?.reason === reason || `${said?.reason}`;
  });

export const identityScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'switched',
    title: 'a VM whose vCenter was replaced is not made a second time, until a person says that it is in the new one',
    // It changes the vCenter: a group of its own.
    settings: { ...common.settings },
    targets: () => true,
    prepare: (context) => haveVm(context),
    async start(context) {
      await switchVcenter(context);
      await context.change('A', { powerState: 'PoweredOff' });
    },
    async meanwhile(context) {
      await untilSaid(context, 'VcenterChanged');
      if ((await describe(context)) !== null) throw new Error('it was made a second time');
      const annotations = { [virtualMachineAnnotations.managerId]: other };
      await context.fixture.environment.api.request(
        {
          method: 'PATCH',
          patchType: 'merge',
          path: context.subject.path(context.hostOf('A')),
          body: { metadata: { annotations } },
        },
        AbortSignal.timeout(20_000),
      );
      await context.tell('A', 'annotations');
    },
    ends: { A: 'Reconciled' },
    // The run may be cancelled with the person's word in its inbox.
    endsAfter: { cancel: { A: ['Reconciled', 'VcenterChanged'] } },
    judge: unlessStopped(async (context) => {
      const object = await context.read('A');
      const isDone = object !== null && context.subject.endOf(object).reason === 'Reconciled';
      return isDone && (await describe(context)) === null ? ['it was not made anew'] : [];
    }),
  },
  {
    ...common,
    name: 'swapped',
    title: 'a VM is not made in a vCenter that takes the place of the one in which it was searched',
    settings: { ...common.settings },
    targets: (step) => step.includes('/submitNewVm.'),
    prepare: async () => undefined,
    async start(context) {
      // The create searches it too, before it makes it.
      await vcenter(context).control.inject({ method: 'FindAllByUuid', does: 'delay', delayMs: 5_000, count: 1_000 });
      await context.createVm('A');
    },
    async meanwhile(context) {
      await until('a create to begin, or a cancel', 120_000, async () => {
        const object = await context.read('A');
        const isStopped = object !== null && context.subject.isStopped(object);
        return isStopped || context.steps().some((step) => step.includes('/submitNewVm.')) || 'not yet';
      });
      await (vcenter(context).control.becomeAnother?.(other) ??
        raise(new Error('only a model can become another vCenter')));
      await vcenter(context).control.reset();
    },
    ends: { A: 'VcenterChanged' },
    // A create that is outdated notes no vCenter: the next observation is the first.
    endsAfter: {
      changeSpec: { A: ['VcenterChanged', 'Reconciled'] },
      terminate: { A: ['VcenterChanged', 'Reconciled'] },
    },
    judge: unlessStopped(async (context) => {
      const object = await context.read('A');
      const isMade = object !== null && context.subject.endOf(object).reason === 'Reconciled';
      return isMade || (await describe(context)) === null ? [] : ['it was made in another vCenter'];
    }),
  },
];
