import { labClock } from '../../lab/clock.ts';
import { createAllowanceId, virtualMachineId } from '../../contracts/ids.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { mostAtOnce } from '../../lab/vsphere/read-tasks.ts';
import type { AllowanceProgress } from '../../contracts/allowance.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** Many VMs at once, and two slots: vCenter's own tasks are the witness. */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld({
    settings: {
      virtualMachine: {
        creates: 2,
        destroys: 2,
        slotRenewMs: 3_000,
        softPowerMs: 20_000,
        deletePowerOffMs: 20_000,
      },
      limits: { checkMs: 1_000, silentMs: 8_000 },
      eviction: { allowanceRenewMs: 5_000 },
    },
  });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const waits = (what: string): RegExp =>
  new RegExp(`Waiting for a slot: 2 of 2 ${what} of vCenter lab are in progress`, 'u');

/** How many of them say so now. */
const thatSay = async (pattern: RegExp): Promise<number> =>
  (await Promise.all(names.map((name) => world.lifecycleOf(name)))).filter((lifecycle) => pattern.test(lifecycle))
    .length;
const untilAll = (pattern: RegExp): Promise<unknown> =>
  Promise.all(names.map((name) => world.untilReported(name, pattern, 120_000)));
const tasksOf = async (kind: RegExp, sinceMs: number) =>
  (await world.vcenter.readTasks()).filter(
    ({ descriptionId, startMs }) => kind.test(descriptionId) && startMs >= sinceMs,
  );

test(
  'one alone requests a slot once, has it at once and releases it with its create; a change that needs none requests none',
  async () => {
    await world.create('alone');
    await world.untilReported('alone', /^True Reconciled/u);
    const run = world.client.workflow.getHandle(virtualMachineId(namespace, 'alone'));
    await run.result();
    const { events } = await run.fetchHistory();
    const reports = (events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'acquireSlot',
    );
    const grants = (events ?? []).filter(
      (event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'allowanceGranted',
    );
    const given = (events ?? []).filter((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes);
    console.info(`the run of one VM: ${events?.length ?? 0} events`);
    // The call that makes the VM releases it.
    expect([reports, grants, given].map(({ length }) => length)).toEqual([1, 0, 0]);

    await world.change('alone', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('alone', /^True Reconciled/u);
    const change = await world.client.workflow.getHandle(virtualMachineId(namespace, 'alone')).fetchHistory();
    expect(
      change.events?.some((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'acquireSlot'),
    ).toBe(false);
    await world.remove('alone');
    await world.untilReported('alone', /^gone$/u);
  },
  limitMs,
);

test(
  'guests that do not hear hold no slot: another VM is destroyed meanwhile',
  async () => {
    const deaf = ['deaf-1', 'deaf-2'];
    for (const name of [...deaf, 'next']) await world.create(name, { powerOffMode: 'Soft' });
    for (const name of [...deaf, 'next']) await world.untilReported(name, /^True Reconciled/u);
    await world.change('next', { spec: { powerOffMode: 'Hard' } });
    await world.untilReported('next', /^True Reconciled/u);
    for (const name of deaf)
      await world.vcenter.changeVm(`${inventory.vmFolder}/${namespace}/${name}`, {
        extraConfig: { 'SET.guest.toolsRunningStatus': 'guestToolsRunning' },
      });
    await world.control.deafenGuests(true);
    for (const name of deaf) await world.remove(name);
    for (const name of deaf) await world.untilReported(name, /Deleting: .*the guest to do as it was asked/u);
    await world.remove('next');
    await world.untilReported('next', /^gone$/u);
    for (const name of deaf) expect(await world.witness(name)).toMatchObject({ powerState: 'poweredOn' });
    await world.control.deafenGuests(false);
    for (const name of deaf) await world.untilReported(name, /^gone$/u, 60_000);
  },
  limitMs,
);

test(
  'six are made at once, the run that allocates the slots is terminated meanwhile, and the namespace is deleted: never more than two under way, and the others say that they wait',
  async () => {
    const beganMs = labClock().now();
    await world.control.delayTasks({ CloneVm: 10_000, Destroy: 8_000 });
    try {
      await Promise.all(names.map((name) => world.create(name)));
      await until('four to wait', 60_000, async () => ((await thatSay(waits('creates'))) === 4 ? {} : 'not yet'));
      const ledger = world.client.workflow.getHandle(createAllowanceId('lab'));
      const shared = await ledger.query<AllowanceProgress>('progress');
      expect(shared).toMatchObject({ kind: 'creates', vcenter: 'lab', limit: 2, inUse: 2 });
      expect(shared.consumers).toHaveLength(6);
      await ledger.terminate('test');
      await untilAll(/^True Reconciled/u);
      const clones = await tasksOf(/^VirtualMachine\.clone/u, beganMs);
      expect(clones).toHaveLength(6);
      expect(mostAtOnce(clones)).toBe(2);

      await world.kubectl('delete', 'namespace', namespace, '--wait=false');
      await until('four to be queued', 60_000, async () => ((await thatSay(waits('destroys'))) === 4 ? {} : 'not yet'));
      await untilAll(/^gone$/u);
      const destroys = await tasksOf(/^VirtualMachine\.destroy/u, beganMs);
      expect(destroys).toHaveLength(6);
      expect(mostAtOnce(destroys)).toBe(2);
      expect(await Promise.all(names.map((name) => world.witness(name)))).toEqual(names.map(() => null));
    } finally {
      await world.control.delayTasks({});
    }
  },
  2 * limitMs,
);
