import { findCondition } from '../../contracts/conditions.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { liftStops, setStop, type StopScope } from '../../runtime/stop.ts';
import { until } from '../flows/until.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const minuteMs = 60_000;
const systemNamespace = 'drover-system';
const stop: StopScope = { of: 'kind', name: 'Eviction' };
const { signal } = new AbortController();

test('evictions that wait for a stop to be lifted leave their queue to others', async () => {
  const atOnce = 2;
  const waiting = hosts.slice(0, atOnce + 1);
  const [deleted, ...lasting] = waiting;
  const later = hosts[atOnce + 1] ?? '';
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: { ...quickSettings, worker: { concurrency: { kubernetes: atOnce } } },
    bridge: true,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const { admin } = kubernetes;
  const { clock } = simulation;
  if (openstack === null) throw new Error('there is no OpenStack');

  const read = (name: string) => openObjects(kubernetes.client).get(resources.Eviction, { name }, signal);
  const evict = async (name: string): Promise<void> => {
    const spec = { hypervisor: name, reason: 'test' };
    await applyObject(admin, { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name }, spec });
  };
  const untilSays = (name: string, words: string): Promise<unknown> =>
    until(`${name} to say ${words}`, minuteMs, async () => {
      const found = findCondition((await read(name))?.status?.conditions, 'Evicting');
      const said = `${found?.reason}: ${found?.message}`;
      return said.includes(words) || said;
    });

  const body = async (): Promise<void> => {
    for (const namespace of ['monsoon3', systemNamespace])
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    for (const name of hosts) await openstack.fleet.change(name, {});
    await createInstances(
      openstack.admin,
      waiting.map((host) => ({ name: `guest-${host}`, host, seconds: 1 })),
    );
    const at = new Date(clock.now()).toISOString();
    await setStop(admin, systemNamespace, { ...stop, by: 'jane', reason: 'test', at }, signal);
    for (const name of waiting) await evict(name);
    for (const name of waiting) await untilSays(name, 'Stopped: ');
    await clock.sleep(10 * minuteMs);

    await evict(later);
    await untilSays(later, 'Stopped: ');
    const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: deleted ?? '' });
    await admin.request({ method: 'DELETE', path }, signal);
    await until('the Eviction to go', minuteMs, async () => (await read(deleted ?? '')) === null || 'it is there');

    await liftStops(admin, systemNamespace, stop, signal);
    for (const name of [...lasting, later]) await untilSays(name, 'Succeeded');
  };
  await simulation.run(withClock(clock, body), 120 * minuteMs);
  deployment.close();
});
