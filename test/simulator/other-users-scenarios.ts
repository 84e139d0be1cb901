import { inventory } from '../../lab/vsphere/handle.ts';
import type { ScenarioContext } from '../faults/context.ts';
import { vcenterOf } from '../faults/environment.ts';
import { gone, type Scenario } from '../faults/scenario.ts';
import { common, haveVm } from '../faults/virtual-machine-scenarios.ts';
import { raise } from '../raise.ts';
import { countRequests, describe, judgePower, pathOf, unlessStopped } from './judge-vm.ts';

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
];
