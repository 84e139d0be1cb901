import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../lab/clock.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { diskFolder } from '../../lab/vsphere/volume-player.ts';
import type { ScenarioContext } from '../faults/context.ts';
import { vcenterOf } from '../faults/environment.ts';
import { gone, type Scenario } from '../faults/scenario.ts';
import { common, haveVm, settings } from '../faults/virtual-machine-scenarios.ts';
import { until } from '../flows/until.ts';
import { countRequests, describe, pathOf, unlessStopped } from './judge-vm.ts';

/**
 * Volumes of virtual machines, where the vSphere CSI driver is late: no guest starts without them, and no disk is taken
 * off behind its back.
 */

const vcenter = ({ fixture }: ScenarioContext) => vcenterOf(fixture.environment);

/** The driver comes back when the object has said for a while that it is waited for. */
async function holdVolumes(context: ScenarioContext): Promise<void> {
  const isOn = async (): Promise<boolean> => (await describe(context))?.runtime.powerState === 'poweredOn';
  await until('the volumes to be waited for, or a cancel', 120_000, async () => {
    const object = await context.read('A');
    const said = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle)?.reason;
    const isStopped = object !== null && context.subject.isStopped(object);
    return isStopped || said === 'WaitingForVolumes' || (await isOn()) || `${said}`;
  });
  await labClock().sleep(10_000);
  if (await isOn()) throw new Error('it was started before its volume was attached');
  context.pauseVolumes(false);
}

/** Takes the disks of volumes off, and destroys the VM. */
async function destroy(context: ScenarioContext): Promise<void> {
  const { witness } = vcenter(context);
  const datastore = inventory.datastores[0].split('/').at(-1) ?? '';
  for (const file of await witness.listFiles({ datastore, path: diskFolder }))
    await witness.detachDisk(pathOf(context), { datastore, path: `${diskFolder}/${file}` });
  await witness.destroyVm(pathOf(context));
}

export const volumeScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'volume-late',
    title: 'a VM is not started before the vSphere CSI driver has attached the volume of its claim',
    targets: (step) => step.includes('/changeVolumes.') || step.includes('/submitPower.'),
    prepare: async () => undefined,
    async start(context) {
      const spec = await context.startVolumes('A');
      context.pauseVolumes(true);
      await context.createVm('A', spec);
    },
    meanwhile: holdVolumes,
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => context.judgeVolume('A')),
  },
  {
    ...common,
    name: 'volume-remade',
    title:
      'a VM that another user has destroyed is made anew, and not started before its volume is attached to the new one',
    targets: (step) => step.includes('/changeVolumes.') || step.includes('/submitPower.'),
    prepare: async (context) => haveVm(context, { powerState: 'PoweredOff', ...(await context.startVolumes('A')) }),
    async start(context) {
      context.pauseVolumes(true);
      await destroy(context);
      await context.change('A', { powerState: 'PoweredOn' });
    },
    meanwhile: holdVolumes,
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => context.judgeVolume('A')),
  },
  {
    ...common,
    name: 'volume-yielded',
    title:
      'a VM is destroyed when the vSphere CSI driver has detached its volume, which drover does not do itself before its time',
    settings: { ...settings, virtualMachine: { ...settings.virtualMachine, deletePowerOffMs: 60_000 } },
    targets: (step) => step.includes('/changeVolumes.') || step.includes('/submitDestroy.'),
    prepare: async (context) => haveVm(context, { powerState: 'PoweredOff', ...(await context.startVolumes('A')) }),
    async start(context) {
      await vcenter(context).control.clearRequests();
      await context.remove('A');
    },
    ends: { A: gone },
    judge: async (context) => [
      ...(await context.judgeVolume('A')),
      ...((await countRequests(context, 'ReconfigVM_Task')) === 0 ? [] : ['drover has detached the volume itself']),
    ],
  },
];
