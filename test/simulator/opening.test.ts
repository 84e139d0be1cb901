import { evictionId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { applyHypervisors } from '../../lab/hypervisors.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { hosts, quickSettings } from '../flows/world-base.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy } from './deployment.ts';

const host = 'node-1';

test('a run that opens its next Eviction keeps what it is told meanwhile for that one', async () => {
  const told = Promise.withResolvers<string>();
  let openings = 0;
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: { ...quickSettings, eviction: { ...quickSettings.eviction, lingerMs: 60_000 } },
    bridge: true,
    onActivity({ activity, args: [, servingUid] }) {
      if (activity !== 'openEviction' || servingUid !== null) return 'works';
      openings += 1;
      const handle = simulation.client.workflow.getHandle(evictionId(host));
      if (openings === 2)
        handle
          .executeUpdate<string, [object]>(messages.pause, { args: [{ by: 'test' }] })
          .then(told.resolve, told.reject);
      return 'works';
    },
  });
  const { simulation, kubernetes } = deployment;
  const { admin } = kubernetes;
  const evict = async (): Promise<void> => {
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    const create = (name: string): Promise<unknown> =>
      applyObject(admin, {
        apiVersion: 'kvm.cloud.sap/v1',
        kind: 'Eviction',
        metadata: { name },
        spec: { hypervisor: host, reason: 'test' },
      });
    await create('first');
    await simulation.clock.sleep(15_000);
    await create('second');
    expect(await told.promise).toMatch(/^Paused\./);
  };
  await simulation.run(withClock(simulation.clock, evict), 600_000);
  deployment.close();
});

test('a change that is told while an Eviction is opened is read while it is served', async () => {
  let rereads = 0;
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['openstack'],
    settings: quickSettings,
    bridge: false,
    onActivity({ activity, args: [, servingUid] }) {
      if (activity !== 'openEviction') return 'works';
      if (servingUid !== null) rereads += 1;
      else void simulation.client.workflow.getHandle(evictionId(host)).signal(messages.objectChanged.name, {});
      return 'works';
    },
  });
  const { simulation, kubernetes } = deployment;
  const { admin } = kubernetes;
  const evict = async (): Promise<void> => {
    await applyObject(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'monsoon3' } });
    await applyHypervisors(admin, Object.fromEntries(hosts.map((name) => [name, {}])));
    const spec = { hypervisor: host, reason: 'test' };
    await applyObject(admin, { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', metadata: { name: 'first' }, spec });
    await simulation.client.workflow.start(workflowTypes.evictHypervisor, {
      workflowId: evictionId(host),
      taskQueue: workflowQueue,
      args: [{ hypervisor: host }],
    });
    await simulation.clock.sleep(20_000);
    expect(rereads).toBe(1);
  };
  await simulation.run(withClock(simulation.clock, evict), 600_000);
  deployment.close();
});
