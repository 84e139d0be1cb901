import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine-conditions.ts';
import { vmScene } from '../../lab/vsphere/scene.ts';
import { until } from '../flows/until.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { HostAlias } from './scene.ts';
import type { Stage } from './stage.ts';

/** The lifecycle of a virtual machine in the every-step matrix. */

const patienceMs = 120_000;

export const settings = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' },
  // No guest of the lab's gets an address, and looks for one would be steps.
  virtualMachine: { recheckMs: 10_000, lingerMs: 100, addressMs: 1, softPowerMs: 500, deletePowerOffMs: 500, taskMs: 60_000 },
};

/** The first look is the same in every scenario, and `made` has it. */
const afterFirstLook = (step: string): boolean => step !== 'A/observeVirtualMachine.1';

// Alone in its vCenter, as each drover's watch tells of all VMs there: two would drive each other's.
export const common = { subject: 'VirtualMachine', hosts: 1, ownRegion: true, settings } as const;

/** Waits until the object says that it rests: where its spec wants it, or where a cancel has left it. */
const untilRests = (stage: Stage, alias: HostAlias = 'A'): Promise<unknown> =>
  until(`${alias} to rest`, patienceMs, async () => {
    const object = await stage.read(alias);
    if (object === null) return 'it has no object';
    const { reason, message } = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle) ?? { reason: 'nothing', message: '' };
    if (!stage.subject.isSettled(object)) return `${reason}: ${message}`;
    const { status } = await stage.run(alias).describe();
    return (status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW') || `its run is ${status.name}`;
  });

/** Deletes the VM while its run waits for a task of vCenter, or after all has come to its end. */
export async function removeWhileAwaited(stage: Stage): Promise<void> {
  await until('a task to be waited for, or the end', patienceMs, async () => {
    const object = await stage.read('A');
    return (object !== null && stage.subject.isSettled(object)) || stage.steps().some((step) => step.includes('/awaitTask.')) || 'not yet';
  });
  await stage.remove('A');
}

async function haveVm(stage: Stage, spec: object = {}): Promise<void> {
  await stage.createVm('A', spec);
  await untilRests(stage);
}

export const virtualMachineScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'made',
    title: 'a VM is made from a template, and powered on',
    aims: () => true,
    prepare: async () => undefined,
    start: (stage) => stage.createVm('A'),
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'changed',
    title: 'a VM gets another class and is powered off for it, and on again',
    aims: afterFirstLook,
    prepare: (stage) => haveVm(stage),
    start: (stage) => stage.change('A', { className: vmScene.classes.large, powerState: 'PoweredOff' }),
    async meanwhile(stage) {
      await untilRests(stage);
      await stage.change('A', { powerState: 'PoweredOn' });
    },
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'refused',
    title: 'a guest that cannot be asked to shut down is powered off the hard way',
    // The rest is as in `changed`.
    aims: (step) => step.includes('/submitPower.'),
    prepare: (stage) => haveVm(stage, { powerOffMode: 'TrySoft' }),
    start: (stage) => stage.change('A', { powerState: 'PoweredOff' }),
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'deleted',
    title: 'a VM that is on, with a disk of somebody else’s, is deleted',
    aims: afterFirstLook,
    async prepare(stage) {
      await haveVm(stage);
      await stage.attachDisk('A');
    },
    start: (stage) => stage.remove('A'),
    ends: { A: gone },
  },
  {
    ...common,
    name: 'adopted',
    title: 'a VM without a mark, whose instance UUID the object names, is taken over',
    aims: (step) => step.includes('/submitAdoption.') || step.includes('/patchVirtualMachine.'),
    prepare: async () => undefined,
    async start(stage) {
      await stage.createVm('A', { instanceUUID: await stage.makeForeignVm('A') });
    },
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'waiting',
    title: 'a VM whose class is not there waits for it, and is made when its spec names another one',
    // From then on it is as in `made`.
    aims: (step) => step === 'A/publishVirtualMachine.1' || step === 'A/patchVirtualMachine.1',
    prepare: async () => undefined,
    start: (stage) => stage.createVm('A', { className: 'missing' }),
    async meanwhile(stage) {
      await until('the class to be waited for, or a cancel', patienceMs, async () => {
        const object = await stage.read('A');
        const reason = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle)?.reason;
        return (object !== null && stage.subject.isStopped(object)) || reason === 'WaitingForPrerequisites' || `${reason}`;
      });
      await stage.change('A', { className: vmScene.classes.small });
    },
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'settled',
    title: 'a VM that is as its spec wants it is looked at once more',
    // Its history counts, and what it costs.
    aims: () => false,
    prepare: (stage) => haveVm(stage),
    start: (stage) => stage.tell('A', 'resync'),
    ends: { A: 'Settled' },
  },
  {
    ...common,
    name: 'unwanted',
    title: 'a VM is deleted while it is being made',
    // It changes the vCenter: a group of its own.
    settings: { ...settings },
    aims: (step) => step.includes('/awaitTask.') || step.includes('/stopCreate.') || step.includes('/readVirtualMachine.'),
    // Longer than a submission stays with its task.
    prepare: (stage) => stage.slowTasks({ CloneVm: 4_000 }),
    start: (stage) => stage.createVm('A'),
    meanwhile: removeWhileAwaited,
    ends: { A: gone },
  },
];
