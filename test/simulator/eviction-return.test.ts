import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import { annotations, evictionId } from '../../contracts/ids.ts';
import { messages, unseenChange } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject, mergeStatus } from '../../lab/kubernetes-objects.ts';
import { findService } from '../../lab/openstack/hosts.ts';
import { createInstances } from '../../lab/openstack/seed.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { liftStops, setStop } from '../../runtime/stop.ts';
import { until } from '../flows/until.ts';
import { hosts } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';
const minuteMs = 60_000;
const systemNamespace = 'drover-system';
const { signal } = new AbortController();
const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: host });

async function rollingUpdate() {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: {},
    bridge: true,
  });
  const { simulation, kubernetes, openstack } = deployment;
  const { admin } = kubernetes;
  const { clock } = simulation;
  if (openstack === null) throw new Error('there is no OpenStack');

  const setNode = async (bootID: string): Promise<void> => {
    const lastTransitionTime = new Date(clock.now()).toISOString();
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: host } };
    await applyObject(admin, node);
    const ready = { type: 'Ready', status: 'True', reason: 'Test', message: 'test', lastTransitionTime };
    await mergeStatus(admin, { ...node, status: { conditions: [ready], nodeInfo: { bootID } } });
  };
  const untilReason = (reason: string): Promise<unknown> =>
    until(`the reason ${reason}`, 30 * minuteMs, async () => {
      const eviction = (await admin.request({ method: 'GET', path }, signal)) as Eviction;
      const found = findCondition(eviction.status?.conditions, 'HypervisorReEnabled');
      return found?.reason === reason || `${found?.reason}: ${found?.message}`;
    });
  const begin = async (): Promise<void> => {
    for (const name of ['monsoon3', systemNamespace])
      await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    for (const name of hosts) await openstack.fleet.change(name, {});
    await createInstances(openstack.admin, [{ name: 'guest', host, seconds: 1 }]);
    await setNode('before');
    await applyObject(admin, {
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Eviction',
      metadata: { name: host, annotations: { [annotations.cause]: 'rolling-update' } },
      spec: { hypervisor: host, reason: 'test' },
    });
    await untilReason('WaitingForNode');
  };
  return {
    simulation,
    admin,
    setNode,
    untilReason,
    annotate: (given: Record<string, string>) =>
      openObjects(admin).patch(resources.Eviction, { name: host }, { metadata: { annotations: given } }, signal),
    service: () => findService(openstack.admin, host),
    /** Of an eviction that waits for its Node. */
    run: async (story: () => Promise<void>): Promise<void> => {
      await simulation.run(
        withClock(clock, async () => {
          await begin();
          await story();
        }),
        120 * minuteMs,
      );
      deployment.close();
    },
  };
}

test('kube-apiserver is away while a Node is awaited, and the Eviction was to be read: the host is enabled again', async () => {
  const { simulation, setNode, untilReason, service, run } = await rollingUpdate();
  const { clock, network, client } = simulation;
  await run(async () => {
    expect(await client.workflow.getHandle(evictionId(host)).executeUpdate(messages.retryNow, { args: [{}] })).toBe(
      'What the run waits to try again, it tries now.',
    );
    network.setAway('kubernetes', true);
    await client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged, unseenChange('spec'));
    await clock.sleep(10 * minuteMs);
    await setNode('after');
    network.setAway('kubernetes', false);
    await untilReason('Succeeded');
    expect(await service()).toMatchObject({ status: 'enabled' });
  });
});

describe('a host that is to be left disabled after all', () => {
  const changes: [annotation: string, value: string][] = [
    [annotations.reEnable, 'false'],
    [annotations.mode, 'observe'],
  ];
  test.each(changes)('is awaited no more: %s is %s', async (annotation, value) => {
    const { simulation, setNode, untilReason, annotate, service, run } = await rollingUpdate();
    await run(async () => {
      await annotate({ [annotation]: value });
      await untilReason('LeftDisabled');
      await setNode('after');
      await simulation.clock.sleep(10 * minuteMs);
      expect(await service()).toMatchObject({ status: 'disabled' });
    });
  });

  test('is left so when `drover stop` is lifted', async () => {
    const { simulation, admin, setNode, untilReason, annotate, service, run } = await rollingUpdate();
    const { clock } = simulation;
    await run(async () => {
      const stop = { of: 'kind', name: 'Eviction' } as const;
      const at = new Date(clock.now()).toISOString();
      await setStop(admin, systemNamespace, { ...stop, by: 'jane', reason: 'test', at }, signal);
      await setNode('after');
      await untilReason('Stopped');
      await annotate({ [annotations.reEnable]: 'false' });
      await untilReason('LeftDisabled');
      await liftStops(admin, systemNamespace, stop, signal);
      await clock.sleep(10 * minuteMs);
      expect(await service()).toMatchObject({ status: 'disabled' });
    });
  });
});
