import { findCondition } from '../../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../../contracts/virtual-machine/metadata.ts';
import { labClock } from '../../../lab/clock.ts';
import { inventory } from '../../../lab/vsphere/handle.ts';
import { diskFolder } from '../../../lab/vsphere/volume-player.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import { gone, type Scenario } from '../../faults/scenario.ts';
import { common, haveVm, settings } from '../../faults/virtual-machine-scenarios.ts';
import { until } from '../../flows/until.ts';
import { countRequests, describe, pathOf, unlessStopped } from '../../faults/judge-vm.ts';

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

/** The driver comes back when the claims of instance storage have been waited for for a while. */
async function holdInstanceStorage(context: ScenarioContext): Promise<void> {
  await until('its claims to be waited for, or a cancel', 120_000, async () => {
    const object = await context.read('A');
    const said = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle)?.reason;
    const isStopped = object !== null && context.subject.isStopped(object);
    const isMade = (await describe(context)) !== null;
    return isStopped || isMade || said === 'WaitingForInstanceStorage' || `${said}`;
  });
  await labClock().sleep(10_000);
  if ((await describe(context)) !== null) throw new Error('it was made before its instance storage was');
  context.pauseVolumes(false);
}

/** The host that is chosen first turns out to have no room: another one is chosen after five minutes, or a cancel. */
async function fillFirstHost(context: ScenarioContext): Promise<void> {
  let first: string | null = null;
  await until('another host to be chosen, or a cancel', 900_000, async () => {
    const object = await context.read('A');
    if (object !== null && context.subject.isStopped(object)) return true;
    const node = object?.metadata.annotations?.[virtualMachineAnnotations.instanceStorageNode] ?? null;
    if (node === null) return 'no host is chosen';
    if (first === null) context.fillHost(node);
    first ??= node;
    context.pauseVolumes(false);
    return node !== first || `it is ${node}`;
  });
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

/** The driver is away when the VM is asked for. */
const withInstanceStorage = {
  ...common,
  targets: (step) =>
    step.includes('/changeVolumes.') || step.includes('/patchVirtualMachine.') || step.includes('/submitNewVm.'),
  prepare: async () => undefined,
  async start(context) {
    const spec = await context.startInstanceStorage('A');
    context.pauseVolumes(true);
    await context.createVm('A', spec);
  },
  ends: { A: 'Reconciled' },
  judge: unlessStopped((context) => context.judgeInstanceStorage('A')),
} satisfies Partial<Scenario>;

export const volumeScenarios: readonly Scenario[] = [
  {
    ...withInstanceStorage,
    name: 'instance-storage',
    title: 'a VM of a class with instance storage is made on the host where its volumes are, and not before they are',
    meanwhile: holdInstanceStorage,
  },
  {
    ...withInstanceStorage,
    name: 'instance-storage-full',
    title: 'where the first host has no room after all, instance storage and its VM go to another one',
    meanwhile: fillFirstHost,
  },
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
