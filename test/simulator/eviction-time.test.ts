import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { changeService } from '../../lab/openstack/hosts.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { hosts } from '../flows/world-base.ts';
import { until } from '../flows/until.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const servers = 6;
const seconds = 10;
const mostAroundMs = 5_000;

/** With drover's defaults, on a network of the simulator's latencies: what processors take is not in it. */
test('the time around the moves off a host that has long been disabled is five seconds at most', async () => {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: {},
    bridge: true,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const { admin } = kubernetes;
  let tookMs = Infinity;
  const evict = async (): Promise<void> => {
    if (openstack === null) throw new Error('there is no OpenStack');
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    for (const name of hosts) await openstack.fleet.change(name, {});
    const specs = Array.from({ length: servers }, (_, index) => ({ name: `guest-${index + 1}`, host, seconds }));
    await createInstances(openstack.admin, specs);
    await changeService(openstack.admin, host, { status: 'disabled', disabled_reason: 'a user’s' });
    await simulation.clock.sleep(60_000);
    const beganMs = simulation.clock.nowMs;
    const spec = { hypervisor: host, reason: 'test' };
    await applyObject(admin, { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: host }, spec });
    const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: host });
    await until('it to succeed', 300_000, async () => {
      const eviction = (await admin.request({ method: 'GET', path }, new AbortController().signal)) as Eviction;
      const evicting = findCondition(eviction.status?.conditions, 'Evicting');
      return evicting?.reason === 'Succeeded' || `${evicting?.reason}: ${evicting?.message}`;
    });
    tookMs = simulation.clock.nowMs - beganMs;
  };
  await simulation.run(withClock(simulation.clock, evict), 900_000);
  const moves = openstack?.model.migrations ?? [];
  const movesMs = moves.reduce((sum, { createdMs, updatedMs }) => sum + (updatedMs ?? Infinity) - createdMs, 0);
  deployment.close();
  expect(moves).toHaveLength(servers);
  expect(tookMs - movesMs).toBeLessThanOrEqual(mostAroundMs);
});
