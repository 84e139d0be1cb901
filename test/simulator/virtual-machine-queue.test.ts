import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineId } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { namespace } from '../flows/virtual-machine-base.ts';
import { until } from '../flows/until.ts';
import { openSimulatedVmBase } from './virtual-machine-flow-world.ts';

/** VMs that wait for a slot of their vCenter. */

const never = new AbortController().signal;

test('forty VMs at once, sixteen slots: to be queued is no event', async () => {
  const world = await openSimulatedVmBase({});
  try {
    const client = openObjects(world.api);
    const names = Array.from({ length: 40 }, (_, index) => `vm-${index}`);
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
    const events = await Promise.all(
      names.map(async (name) => {
        const run = world.client.workflow.getHandle(virtualMachineId(namespace, name));
        await run.result();
        return (await run.fetchHistory()).events ?? [];
      }),
    );
    const named = (signal: string): number =>
      events.flat().filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === signal).length;
    expect(named('allowanceGranted')).toBe(0);
    // Beside those of one alone: signals that arrive by themselves, and an observation that they ask for.
    expect(Math.max(...events.map(({ length }) => length))).toBeLessThanOrEqual(60);
  } finally {
    await world.close();
  }
}, 600_000);
