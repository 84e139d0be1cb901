import type { WorkflowHandle } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { createAllowanceId, virtualMachineId } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { namespace } from '../flows/virtual-machine-base.ts';
import type { VmWorldOptions } from '../flows/virtual-machine-base.ts';
import { until } from '../flows/until.ts';
import { openSimulatedVmBase } from './worlds/virtual-machine-flow-world.ts';

/** VMs that wait for a slot of their vCenter. */

const never = new AbortController().signal;

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

interface Made {
  /** The events of the runs that made them. */
  runs: Events[];
  /** How many updates their requests for slots were. */
  updates: number;
}

/** Makes so many VMs, which are created together. */
async function make(count: number, options: VmWorldOptions, createMs?: number): Promise<Made> {
  const world = await openSimulatedVmBase(options);
  try {
    if (createMs !== undefined) await world.control.delayTasks({ CreateVm: createMs, CloneVm: createMs });
    const client = openObjects(world.api);
    const names = Array.from({ length: count }, (_, index) => `vm-${index}`);
    await Promise.all(
      names.map((name) => world.kubectl(['create', '-f', '-'], JSON.stringify(vmManifest(namespace, name, {}, {})))),
    );
    const isReconciled = ({ status }: VirtualMachine): boolean =>
      findCondition(status?.conditions, virtualMachineConditions.lifecycle)?.status === 'True';
    await until('all to be made', 600_000, async () => {
      const found = await client.list(resources.VirtualMachine, { namespace }, never);
      const made = found.filter((vm) => names.includes(vm.metadata.name) && isReconciled(vm)).length;
      return made === names.length || `${made} are`;
    });
    const allocator = await world.client.workflow.getHandle(createAllowanceId('lab')).fetchHistory();
    const runs = await Promise.all(
      names.map(async (name) => {
        const run = world.client.workflow.getHandle(virtualMachineId(namespace, name));
        await run.result();
        return (await run.fetchHistory()).events ?? [];
      }),
    );
    const updates = (allocator.events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
    return { runs, updates: updates.length };
  } finally {
    await world.close();
  }
}

const msOf = ({ eventTime }: Events[number] | undefined = {}): number => tsToMs(eventTime);

const mostEvents = (runs: readonly Events[]): number => Math.max(...runs.map(({ length }) => length));

test('two hundred VMs at once, sixteen slots: to be queued is no event', async () => {
  const { runs, updates } = await make(200, {});
  const named = (signal: string): number =>
    runs.flat().filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === signal).length;
  expect(named('allowanceGranted')).toBe(0);
  // Beside those of one alone: signals that arrive by themselves, and an observation that they ask for.
  expect(mostEvents(runs)).toBeLessThanOrEqual(60);
  expect(updates).toBeLessThanOrEqual(100);
}, 1_800_000);

/**
 * So long an observation holds: Secrets, StorageClasses and vCenter are not watched, and a VM is made of what they say.
 */
const holdsMs = 60_000;

test('what a VM is made of was observed a minute before it has its slot, or is observed once more then', async () => {
  const { runs } = await make(8, { settings: { virtualMachine: { creates: 1 } } }, 15_000);
  const waits = runs.map((events) => {
    const scheduled = events.flatMap((event) => {
      const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
      return activityType?.name ? [{ name: activityType.name, event }] : [];
    });
    const asked = scheduled.findIndex(({ name }) => name === 'acquireSlot');
    const created = scheduled.findIndex(({ name }) => name === 'submitNewVm');
    const answer = events.find((event) =>
      event.activityTaskCompletedEventAttributes?.scheduledEventId?.eq(scheduled[asked]?.event.eventId ?? 0),
    );
    const waitedMs = msOf(answer) - msOf(scheduled[asked - 1]?.event);
    return { waitedMs, between: scheduled.slice(asked + 1, created).map(({ name }) => name) };
  });
  const [long, short] = [true, false].map((isLong) => waits.filter(({ waitedMs }) => waitedMs > holdsMs === isLong));
  expect(long).not.toEqual([]);
  expect(short).not.toEqual([]);
  expect(new Set(long?.map(({ between }) => between.join()))).toEqual(new Set(['observeVirtualMachine']));
  // The six of that observation, and the four of a signal that arrives alone: by chance one does.
  expect(mostEvents(runs)).toBeLessThanOrEqual(70);
}, 1_800_000);
