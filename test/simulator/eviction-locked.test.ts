import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { act, createInstances, getServer } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { until } from '../flows/until.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { simulatedCommand } from './command.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const minuteMs = 60_000;
const { signal } = new AbortController();

test.each(['admin', 'termination'])(
  'a server that is locked after the preflight is moved when a user accepts that, and not before: %s',
  async (cause) => {
    const deployment = deploy({
      bundle: await loadWorkflows(),
      seed: 1,
      parts: ['openstack'],
      settings: quickSettings,
      bridge: true,
    });
    const { simulation, kubernetes, openstack } = deployment;
    const { admin } = kubernetes;
    if (openstack === null) throw new Error('there is no OpenStack');
    const conditionOf = async (type: string) => {
      const eviction = await openObjects(admin).get(resources.Eviction, { name: host }, signal);
      return findCondition(eviction?.status?.conditions, type);
    };
    const untilReason = (reason: string): Promise<unknown> =>
      until(`the reason ${reason}`, 10 * minuteMs, async () => {
        const found = await conditionOf('Evicting');
        return found?.reason === reason || `${found?.reason}: ${found?.message}`;
      });
    const evict = async (): Promise<void> => {
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
      await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
      for (const name of hosts) await openstack.fleet.change(name, {});
      const [, later] = await createInstances(openstack.admin, [
        { name: 'a', host, seconds: 30 },
        { name: 'b', host, seconds: 30 },
      ]);
      const locked = later?.id ?? '';
      await applyObject(admin, {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name: host, annotations: { [annotations.cause]: cause, [annotations.parallelism]: '1' } },
        spec: { hypervisor: host, reason: 'test' },
      });
      await simulation.clock.sleep(10_000);
      await act(openstack.admin, locked, { lock: null });
      await untilReason('Failed');
      expect(await getServer(openstack.admin, locked)).toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
      expect(await conditionOf('PreflightChecksSucceeded')).toMatchObject({
        message: expect.stringContaining(`1 obstacle: b: it is locked: unlock it [InstanceLocked/${locked}].`),
      });
      // The run that has ended lingers.
      await simulation.clock.sleep(minuteMs);
      expect(await simulatedCommand(deployment, ['accept', host, `InstanceLocked/${locked}`])).toMatchObject({
        code: 0,
      });
      await untilReason('Succeeded');
      expect(await getServer(openstack.admin, locked)).not.toMatchObject({ 'OS-EXT-SRV-ATTR:host': host });
    };
    await simulation.run(withClock(simulation.clock, evict), 60 * minuteMs);
    deployment.close();
  },
);
