import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../lab/clock.ts';
import { mergeObject } from '../../lab/kubernetes-objects.ts';
import { vmManifest } from '../../lab/vsphere/vm-fixture.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { liftStops, setStop, type StopScope } from '../../runtime/stop.ts';
import { until } from '../flows/until.ts';
import { namespace } from '../flows/virtual-machine-base.ts';
import { openSimulatedVmBase } from './worlds/virtual-machine-flow-world.ts';

const minuteMs = 60_000;
const systemNamespace = 'drover-system';
const stop: StopScope = { of: 'all', name: '' };
const { signal } = new AbortController();

test('what `drover stop` holds of VMs goes on when it is lifted, without a request', async () => {
  const world = await openSimulatedVmBase({});
  try {
    const { api } = world;
    const client = openObjects(api);
    const make = (name: string): Promise<string> =>
      world.kubectl(['create', '-f', '-'], JSON.stringify(vmManifest(namespace, name, {}, {})));
    const read = (name: string) => client.get(resources.VirtualMachine, { namespace, name }, signal);
    const said = async (name: string) =>
      findCondition((await read(name))?.status?.conditions, virtualMachineConditions.lifecycle);
    const untilSays = (name: string, words: string): Promise<unknown> =>
      until(`${name} to say ${words}`, minuteMs, async () => {
        const { status, reason, message } = (await said(name)) ?? {};
        const all = `${status} ${reason}: ${message}`;
        return new RegExp(words, 'u').test(all) ? { all } : all;
      });
    const countEvents = async (): Promise<number> => {
      const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const found = (await api.request({ method: 'GET', path }, signal)) as { items: unknown[] };
      return found.items.length;
    };

    for (const name of ['changed', 'deleted']) await make(name);
    for (const name of ['changed', 'deleted']) await untilSays(name, 'True Reconciled');
    const at = new Date(labClock().now()).toISOString();
    await setStop(api, systemNamespace, { ...stop, by: 'jane', reason: 'a test', at }, signal);
    // A mutation may rest on an answer that is a second old.
    await labClock().sleep(1_000);
    await make('made');
    const apiVersion = 'vmoperator.vmware.com/v1alpha6';
    const path = resourcePath(apiVersion, 'virtualmachines', { namespace, name: 'deleted' });
    await api.request({ method: 'DELETE', path }, signal);
    const metadata = { namespace, name: 'changed' };
    await mergeObject(api, { apiVersion, kind: 'VirtualMachine', metadata, spec: { powerState: 'PoweredOff' } });
    const says = 'Unknown Stopped: Waiting for `drover stop` to be lifted: .*Everything was stopped by jane';
    for (const name of ['made', 'deleted', 'changed']) await untilSays(name, says);
    const before = await countEvents();
    await labClock().sleep(20 * minuteMs);
    for (const name of ['made', 'deleted', 'changed']) await untilSays(name, says);
    expect(await countEvents()).toBe(before);

    await liftStops(api, systemNamespace, stop, signal);
    await until('the deleted one to go', minuteMs, async () => (await read('deleted')) === null || 'it is there');
    for (const name of ['made', 'changed']) await untilSays(name, 'True Reconciled');
    expect((await read('changed'))?.status?.powerState).toBe('PoweredOff');
  } finally {
    await world.close();
  }
}, 1_800_000);
