import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { labClock } from '../../lab/clock.ts';
import { vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { until } from '../flows/until.ts';
import { namespace } from '../flows/virtual-machine-base.ts';
import { openSimulatedVmBase } from './worlds/virtual-machine-flow-world.ts';

const minuteMs = 60_000;
const { signal } = new AbortController();

test('an object whose create failed is deleted while others are made without a pause', async () => {
  const world = await openSimulatedVmBase({ settings: { virtualMachine: { taskMs: 20 * minuteMs } } });
  try {
    const { api, control } = world;
    const client = openObjects(api);
    const clock = labClock();
    const make = (name: string): Promise<string> =>
      world.kubectl(['create', '-f', '-'], JSON.stringify(vmManifest(namespace, name, {}, {})));
    const read = (name: string) => client.get(resources.VirtualMachine, { namespace, name }, signal);
    const lifecycleOf = async (name: string) =>
      findCondition((await read(name))?.status?.conditions, virtualMachineConditions.lifecycle);

    const fields = { reason: 'a test' };
    await control.fail({ method: 'CloneVM_Task', fault: 'NotSupported', fields, inTask: true });
    await make('unmade');
    await until('the create to fail', minuteMs, async () => {
      const said = await lifecycleOf('unmade');
      return said?.status === 'False' || `${said?.reason}: ${said?.message}`;
    });
    expect((await read('unmade'))?.metadata.annotations?.[virtualMachineAnnotations.creating]).toBeDefined();

    await control.delayTasks({ CloneVm: 4 * minuteMs });
    await make('other-0');
    await clock.sleep(minuteMs);
    const path = resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, name: 'unmade' });
    await api.request({ method: 'DELETE', path }, signal);
    const startMs = clock.now();
    for (let index = 1; (await read('unmade')) !== null && clock.now() - startMs < 30 * minuteMs; index += 1) {
      await make(`other-${index}`);
      await clock.sleep(minuteMs);
    }
    expect(await read('unmade')).toBeNull();
    // The one that was under way had three minutes left.
    expect(clock.now() - startMs).toBeLessThan(12 * minuteMs);
  } finally {
    await world.close();
  }
}, 1_800_000);
