import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { annotations } from '../../contracts/ids.ts';
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

export interface EvictionLoad {
  servers: number;
  /** Of each live migration, once Nova runs it. */
  seconds: number;
  /** How many drover moves at once. */
  parallelism: number;
  /** Nova's limit on the host: what exceeds it is kept `queued`. */
  novaRuns: number;
}

export interface EvictionTimes {
  moves: number;
  /** From the Eviction to `Succeeded`. */
  tookMs: number;
  /** From the first request of a migration to the end of the last one. */
  movingMs: number;
  /** Of one migration, from its request to its end: mean. */
  moveMs: number;
}

/**
 * An eviction of a host that has long been disabled, with drover's defaults, on a network of the simulator's latencies:
 * what processors take is not in it.
 */
export async function timeEviction({ servers, seconds, parallelism, novaRuns }: EvictionLoad): Promise<EvictionTimes> {
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
    await openstack.fleet.change(host, { maxConcurrentLiveMigrations: novaRuns });
    const specs = Array.from({ length: servers }, (_, index) => ({ name: `guest-${index + 1}`, host, seconds }));
    await createInstances(openstack.admin, specs);
    await changeService(openstack.admin, host, { status: 'disabled', disabled_reason: 'a user’s' });
    await simulation.clock.sleep(60_000);
    const beganMs = simulation.clock.nowMs;
    await applyObject(admin, {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: host, annotations: { [annotations.parallelism]: String(parallelism) } },
      spec: { hypervisor: host, reason: 'test' },
    });
    const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: host });
    await until('it to succeed', 600_000, async () => {
      const eviction = (await admin.request({ method: 'GET', path }, new AbortController().signal)) as Eviction;
      const evicting = findCondition(eviction.status?.conditions, 'Evicting');
      return evicting?.reason === 'Succeeded' || `${evicting?.reason}: ${evicting?.message}`;
    });
    tookMs = simulation.clock.nowMs - beganMs;
  };
  await simulation.run(withClock(simulation.clock, evict), 900_000);
  const records = openstack?.model.migrations ?? [];
  deployment.close();
  const ends = records.map(({ createdMs, updatedMs }) => ({ createdMs, endedMs: updatedMs ?? Infinity }));
  const first = Math.min(...ends.map(({ createdMs }) => createdMs));
  const last = Math.max(...ends.map(({ endedMs }) => endedMs));
  const sum = ends.reduce((total, { createdMs, endedMs }) => total + endedMs - createdMs, 0);
  return { moves: records.length, tookMs, movingMs: last - first, moveMs: sum / Math.max(1, records.length) };
}
