import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import type { DescribedVm } from '../../lab/vsphere/witness.ts';
import { until } from '../flows/until.ts';
import type { Scenario } from './scenario.ts';
import { gone } from './scenario.ts';
import type { HostAlias } from './context-base.ts';
import type { ScenarioContext } from './context.ts';
import {
  describe,
  judgeAdopted,
  judgeBootOrder,
  judgeBuses,
  judgeKeys,
  judgePower,
  judgeSize,
  unlessStopped,
} from './judge-vm.ts';

/** The lifecycle of a virtual machine in the every-step matrix. */

const patienceMs = 120_000;

export const settings = {
  modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act' },
  // No guest of the lab's gets an address, and looks for one would be steps.
  virtualMachine: {
    recheckMs: 10_000,
    lingerMs: 100,
    addressMs: 1,
    softPowerMs: 500,
    deletePowerOffMs: 500,
    taskMs: 60_000,
  },
};

/** The first look is the same in every scenario, and `made` has it. */
const afterFirstLook = (step: string): boolean => step !== 'A/observeVirtualMachine.1';

// Alone in its vCenter, as each drover's watch tells of all VMs there: two would drive each other's.
export const common = { subject: 'VirtualMachine', hosts: 1, ownRegion: true, settings } as const;

/** Waits until the object says that it rests: where its spec wants it, or where a cancel has left it. */
export const untilRests = (context: ScenarioContext, alias: HostAlias = 'A'): Promise<unknown> =>
  until(`${alias} to rest`, patienceMs, async () => {
    const object = await context.read(alias);
    if (object === null) return 'it has no object';
    const { reason, message } = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle) ?? {
      reason: 'nothing',
      message: '',
    };
    if (!context.subject.isSettled(object)) return `${reason}: ${message}`;
    const { status } = await context.run(alias).describe();
    return (status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW') || `its run is ${status.name}`;
  });

/** Deletes the VM while its run waits for a task of vCenter, or after all has come to its end. */
export async function removeWhileAwaited(context: ScenarioContext): Promise<void> {
  await until('a task to be waited for, or the end', patienceMs, async () => {
    const object = await context.read('A');
    return (
      (object !== null && context.subject.isSettled(object)) ||
      context.steps().some((step) => step.includes('/awaitTask.')) ||
      'not yet'
    );
  });
  await context.remove('A');
}

export async function haveVm(context: ScenarioContext, spec: object = {}): Promise<void> {
  await context.createVm('A', spec);
  await untilRests(context);
}

/** Those that were off when they rested first: a cancel may have come before that, and then the size waits. */
const restedOff = new WeakSet<ScenarioContext>();

/** The VMs that are taken over, before that. */
const foreign = new WeakMap<ScenarioContext, DescribedVm>();

