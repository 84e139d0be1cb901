import { inventory } from '../../../lab/vsphere/handle.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import { gone, type Scenario } from '../../faults/scenario.ts';
import { findCondition } from '../../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../../lab/clock.ts';
import { common, haveVm } from '../../faults/virtual-machine-scenarios.ts';
import { until } from '../../flows/until.ts';
import { raise } from '../../raise.ts';
import { countRequests, describe, judgePower, pathOf, unlessStopped } from '../../faults/judge-vm.ts';

/** What other users of the vCenter do to a virtual machine that drover drives. */

const vcenter = ({ fixture }: ScenarioContext) => vcenterOf(fixture.environment);
const onlyModel = (): never => raise(new Error('only a model of vCenter can do that'));
const datastores = inventory.datastores.map((path) => path.split('/').at(-1) ?? '');

/** A datastore where its own file is not. */
async function elsewhereOf(context: ScenarioContext): Promise<string> {
  const home = (await describe(context))?.config.files.vmPathName ?? '';
  return datastores.find((name) => !home.startsWith(`[${name}]`)) ?? '';
}

/** Files of VMs' own folders there. */
async function filesOn(context: ScenarioContext, datastore: string): Promise<string[]> {
  const { witness } = vcenter(context);
  const name = pathOf(context).split('/').at(-1) ?? '';
  return await witness.listFiles({ datastore, path: name });
}

const ignoreChanges = (context: ScenarioContext, ignored: boolean): Promise<void> =>
  vcenter(context).control.ignoreChanges?.(pathOf(context), ignored) ?? onlyModel();

/** Until the object says that a change has no effect, or the run was cancelled. */
const untilNoProgress = (context: ScenarioContext): Promise<unknown> =>
  until('the object to say that a change has no effect', 120_000, async () => {
    const object = await context.read('A');
    if (object !== null && context.subject.isStopped(object)) return true;
    const { message = '' } = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle) ?? {};
    return message.includes('the VM is as it was before') || message;
  });

/** Two at once, then after 10 s, 20 s, 40 s; a few more where a fault makes the run begin anew. */
async function judgeChanges(context: ScenarioContext): Promise<string[]> {
  const times = await countRequests(context, 'ReconfigVM_Task');
  return times <= 10 ? [] : [`vCenter was asked ${times} times for a change that has no effect`];
}

/** A VM with a key that its spec asks for, and whose next change has no effect. */
async function haveUnchanging(context: ScenarioContext): Promise<void> {
  await haveVm(context, keyed('before'));
  await ignoreChanges(context, true);
  await vcenter(context).control.clearRequests();
}
const keyed = (value: string): object => ({ advanced: { extraConfig: [{ key: 'wanted', value }] } });
const keyOf = async (context: ScenarioContext): Promise<unknown> =>
  (await describe(context))?.config.extraConfig?.find(({ key }) => key === 'wanted')?.value;

export const otherUsersScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'vmotion-failed',
    title: 'a VM is powered off when the vMotion of another user, which is awaited, has failed',
    targets: (step) => step.includes('/awaitTask.') || step.includes('/submitPower.'),
    prepare: (context) => haveVm(context),
    async start(context) {
      await (vcenter(context).control.failMigration?.(pathOf(context), 20_000) ?? onlyModel());
      await context.change('A', { powerState: 'PoweredOff' });
    },
    ends: { A: 'Reconciled' },
    judge: async (context) => [
      ...(await unlessStopped((one) => judgePower(one, 'poweredOff'))(context)),
      // It is not drover's, whatever becomes of the run.
      ...((await countRequests(context, 'CancelTask')) === 0 ? [] : ['the vMotion of another user was cancelled']),
    ],
  },
  {
    ...common,
    name: 'disks-moved',
    title: 'a VM whose own disks storage vMotion has moved is destroyed with them, and without what is not its own',
    targets: (step) => step.includes('/submitDetachDisks.') || step.includes('/submitDestroy.'),
    async prepare(context) {
      await haveVm(context);
      await context.attachDisk('A');
      const elsewhere = await elsewhereOf(context);
      await (vcenter(context).control.moveDisks?.(pathOf(context), elsewhere) ?? onlyModel());
      if ((await filesOn(context, elsewhere)).length === 0) throw new Error('no disk was moved');
    },
    start: (context) => context.remove('A'),
    ends: { A: gone },
    judge: unlessStopped(async (context) => {
      const left = (await Promise.all(datastores.map((one) => filesOn(context, one)))).flat();
      return left.length === 0 ? [] : [`${left.join(', ')} of the VM is left`];
    }),
  },
  {
    ...common,
    name: 'ignored',
    title:
      'a change that vCenter takes and does not apply is said to have no effect, and made ever more seldom until it has',
    targets: (step) => step.includes('/submitReconfigure.'),
    prepare: haveUnchanging,
    start: (context) => context.change('A', keyed('after')),
    async meanwhile(context) {
      await untilNoProgress(context);
      await labClock().sleep(60_000);
      await ignoreChanges(context, false);
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgeChanges(context)),
      ...((await keyOf(context)) === 'before' ? ['the change was never applied'] : []),
    ]),
  },
  {
    ...common,
    name: 'taken-back',
    title: 'a change that has no effect is taken back by its user, and nothing is left to do',
    targets: (step) => step.includes('/submitReconfigure.'),
    // The change that it makes has no effect either.
    without: ['changeSpec'],
    prepare: haveUnchanging,
    start: (context) => context.change('A', keyed('after')),
    async meanwhile(context) {
      await untilNoProgress(context);
      await context.change('A', keyed('before'));
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgeChanges(context)),
      ...((await keyOf(context)) === 'before' ? [] : ['it is not as it was']),
    ]),
  },
];
