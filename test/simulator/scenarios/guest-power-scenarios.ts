import { findCondition } from '../../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../../lab/clock.ts';
import type { RecordedRequest } from '../../../lab/vsphere/control.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { vcenterOf } from '../../faults/environment.ts';
import { gone, type Scenario } from '../../faults/scenario.ts';
import { common, haveVm, settings } from '../../faults/virtual-machine-scenarios.ts';
import { until } from '../../flows/until.ts';
import { countRequests, describe, judgePower, pathOf, unlessStopped } from '../../faults/judge-vm.ts';

/**
 * Virtual machines whose guests are asked, and do not do as they are asked; and a vCenter that is away while
 * one is deleted.
 */

const patienceMs = 120_000;
const vcenter = ({ fixture }: ScenarioContext) => vcenterOf(fixture.environment);

const setTools = (context: ScenarioContext, isRunning: boolean): Promise<void> =>
  vcenter(context).witness.changeVm(pathOf(context), {
    extraConfig: { 'SET.guest.toolsRunningStatus': isRunning ? 'guestToolsRunning' : 'guestToolsNotRunning' },
  });

/** A VM that is on, with VMware Tools in its guest. */
async function haveGuest(context: ScenarioContext, spec: object, isDeaf = false): Promise<void> {
  await haveVm(context, spec);
  await setTools(context, true);
  await vcenter(context).control.deafenGuests(isDeaf);
}

/** What the object says of where it is; null: there is none any more. */
const sayOf = async (context: ScenarioContext): Promise<string | null> => {
  const object = await context.read('A');
  return object === null
    ? null
    : (findCondition(object.status?.conditions, virtualMachineConditions.lifecycle)?.reason ?? 'nothing');
};

/** Until it is so, or the run was cancelled, or the object is gone. */
const untilEither = (context: ScenarioContext, what: string, isSo: () => Promise<boolean>): Promise<unknown> =>
  until(what, patienceMs, async () => {
    const object = await context.read('A');
    return object === null || context.subject.isStopped(object) || (await isSo()) || `${await sayOf(context)}`;
  });

const judgeNever = async (context: ScenarioContext, method: string): Promise<string[]> => {
  const times = await countRequests(context, method);
  return times === 0 ? [] : [`vCenter was asked ${times} times for ${method}`];
};

/** The guest itself has restarted: where an answer was lost it may have been asked once more. */
async function judgeReboots(context: ScenarioContext): Promise<string[]> {
  const times = await countRequests(context, 'RebootGuest');
  const noted = (await context.read('A'))?.status as { lastRestartTime?: string } | undefined;
  return [
    ...(times >= 1 ? [] : ['its guest was never asked to restart']),
    ...(noted?.lastRestartTime === undefined ? ['the restart is not noted'] : []),
    ...(await judgeNever(context, 'ResetVM_Task')),
  ];
}

/** A request that is only on its way has no status yet. */
const hasHeard = ({ method, status }: RecordedRequest): boolean => method === 'ShutdownGuest' && status === 200;

const now = (): string => new Date(labClock().now()).toISOString();

export const guestScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'deaf',
    title: 'a guest that does not hear is asked again, and never forced, as its mode is Soft',
    targets: () => true,
    prepare: (context) => haveGuest(context, { powerOffMode: 'Soft' }, true),
    start: (context) => context.change('A', { powerState: 'PoweredOff' }),
    async meanwhile(context) {
      await untilEither(
        context,
        'the guest to be asked twice',
        async () => (await countRequests(context, 'ShutdownGuest')) > 1,
      );
      await vcenter(context).control.deafenGuests(false);
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOff')),
      ...(await judgeNever(context, 'PowerOffVM_Task')),
    ]),
  },
  {
    ...common,
    name: 'standby',
    title: 'a guest that does not stand by is suspended, as its mode is TrySoft',
    targets: (step) => step.includes('/submitPower.'),
    prepare: (context) => haveGuest(context, {}, true),
    start: (context) => context.change('A', { powerState: 'Suspended', suspendMode: 'TrySoft' }),
    ends: { A: 'Reconciled' },
    endsAfter: { changeSpec: { A: ['Reconciled', 'PowerOffRequired'] } },
    judge: unlessStopped((context) => judgePower(context, 'suspended')),
  },
  {
    ...common,
    name: 'rebooted',
    title: 'a guest restarts itself',
    targets: () => true,
    prepare: (context) => haveGuest(context, {}),
    start: (context) => context.change('A', { restartMode: 'TrySoft', nextRestartTime: now() }),
    ends: { A: 'Reconciled' },
    judge: unlessStopped(judgeReboots),
  },
  {
    ...common,
    name: 'unheard',
    title: 'a guest without Tools is asked to restart ever more seldom, until it has them, as its mode is Soft',
    targets: (step) => step.includes('/submitPower.'),
    prepare: (context) => haveVm(context),
    start: (context) => context.change('A', { restartMode: 'Soft', nextRestartTime: now() }),
    async meanwhile(context) {
      await untilEither(
        context,
        'the object to say that the guest refuses',
        async () => (await sayOf(context)) === 'GuestRefused',
      );
      await labClock().sleep(60_000);
      await setTools(context, true);
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => {
      const times = await countRequests(context, 'RebootGuest');
      return [...(await judgeReboots(context)), ...(times <= 8 ? [] : [`its guest was asked ${times} times`])];
    }),
  },
  {
    ...common,
    name: 'halted',
    title: 'a guest that shuts down, though the answer was lost, is not powered off meanwhile',
    settings: {
      ...settings,
      virtualMachine: { ...settings.virtualMachine, softPowerMs: 60_000 },
    },
    targets: (step) => step.includes('/submitPower.'),
    // One that was cancelled before has not asked, and finds a guest without Tools.
    without: ['cancel'],
    async prepare(context) {
      await haveGuest(context, { powerOffMode: 'TrySoft' }, true);
      await vcenter(context).control.inject({ method: 'ShutdownGuest', after: true, does: 'cut' });
    },
    start: (context) => context.change('A', { powerState: 'PoweredOff' }),
    async meanwhile(context) {
      await untilEither(context, 'the guest to have heard it', async () =>
        (await vcenter(context).control.requests()).some(hasHeard),
      );
      // Its Tools end first, and then it takes a while.
      await setTools(context, false);
      await labClock().sleep(30_000);
      if ((await describe(context))?.runtime.powerState === 'poweredOn')
        await vcenter(context).witness.setPower(pathOf(context), 'off');
    },
    ends: { A: 'Reconciled' },
    judge: unlessStopped(async (context) => [
      ...(await judgePower(context, 'poweredOff')),
      ...(await judgeNever(context, 'PowerOffVM_Task')),
    ]),
  },
  {
    ...common,
    name: 'outage',
    title: 'vCenter is away while a VM is deleted, and comes back: nothing is lost, and nothing is left',
    targets: () => true,
    async prepare(context) {
      await haveVm(context);
      await context.attachDisk('A');
    },
    async start(context) {
      await vcenter(context).control.inject({ does: 'cut', count: 1_000_000 });
      await context.remove('A');
    },
    async meanwhile(context) {
      await untilEither(
        context,
        'the object to say that vCenter is away',
        async () => (await sayOf(context)) === 'Failed',
      );
      await labClock().sleep(10 * 60_000);
      if ((await context.read('A')) === null) throw new Error('the object was let go while its VM was there');
      await vcenter(context).control.reset();
    },
    ends: { A: gone },
    judge: unlessStopped(async (context) => {
      const there = await describe(context);
      return there === null ? [] : [`${there.name} is left`];
    }),
  },
];