export const virtualMachineScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'made',
    title: 'a VM is made from a template, and powered on',
    targets: () => true,
    prepare: async () => undefined,
    start: (context) => context.createVm('A'),
    ends: { A: 'Reconciled' },
  },
  {
    ...common,
    name: 'deployed',
    title: 'a VM is made from an OVF of a content library, and powered on',
    // The rest is as in `made`.
    targets: (step) => step.includes('/submitNewVm.') || step.includes('/awaitTask.'),
    prepare: (context) => context.makeLibraryImage(),
    start: (context) => context.createVm('A', context.libraryImage),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOn')),
      ...(await judgeSize(context, vmFixture.classes.small)),
    ]),
  },
  {
    ...common,
    name: 'changed',
    title: 'a VM gets another class and is powered off for it, and on again',
    targets: afterFirstLook,
    prepare: (context) => haveVm(context),
    start: (context) => context.change('A', { className: vmFixture.classes.large, powerState: 'PoweredOff' }),
    async meanwhile(context) {
      await untilRests(context);
      if ((await describe(context))?.runtime.powerState === 'poweredOff') restedOff.add(context);
      await context.change('A', { powerState: 'PoweredOn' });
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOn')),
      ...(await judgeSize(context, restedOff.has(context) ? vmFixture.classes.large : vmFixture.classes.small)),
    ]),
  },
  {
    ...common,
    name: 'dressed',
    title: 'a VM gets controllers, keys and an order to boot in before its first start',
    // From the create on it is as in `made`.
    targets: (step) => step.includes('/submitReconfigure.'),
    prepare: async () => undefined,
    start: (context) =>
      context.createVm('A', {
        advanced: { preferHtEnabled: true, hugePages1GEnabled: true },
        bootOptions: { bootOrder: [{ type: 'Network', name: 'eth0' }, { type: 'Disk' }] },
        hardware: { scsiControllers: [{ busNumber: 1, type: 'LsiLogic' }] },
      }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOn')),
      ...(await judgeSize(context, vmFixture.classes.small)),
      ...(await judgeBuses(context, [0, 1])),
      ...(await judgeKeys(context, { 'numa.vcpu.preferHT': 'TRUE', 'sched.mem.lpage.enable1GPage': 'TRUE' })),
      ...(await judgeBootOrder(context, ['card', 'disk'])),
    ]),
  },
  {
    ...common,
    name: 'refused',
    title: 'a guest that cannot be asked to shut down is powered off the hard way',
    // The rest is as in `changed`.
    targets: (step) => step.includes('/submitPower.'),
    prepare: (context) => haveVm(context, { powerOffMode: 'TrySoft' }),
    start: (context) => context.change('A', { powerState: 'PoweredOff' }),
    ends: { A: 'Reconciled' },
  },
  {
    ...common,
    name: 'deleted',
    title: 'a VM that is on, with a disk of another owner, is deleted',
    targets: afterFirstLook,
    async prepare(context) {
      await haveVm(context);
      await context.attachDisk('A');
    },
    start: (context) => context.remove('A'),
    ends: { A: gone },
  },
  {
    ...common,
    name: 'volumed',
    title: 'a VM is made with the volume of a claim, and powered on once that is attached',
    // The rest is as in `made`.
    targets: (step) => step.includes('/changeVolumes.'),
    prepare: async () => undefined,
    start: async (context) => context.createVm('A', await context.startVolumes('A')),
    ends: { A: 'Reconciled' },
    judge: (context) => context.judgeVolume('A'),
  },
  {
    ...common,
    name: 'devolumed',
    title: 'a VM with the volume of a claim is deleted, and the volume stays',
    // The rest is as in `deleted`.
    targets: (step) => step.includes('/changeVolumes.') || step.includes('/submitDetachDisks.'),
    prepare: async (context) => haveVm(context, await context.startVolumes('A')),
    start: (context) => context.remove('A'),
    ends: { A: gone },
    judge: (context) => context.judgeVolume('A'),
  },
  {
    ...common,
    name: 'adopted',
    title: 'a VM without a mark, whose instance UUID the object names, is taken over',
    targets: (step) => step.includes('/submitAdoption.') || step.includes('/patchVirtualMachine.'),
    prepare: async () => undefined,
    async start(context) {
      const instanceUUID = await context.makeForeignVm('A');
      const before = await describe(context);
      if (before !== null) foreign.set(context, before);
      await context.createVm('A', { instanceUUID });
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped((context) => judgeAdopted(context, foreign.get(context))),
  },
  {
    ...common,
    name: 'waiting',
    title: 'a VM whose class is not there waits for it, and is made when its spec names another one',
    // From then on it is as in `made`.
    targets: (step) => step === 'A/publishVirtualMachine.1' || step === 'A/patchVirtualMachine.1',
    prepare: async () => undefined,
    start: (context) => context.createVm('A', { className: 'missing' }),
    async meanwhile(context) {
      await until('the class to be waited for, or a cancel', patienceMs, async () => {
        const object = await context.read('A');
        const reason = findCondition(object?.status?.conditions, virtualMachineConditions.lifecycle)?.reason;
        return (
          (object !== null && context.subject.isStopped(object)) || reason === 'WaitingForPrerequisites' || `${reason}`
        );
      });
      await context.change('A', { className: vmFixture.classes.small });
    },
    ends: { A: 'Reconciled' },
  },
  {
    ...common,
    name: 'settled',
    title: 'a VM that is as its spec wants it is looked at once more',
    // Its history counts, and what it costs.
    targets: () => false,
    prepare: (context) => haveVm(context),
    start: (context) => context.tell('A', 'resync'),
    ends: { A: 'Reconciled' },
  },
  {
    ...common,
    name: 'unwanted',
    title: 'a VM is deleted while it is being made',
    // It changes the vCenter: a group of its own.
    settings: { ...settings },
    targets: (step) =>
      step.includes('/awaitTask.') || step.includes('/stopCreate.') || step.includes('/readVirtualMachine.'),
    // Longer than a submission stays with its task.
    prepare: (context) => context.slowTasks({ CloneVm: 8_000 }),
    start: (context) => context.createVm('A'),
    meanwhile: removeWhileAwaited,
    ends: { A: gone },
  },
];
